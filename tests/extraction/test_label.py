from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.extraction.label import find_sole_label, is_labelled
from tests.extraction.strategies import hostile_text

LABELS = frozenset({"positive", "negative", "neutral"})

SOLE = {
    "This text is positive.": "positive",
    "**Neutral!**": "neutral",
    "The text is positive, and it is not bad.": "positive",
    "positive, positive": "positive",
    "The text is positive, with a neutral tone.": "",
    "It is not at all positive": "",
    "It isn\N{RIGHT SINGLE QUOTATION MARK}t positive": "",
    "I don't think that is neutral": "",
    "positive, not negative": "positive",
    "It's not negative but positive": "positive",
    "positive, as there is nothing negative": "positive",
    "hardly positive": "",
    "positively": "",
    "": "",
}


@pytest.mark.parametrize(("text", "label"), SOLE.items(), ids=SOLE)
def test_only_label_of_a_text(text, label):
    assert find_sole_label(text, LABELS) == label


@pytest.mark.parametrize("text", ["Text 1: positive.", "Negative - it tore.", "neutral"])
def test_labelled_text_begins_or_ends_with_the_label(text):
    assert is_labelled(text, LABELS)


@pytest.mark.parametrize("text", ["a positive text", "positive or negative", "not positive", ""])
def test_text_that_only_mentions_labels_is_not_labelled(text):
    assert not is_labelled(text, LABELS)


@given(hostile_text, st.sampled_from(sorted(LABELS)))
def test_any_text_is_survived(text, label):
    assert find_sole_label(text, LABELS) in {"", *LABELS}
    assert (
        is_labelled(f"{label} {text}", {label}) or find_sole_label(f"{label} {text}", {label}) == ""
    )
