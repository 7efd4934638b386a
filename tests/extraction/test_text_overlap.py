from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.extraction.text_overlap import compute_chrf, compute_edit_ratio, compute_rouge_l
from tests.extraction.strategies import hostile_text

MEASURES = [compute_rouge_l, compute_chrf, compute_edit_ratio]
IDS = [measure.__name__ for measure in MEASURES]


def test_rouge_l_counts_words_in_common_in_order():
    assert compute_rouge_l("police kill the gunman", "police killed the gunman") == 0.75
    assert compute_rouge_l("the gunman kill police", "police killed the gunman") == 0.5


def test_chrf_weighs_recall_twice():
    # Precision and recall by n: 4/4 and 4/5, 3/3 and 3/4, 2/2 and 2/3, 1/1 and 1/2.
    recall = (4 / 5 + 3 / 4 + 2 / 3 + 1 / 2) / 4
    assert compute_chrf("abcd", "abcde") == pytest.approx(5 * recall / (4 + recall))


def test_edit_ratio_counts_edits_of_the_longer_text():
    assert compute_edit_ratio("kitten", "sitting") == pytest.approx(4 / 7)


@pytest.mark.parametrize("measure", MEASURES, ids=IDS)
def test_equal_texts_are_fully_similar_and_empty_ones_not_at_all(measure):
    assert measure("same text", "same text") == 1.0
    assert measure("", "text") == measure("text", "") == 0.0


@pytest.mark.slow(reason="a long search")
@pytest.mark.parametrize("measure", MEASURES, ids=IDS)
@given(one=hostile_text, other=hostile_text)
def test_similarity_is_within_bounds(measure, one, other):
    assert 0.0 <= measure(one, other) <= 1.0
    assert measure(one, one) == 1.0


@given(st.text(), st.text())
def test_rouge_l_and_edit_ratio_do_not_depend_on_the_side(one, other):
    assert compute_rouge_l(one, other) == compute_rouge_l(other, one)
    assert compute_edit_ratio(one, other) == compute_edit_ratio(other, one)
