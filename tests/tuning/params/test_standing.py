from __future__ import annotations

from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.tuning.sweep_ranking import rank_variants, state_verdict

BASE = "base"


def results(llm_id: str, scores: list[float], ms: float = 100.0) -> list[Result]:
    return [
        Result(llm_id=llm_id, test_id=str(number), score=score, execution_time_ms=ms)
        for number, score in enumerate(scores)
    ]


def table(n_tests: int, **rows: tuple[list[float], float]) -> list:
    own = {name: results(name, scores, ms) for name, (scores, ms) in rows.items()}
    return rank_variants(own, BASE, n_tests)


def test_a_clear_gain_is_better() -> None:
    rows = table(20, base=([0.0] * 20, 100), new=([1.0] * 20, 100))
    assert [row.variant_id for row in rows] == ["new", "base"]
    assert rows[0].is_better
    assert state_verdict(rows, BASE) == (
        "new is significantly better than the current parameters: "
        "+1.000 (+0.698 to +1.000) on 20 tests."
    )


def test_a_gain_that_may_be_chance_is_not_called_better() -> None:
    rows = table(10, base=([0.0] * 10, 100), new=([1.0] + [0.0] * 9, 100))
    assert not rows[0].is_better
    assert "not significant after correction for 1 variant" in state_verdict(rows, BASE)


def test_many_variants_make_it_harder_to_claim_a_gain() -> None:
    gain = [1.0] * 6 + [0.0] * 14
    alone = table(20, base=([0.0] * 20, 100), new=(gain, 100))
    chance = [1.0, -0.0] + [0.0] * 18
    others = {f"other{number}": (chance, 100.0) for number in range(5)}
    among = table(20, base=([0.0] * 20, 100), new=(gain, 100), **others)
    assert alone[0].is_better
    assert not among[0].is_better


def test_a_gain_in_one_group_is_not_called_better() -> None:
    gains = {"new": results("new", [1.0] * 8 + [0.0] * 12), BASE: results(BASE, [0.0] * 20)}
    tests = {
        str(number): Test(
            test_id=str(number), class_id="c", level=1, texts=("a",), group=f"g{number // 8}"
        )
        for number in range(20)
    }
    alone, grouped = rank_variants(gains, BASE, 20), rank_variants(gains, BASE, 20, tests)
    assert alone[0].is_better
    assert not grouped[0].is_better


def test_failures_are_no_zeros() -> None:
    failed = Result(
        llm_id="new", test_id="3", failure=Failure(kind=FailureKind.TIMEOUT, message="late")
    )
    own = {BASE: results(BASE, [1.0] * 4), "new": [*results("new", [1.0] * 3), failed]}
    row = {row.variant_id: row for row in rank_variants(own, BASE, 4)}["new"]
    assert row.score is not None
    assert row.score.value == 1.0
    assert row.n_failed == 1
    assert not row.is_complete


def test_the_frontier_is_what_nobody_beats_in_both() -> None:
    rows = table(
        2,
        base=([0.5, 0.5], 100),
        slow=([1.0, 1.0], 300),
        fast=([0.0, 0.5], 50),
        bad=([0.0, 0.5], 400),
    )
    assert {row.variant_id for row in rows if row.is_on_frontier} == {"base", "slow", "fast"}


def test_nothing_better_is_said_so() -> None:
    rows = table(4, base=([1.0] * 4, 100), new=([0.0] * 4, 100))
    expected = "No variant that completed all tests scores higher than the current parameters."
    assert state_verdict(rows, BASE) == expected


def test_unfinished_sweeps_have_no_verdict() -> None:
    rows = table(9, base=([1.0] * 4, 100), new=([0.0] * 4, 100))
    assert state_verdict(rows, BASE).startswith("Too few tests were run")


def test_a_variant_without_results_stands_last() -> None:
    rows = rank_variants({"none": [], BASE: results(BASE, [0.0])}, BASE, 1)
    assert [row.variant_id for row in rows] == [BASE, "none"]
    assert rows[1].score is None
