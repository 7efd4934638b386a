from __future__ import annotations

import pytest

from poor_bench.judge.agreement import ScoredItem, measure_agreement
from poor_bench.judge.report_text import FEW_ITEMS, trust_text


def told(n_items: int, off_by: float) -> str:
    """Return what is said of a judge whose every other score is too high by so much."""
    items = [
        ScoredItem(judge=number % 8 + number % 2 * off_by, humans=(number % 8,), length=100)
        for number in range(n_items)
    ]
    return trust_text(measure_agreement(items, pass_rating=8.0))


@pytest.mark.parametrize(
    ("off_by", "words"),
    [
        (0.0, "reliable"),
        (2.5, "sufficient for tentative conclusions"),
        (9.0, "not reliable"),
    ],
)
def test_a_judge_is_worth_what_its_agreement_says(off_by: float, words: str) -> None:
    assert told(4 * FEW_ITEMS, off_by) == words


@pytest.mark.parametrize("off_by", [0.0, 2.5])
def test_no_judge_is_relied_upon_by_few_labels(off_by: float) -> None:
    assert "too few labels (only 8 labelled)" in told(8, off_by)


def test_a_judge_that_disagrees_on_few_labels_is_not_relied_upon_either() -> None:
    assert told(8, 9.0) == "not reliable (only 8 labelled)"
