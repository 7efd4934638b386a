from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.extraction.answer_number import extract_number
from poor_bench.extraction.found import Found
from tests.extraction.strategies import hostile_text

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
    "announced afterwards": (
        "7 + 8 = 15, which is the answer.\n\nIt took 2 steps.",
        "15",
        Found.ANNOUNCED,
    ),
    "announced a line later": (
        "birds = 40\n\nThis is the final answer to problem 7.",
        "40",
        Found.ANNOUNCED,
    ),
    "equation at the end": ("Hence\n5 * 3 = 15", "15", Found.STATED),
    "equation in a sentence": ("7 + 8 = 15, as 7 is 10 - 3.", "15", Found.STATED),
    "equation with a unit": ("So, 45 - 9 = 36 mugs are left.", "36", Found.STATED),
    "equals": ("100 divided by 4 equals 25.", "25", Found.STATED),
    "is": ("One is 2.\nThe average speed is now about 80 km/h for 3 hours.", "80", Found.STATED),
    "costs": ("It falls by 20. The coat now costs **60** euros.", "60", Found.STATED),
    "total": ("That is 2 + 2.\n**Total:** 4 eggs", "4", Found.STATED),
    "so": ("She has 3, then 5 more, so 8 apples.", "8", Found.STATED),
    "first line": ("42\n\nThe number of steps is 3.", "42", Found.STATED),
    "last number": ("Take 3, then 5 more, making 8 apples.", "8", Found.IN_PROSE),
    "term at the end": ("Both need 7 hours, which is 6 +", "6", Found.IN_PROSE),
    "share": ("What is left is 3 of 4", "4", Found.IN_PROSE),
    "bullets": ("- 5 apples", "5", Found.IN_PROSE),
    "list of numbers": ("1,2,3", "3", Found.IN_PROSE),
    "pair": ("at (3,5)", "5", Found.IN_PROSE),
    "unit": ("18cm", "18", Found.IN_PROSE),
    "unit with a power": ("\\boxed{42 \\, \\text{cm}^2}", "42", Found.BOXED),
    "boxed equation": (r"\boxed{x = 5}", "5", Found.BOXED),
    "code block": ("```\n18\n```", "18", Found.FENCED),
    "denied announcement": ("The answer is not 5, it is 6.", "6", Found.ANNOUNCED),
    "denied sentence": ("The answer is not 5. It is 6.", "6", Found.STATED),
    "denied afterwards": ("6, not 5", "6", Found.IN_PROSE),
    "corrected": ("The answer is 5. Wait, that's wrong. It should be 6.", "6", Found.STATED),
    "corrected at once": ("Answer: 5? No, 6.", "6", Found.STATED),
    "limit": ("She buys not more than 5", "5", Found.IN_PROSE),
    "equation turned around": ("18 = 9*2", "18", Found.IN_PROSE),
    "same value twice": ("The answer is 1/2 or 0.5.", "0.5", Found.ANNOUNCED),
    "two units": ("That takes 2 hours or 120 minutes", "120", Found.IN_PROSE),
    "worded minus": ("The answer is minus 7.", "-7", Found.ANNOUNCED),
    "difference in words": ("That is 10 minus 3, so 7", "7", Found.STATED),
    "comma at the end of a sentence": ("Die Antwort ist 3,5.", "3.5", Found.ANNOUNCED),
    "no space before": ("\N{CJK UNIFIED IDEOGRAPH-662F}42", "42", Found.IN_PROSE),
    "million": ("The answer is $2.5 million.", "2500000", Found.ANNOUNCED),
    "emphasis": ("So:\n\n**42**", "42", Found.IN_PROSE),
}


@pytest.mark.parametrize(("text", "value", "found"), ANSWERS.values(), ids=ANSWERS)
def test_which_number_is_the_answer(text, value, found):
    extracted = extract_number(text)
    assert extracted is not None
    assert (extracted.value.value, extracted.found) == (Decimal(value), found)


@pytest.mark.parametrize("text", ["5 is the wrong answer, not 6", "The answer takes 6 steps"])
def test_what_announces_nothing(text):
    assert extract_number(text).found is Found.IN_PROSE


@pytest.mark.parametrize(
    "text",
    ["5 or 6", "The answer is 5 or 6.", "The answer is between 5 and 6.", "The answer is 5 to 6",
     "5-10", "5\N{EN DASH}10", "3 + 4", "2^10", "15 - 8", "sqrt(16)", "\N{SQUARE ROOT}16",
     "x = \N{PLUS-MINUS SIGN}5", "x=5 or x=-5", "2026-11-22", "at 12:30", "a ratio of 3:1",
     r"\boxed{x^2}", r"\boxed{2x+3}", r"\boxed{10\sqrt{2}}", r"5, so \boxed{(3, 4)}"],
)  # fmt: skip
def test_parts_of_something_else_are_no_answer(text):
    assert extract_number(text) is None


@given(st.integers())
def test_announced_integer_with_separators_is_read_back(value):
    assert extract_number(f"The answer is {value:,}.").value.value == value


@given(st.integers(), st.sampled_from(["= {:,}", "is {}", "equals ${:,}", "costs {} euros today"]))
def test_concluded_integer_is_read_back_whatever_stood_before(value, form):
    text = f"First 12 of 13 were 5.\nIn the end, all of it {form.format(value)}."
    extracted = extract_number(text)
    assert (extracted.value.value, extracted.found) == (value, Found.STATED)


@given(hostile_text)
def test_any_text_is_survived(text):
    extracted = extract_number(text)
    assert extracted is None or extracted.value.value.is_finite()
