from __future__ import annotations

from typing import Any

import pytest

from poor_bench.scoring.verdict import MAX_DETAILS, Verdict, check_verdict


@pytest.mark.parametrize("score", [0, 1, 0.5, 0.0, 1.0])
def test_plain_pair_becomes_a_verdict(score: float) -> None:
    verdict = check_verdict((score, "why"))
    assert (verdict.score, verdict.details, verdict.strict_score) == (score, "why", None)


def test_verdict_keeps_what_else_it_says() -> None:
    verdict = Verdict(1.0, "right", strict_score=0.0, found="fenced", extracted="4")
    assert vars(check_verdict(verdict)) == vars(verdict)
    score, details = verdict
    assert (score, details, verdict.found, verdict.extracted) == (1.0, "right", "fenced", "4")


@pytest.mark.parametrize(
    "returned",
    [
        None,
        1.0,
        (1.0,),
        (1.0, "a", "b"),
        [1.0, "a"],
        (True, "a"),
        ("1", "a"),
        (1.1, "a"),
        (-0.1, "a"),
        (float("nan"), "a"),
        (1.0, None),
        Verdict(1.0, "a", strict_score=2.0),
    ],
    ids=repr,
)
def test_anything_else_is_refused(returned: Any) -> None:
    with pytest.raises(ValueError, match=r"score|details|pair"):
        check_verdict(returned)


def test_texts_of_an_evaluator_are_cut_and_say_so() -> None:
    long = Verdict(1.0, "\ud800" * 900_000, found="x" * 900_000, got="y" * 900_000)
    for verdict in (check_verdict(long), check_verdict((0.5, "x" * 900_000))):
        assert len(verdict.details) <= MAX_DETAILS
        assert verdict.details.endswith("[cut: 900,000 characters in all]")
        assert len(verdict.found) <= MAX_DETAILS
        assert len(verdict.got) <= MAX_DETAILS
        verdict.details.encode()
