from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.extraction.choice import extract_choice
from poor_bench.extraction.found import Found
from tests.extraction.strategies import hostile_text

LABELS = ["A", "B", "C", "D"]
TEXTS = ["Paris", "Rome", "the city of Rome", "Berlin"]

CHOSEN = {
    "letter": ("B", "B", Found.BARE),
    "lower case": ("b", "B", Found.BARE),
    "brackets": (" (B) ", "B", Found.BARE),
    "bold": ("**B.**", "B", Found.BARE),
    "fenced": ("```\nB\n```", "B", Found.FENCED),
    "boxed": (r"So $\boxed{\text{B}}$", "B", Found.BOXED),
    "boxed with brackets": (r"\boxed{(C)}", "C", Found.BOXED),
    "answer is": ("I think the answer is (C), since A is too big.", "C", Found.ANNOUNCED),
    "answer colon": ("A is wrong.\n**Answer:** D", "D", Found.ANNOUNCED),
    "answer colon bold": ("Answer: **B) Rome**", "B", Found.ANNOUNCED),
    "answer with option": ("The correct answer is option B.", "B", Found.ANNOUNCED),
    "latex answer": (r"The answer is $\mathbf{B}$", "B", Found.ANNOUNCED),
    "last announcement": ("The answer is A. Wait: the answer is B.", "B", Found.ANNOUNCED),
    "not before the right one": ("The answer is not A. The answer is D.", "D", Found.ANNOUNCED),
    "choose": ("Having weighed A and C, I choose C.", "C", Found.ANNOUNCED),
    "it is": ("It is B, not A.", "B", Found.ANNOUNCED),
    "it's": ("I think it's B because A is wrong.", "B", Found.ANNOUNCED),
    "so with a colon": ("A is false. B is false. Therefore: C", "C", Found.ANNOUNCED),
    "so": ("A is wrong, C is wrong, so B", "B", Found.ANNOUNCED),
    "go for": ("Between A and B I'd go for (B).", "B", Found.ANNOUNCED),
    "praise": ("Option B is wrong, while C is correct.", "C", Found.ANNOUNCED),
    "the letter A": ("The answer is A because it fits.", "A", Found.ANNOUNCED),
    "json": ('{"answer": "B"}', "B", Found.ANNOUNCED),
    "json with reasons": ('{"why": "not A", "answer": "(b)"}', "B", Found.ANNOUNCED),
    "beginning": ("B) Rome", "B", Found.IN_PROSE),
    "beginning of many lines": ("B. Rome\n\nIt has been the capital since 1871.", "B",
                                Found.IN_PROSE),
    "only mention": ("Clearly (D).", "D", Found.IN_PROSE),
    "only plain mention": ("That leaves D for us", "D", Found.IN_PROSE),
    "lower case announced": ("Answer: b", "B", Found.ANNOUNCED),
    "lower case in brackets": ("The answer is (b), since a is too big.", "B", Found.ANNOUNCED),
    "lower case of an option": ("option b", "B", Found.IN_PROSE),
    "option with a reason": ("Option B because C is larger", "B", Found.IN_PROSE),
    "beginning with a reason": ("B - because A is too small", "B", Found.IN_PROSE),
    "true": ("Hence A is false and B is true", "B", Found.ANNOUNCED),
    "denied before": ("Not A, but B", "B", Found.IN_PROSE),
    "denied afterwards": ("I'd say B rather than A", "B", Found.IN_PROSE),
    "denied announcement": ("The answer is B. I would not choose C.", "B", Found.ANNOUNCED),
    "denied text": ("It is not Paris, it is Berlin", "D", Found.IN_PROSE),
    "text": ("It is Paris.", "A", Found.IN_PROSE),
    "wider text": ("It is the city of Rome!", "C", Found.IN_PROSE),
}  # fmt: skip


@pytest.mark.parametrize(("text", "label", "found"), CHOSEN.values(), ids=CHOSEN)
def test_choice_is_found_and_said_how(text, label, found):
    extracted = extract_choice(text, LABELS, TEXTS)
    assert extracted is not None
    assert (extracted.value, extracted.found) == (label, found)


@pytest.mark.parametrize(
    "text",
    ["", "I do not know.", "A) Paris\nB) Rome\nC) the city of Rome\nD) Berlin", "Either A or B.",
     "A dog is an animal.", "The answer is a mystery.", "The answer is E.", "Paris or Berlin",
     "I'd say it depends.", "B was said first, so A is wrong.",
     "So what of B, or of C?", "I cannot choose between A and C."],
)  # fmt: skip
def test_nothing_is_guessed(text):
    assert extract_choice(text, LABELS, TEXTS) is None


def test_labels_may_be_numbers():
    assert extract_choice("The answer is 3.", ["1", "2", "3"]).value == "3"
    assert extract_choice("The answer is 13.", ["1", "2", "3"]) is None
    assert extract_choice("2.5", ["1", "2", "3"]) is None
    assert extract_choice("-2", ["1", "2", "3"]) is None


@pytest.mark.parametrize(
    ("text", "label"),
    [("Yes, it is.", "yes"), ("The answer is No", "no"), ("So the claim holds: YES", "yes")],
)
def test_labels_that_are_words_count_in_any_case(text, label):
    assert extract_choice(text, ["yes", "no"]).value == label


def test_letters_that_only_patterns_take_for_a_label_do_not_count():
    assert extract_choice("Answer: \N{LATIN SMALL LETTER DOTLESS I}.", ["H", "I"]) is None


def test_a_label_named_twice_in_different_case_is_one_label():
    assert extract_choice("option b\nB) Rome\nnot C", LABELS).text == "option b"


@given(st.sampled_from(LABELS), st.sampled_from(["{}", "({})", "**{}**", "Answer: {}", "{}."]))
def test_usual_spellings_of_every_label(label, spelling):
    assert extract_choice(spelling.format(label), LABELS).value == label


@given(hostile_text, st.sampled_from([LABELS, ["1", "2"], list(string.ascii_uppercase)]))
def test_any_text_is_survived(text, labels):
    extracted = extract_choice(text, labels, TEXTS)
    assert extracted is None or extracted.value in labels
