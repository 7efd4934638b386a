from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.extraction.answer_number import extract_number
from poor_bench.extraction.found import Found
from poor_bench.extraction.number import (
    find_sole_number,
    parse_number,
    read_json_number,
    round_number,
)

NOTATIONS = {
    "18": "18", "18.0": "18.0", "-5": "-5", "+7": "7", ".5": "0.5", "0.5.": "0.5",
    "$1,234.50": "1234.50", "-$5": "-5", "$-5": "-5", "€ 3": "3", "**18**": "18", "`18`": "18",
    "1'234.5": "1234.5", "1_000": "1000", "1\u202f234": "1234", "1{,}234": "1234",
    "1 000 000": "1000000", "12 500": "12500", "-$1 234.5": "-1234.5", "5 000 %": "5000",
    "1.234.567": "1234567", "1.234,56": "1234.56", "12,5": "12.5", "1,234": "1234",
    "\N{MINUS SIGN}5": "-5",
    "45%": "45", "45 percent": "45", "1e5": "100000", "1.2E-3": "0.0012",
    "3 \N{MULTIPLICATION SIGN} 10^8": "300000000",
    r"3 \times 10^{8}": "300000000", "5 x 10^-3": "0.005",
    "10^6": "1000000", "10²": "100", "1/2": "0.5", "3 / 4": "0.75", "2 1/2": "2.5", "½": "0.5",
    "2½": "2.5", r"\frac{1}{2}": "0.5", r"\frac12": "0.5", r"-\dfrac{1}{4}": "-0.25",
    r"2\frac{1}{2}": "2.5", r"\frac{-1}{2}": "-0.5", "minus 7": "-7", "- 7": "-7",
    "12,34,567": "1234567", "2 million": "2000000", "1.5k": "1500",
    "$18$": "18", r"\$18": "18", r"18\%": "18", r"\(18\)": "18",
}  # fmt: skip


@pytest.mark.parametrize(("text", "value"), NOTATIONS.items(), ids=NOTATIONS)
def test_notations_of_a_bare_number(text, value):
    extracted = extract_number(text)
    assert extracted is not None
    assert (extracted.value.value, extracted.found) == (Decimal(value), Found.BARE)


@pytest.mark.parametrize(
    "text",
    ["", "none", "NaN", "Infinity", "true", "v1.2.3", "A5", "1/0", "9" * 500, "1e999", "the 3rd",
     "7²", "the 21st", "12²", "12e400000"],
)  # fmt: skip
def test_what_is_no_number(text):
    assert extract_number(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("The answer is 1 000 000.", "1000000"),
        ("there are 12 007 people", "12007"),
        ("first 3 and then 500", "500"),
        ("it lists 100 200 300", "300"),
        ("it lists 100 200 30", "30"),
    ],
)
def test_spaces_between_thousands_are_told_from_those_between_numbers(text, value):
    assert extract_number(text).value.value == Decimal(value)


def test_percent_has_two_readings():
    assert parse_number("45%").readings == (Decimal(45), Decimal("0.45"))
    assert parse_number("45").readings == (Decimal(45),)


def test_millions_may_be_what_is_asked_for():
    assert parse_number("2 million").readings == (Decimal(2_000_000), Decimal(2))


@pytest.mark.parametrize(
    ("value", "expected"),
    [(18, "18"), (1.1, "1.1"), (Decimal("0.1"), "0.1"), ("18", "18"), ("18 apples", "18")],
)
def test_json_values_that_are_numbers(value, expected):
    assert read_json_number(value).value == Decimal(expected)


@pytest.mark.parametrize(
    "value",
    [True, False, None, [18], {"a": 18}, float("nan"), float("inf"), "NaN", "3 or 4", 10**500,
     Decimal("1e500"), Decimal("NaN"), "x" * 10_000],
    ids=repr,
)  # fmt: skip
def test_json_values_that_are_no_numbers(value):
    assert read_json_number(value) is None


def test_only_number_of_a_text():
    assert find_sole_number("about 30 km/h").value == 30
    assert find_sole_number("3 of 4") is None


@pytest.mark.parametrize(("value", "places", "rounded"), [
    ("2.345", 2, "2.35"), ("-2.345", 2, "-2.35"), ("2.5", 0, "3"), ("1e300", 2, "1e300"),
])  # fmt: skip
def test_halves_are_rounded_away_from_zero(value, places, rounded):
    assert round_number(Decimal(value), places) == Decimal(rounded)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4))
def test_every_plain_decimal_is_read_back(value):
    assert parse_number(f"{value:f}").value == value
