from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.extraction.found import Found
from poor_bench.extraction.number import (
    extract_number,
    last_boxed,
    number_from_json,
    parse_number,
    round_number,
    sole_number,
)
from tests.extraction.strategies import hostile_text

NOTATIONS = {
    "18": "18", "18.0": "18.0", "-5": "-5", "+7": "7", ".5": "0.5", "0.5.": "0.5",
    "$1,234.50": "1234.50", "-$5": "-5", "$-5": "-5", "€ 3": "3", "**18**": "18", "`18`": "18",
    "1'234.5": "1234.5", "1_000": "1000", "1\u202f234": "1234", "1{,}234": "1234",
    "1.234.567": "1234567", "1.234,56": "1234.56", "12,5": "12.5", "1,234": "1234",
    "\N{MINUS SIGN}5": "-5",
    "45%": "45", "45 percent": "45", "1e5": "100000", "1.2E-3": "0.0012",
    "3 \N{MULTIPLICATION SIGN} 10^8": "300000000",
    r"3 \times 10^{8}": "300000000", "5 x 10^-3": "0.005",
    "10^6": "1000000", "10²": "100", "1/2": "0.5", "3 / 4": "0.75", "2 1/2": "2.5", "½": "0.5",
    "2½": "2.5", r"\frac{1}{2}": "0.5", r"\frac12": "0.5", r"-\dfrac{1}{4}": "-0.25",
    r"2\frac{1}{2}": "2.5", "$18$": "18", r"\$18": "18", r"18\%": "18", r"\(18\)": "18",
}  # fmt: skip


@pytest.mark.parametrize(("text", "value"), NOTATIONS.items(), ids=NOTATIONS)
def test_notations_of_a_bare_number(text, value):
    extracted = extract_number(text)
    assert extracted is not None
    assert (extracted.value.value, extracted.found) == (Decimal(value), Found.BARE)


@pytest.mark.parametrize(
    "text",
    ["", "none", "NaN", "Infinity", "true", "v1.2.3", "A5", "1/0", "9" * 500, "1e999", "the 3rd",
     "7²"],
)  # fmt: skip
def test_what_is_no_number(text):
    assert extract_number(text) is None


ANSWERS = {
    "fenced": ("Here:\n```\n18\n```\nThat was 3 steps.", "18", Found.FENCED),
    "boxed": (r"So $x = 3$, hence \boxed{\text{18 cm}} after 2 steps.", "18", Found.BOXED),
    "last box": (r"\boxed{1} no, \boxed{2}", "2", Found.BOXED),
    "the answer is": ("The answer is 18, since 3 * 6 is that.", "18", Found.ANNOUNCED),
    "answer colon": ("**Answer:** $1,080 for 3", "1080", Found.ANNOUNCED),
    "heading": ("## Answer\n\n18 eggs of 20", "18", Found.ANNOUNCED),
    "answer to a question": ("The answer to 3 + 4 is 7.", "7", Found.ANNOUNCED),
    "announced equation": ("The answer is 5 + 3 = 8.", "8", Found.ANNOUNCED),
    "last announcement": ("The answer is 7. Wait: the answer is 8", "8", Found.ANNOUNCED),
    "hashes": ("5 * 14 = 70\n#### 1,072", "1072", Found.ANNOUNCED),
    "equation at the end": ("Hence\n5 * 3 = 15", "15", Found.ANNOUNCED),
    "first line": ("42\n\nThat is 6 * 7, or 6 added 7 times.", "42", Found.IN_PROSE),
    "last number": ("She has 3, then 5 more, so 8 apples.", "8", Found.IN_PROSE),
    "range": ("5-3", "3", Found.IN_PROSE),
    "bullets": ("- 5 apples", "5", Found.IN_PROSE),
    "list of numbers": ("1,2,3", "3", Found.IN_PROSE),
    "pair": ("at (3,5)", "5", Found.IN_PROSE),
    "unit": ("18cm", "18", Found.IN_PROSE),
}


@pytest.mark.parametrize(("text", "value", "found"), ANSWERS.values(), ids=ANSWERS)
def test_which_number_is_the_answer(text, value, found):
    extracted = extract_number(text)
    assert extracted is not None
    assert (extracted.value.value, extracted.found) == (Decimal(value), found)


def test_percent_has_two_readings():
    assert parse_number("45%").readings == (Decimal(45), Decimal("0.45"))
    assert parse_number("45").readings == (Decimal(45),)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(18, "18"), (1.1, "1.1"), (Decimal("0.1"), "0.1"), ("18", "18"), ("18 apples", "18")],
)
def test_json_values_that_are_numbers(value, expected):
    assert number_from_json(value).value == Decimal(expected)


@pytest.mark.parametrize(
    "value",
    [True, False, None, [18], {"a": 18}, float("nan"), float("inf"), "NaN", "3 or 4", 10**500,
     Decimal("1e500"), Decimal("NaN"), "x" * 10_000],
    ids=repr,
)  # fmt: skip
def test_json_values_that_are_no_numbers(value):
    assert number_from_json(value) is None


def test_only_number_of_a_text():
    assert sole_number("about 30 km/h").value == 30
    assert sole_number("3 of 4") is None


@pytest.mark.parametrize(("value", "places", "rounded"), [
    ("2.345", 2, "2.35"), ("-2.345", 2, "-2.35"), ("2.5", 0, "3"), ("1e300", 2, "1e300"),
])  # fmt: skip
def test_halves_are_rounded_away_from_zero(value, places, rounded):
    assert round_number(Decimal(value), places) == Decimal(rounded)


def test_box_may_hold_braces_and_must_be_closed():
    assert last_boxed(r"\boxed{\frac{1}{2}}") == r"\frac{1}{2}"
    assert last_boxed(r"\boxed{1") is None


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4))
def test_every_plain_decimal_is_read_back(value):
    assert parse_number(f"{value:f}").value == value


@given(st.integers())
def test_every_integer_with_separators_is_read_back(value):
    assert extract_number(f"The answer is {value:,}.").value.value == value


@given(hostile_text)
def test_any_text_is_survived(text):
    extracted = extract_number(text)
    assert extracted is None or extracted.value.value.is_finite()
