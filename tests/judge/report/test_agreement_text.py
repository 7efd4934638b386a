from __future__ import annotations

import random

import pytest

from poor_bench.judge.agreement import FEW_ITEMS, ScoredItem, measure_agreement
from poor_bench.judge.report_text import trust_text, write_agreement_figures


def told(n_items: int, off_by: float) -> str:
    """Return what is said of a judge whose every other score is too high by so much."""
    items = [
        ScoredItem(judge=number % 8 + number % 2 * off_by, humans={"Ann": number % 8}, length=100)
        for number in range(n_items)
    ]
    return trust_text(measure_agreement(items, pass_rating=8.0))


@pytest.mark.parametrize(
    ("off_by", "words"),
    [
        (0.0, "can be relied upon"),
        (3.5, "cannot be told yet"),
        (9.0, "cannot be relied upon"),
    ],
)
def test_a_judge_is_worth_what_its_agreement_says(off_by: float, words: str) -> None:
    assert told(4 * FEW_ITEMS, off_by).startswith(f"{words} (held against single scores")


@pytest.mark.parametrize("off_by", [0.0, 9.0])
def test_few_labels_give_no_verdict(off_by: float) -> None:
    assert told(8, off_by) == "cannot be told yet (only 8 labelled)"


def test_people_who_disagree_are_named_beside_the_verdict() -> None:
    rng = random.Random(1)
    items = []
    for _ in range(400):
        quality = rng.gauss(5, 1.5)
        seen = [quality + rng.gauss(0, 1.5) for _ in range(4)]
        humans = dict(zip("ABC", seen[1:], strict=True))
        items.append(ScoredItem(judge=seen[0], humans=humans, length=100))
    agreement = measure_agreement(items, pass_rating=8.0)
    said = trust_text(agreement)
    assert said.startswith("can be relied upon as much as a person; people agree little")
    assert write_agreement_figures(agreement)["May replace"] == "3 of 3 people"
