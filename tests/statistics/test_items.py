from collections.abc import Mapping, Sequence

import numpy as np

from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.statistics.items import Item, ItemFinding, analyse_items

LLMS = "abcdefgh"


def items_of(scores: Mapping[str, Sequence[float]]) -> dict[str, Item]:
    results = [
        Result(llm_id=llm_id, test_id=test_id, score=float(score), details=f"{llm_id} says so")
        for test_id, row in scores.items()
        for llm_id, score in zip(LLMS, row, strict=False)
    ]
    return {item.test_id: item for item in analyse_items(results)}


def test_difficulty_is_a_mean_over_llms_not_trials() -> None:
    trials = [Result(llm_id="a", test_id="t", score=0.0, trial=n) for n in range(1, 5)]
    [item] = analyse_items([*trials, Result(llm_id="b", test_id="t", score=1.0)])
    assert (item.mean_score, item.pass_rate, item.n_llms) == (0.5, 0.5, 2)


def test_nobody_and_everybody_passing_are_found() -> None:
    items = items_of({"hard": [0, 0.9, 0], "easy": [1, 1, 1], "fair": [1, 0, 0]})
    assert items["hard"].findings == (ItemFinding.NOBODY_PASSES,)
    assert items["easy"].findings == (ItemFinding.EVERYBODY_PASSES,)
    assert items["fair"].findings == ()
    assert [item.test_id for item in items.values() if item.is_suspicious] == ["hard"]


def test_two_llms_are_too_few_for_a_verdict() -> None:
    assert items_of({"t": [0, 0]})["t"].findings == ()


def test_a_test_that_good_llms_fail_favours_the_weak() -> None:
    scores = {f"t{n}": [1] * (8 - n) + [0] * n for n in range(1, 8)}
    items = items_of({**scores, "odd": [0, 0, 0, 0, 1, 1, 1, 1]})
    assert items["odd"].discrimination.high < 0
    assert items["odd"].findings == (ItemFinding.FAVOURS_THE_WEAK,)
    assert items["t4"].discrimination.value > 0.6
    assert items["t4"].findings == ()


def test_discrimination_leaves_the_test_itself_out() -> None:
    scores = np.random.default_rng(1).random((6, 8))
    items = items_of({f"t{n}": row for n, row in enumerate(scores)})
    expected = np.corrcoef(scores[2], np.delete(scores, 2, axis=0).mean(axis=0))[0, 1]
    assert np.isclose(items["t2"].discrimination.value, expected)


def test_failures_are_left_out() -> None:
    gone = Failure(kind=FailureKind.TIMEOUT, message="gone")
    assert analyse_items([Result(llm_id="a", test_id="t", failure=gone)]) == []


def test_class_and_level_come_from_the_tests() -> None:
    test = Test(test_id="t", class_id="maths", level=3, text="1+1")
    results = [Result(llm_id="a", test_id=name, score=1.0) for name in ("t", "old")]
    known, unknown = analyse_items(results, {"t": test})
    assert (known.class_id, known.level) == ("maths", 3)
    assert (unknown.class_id, unknown.level) == ("", 0)


def test_common_way_of_failing_is_found() -> None:
    results = [Result(llm_id=x, test_id="t", score=0.0, got="42") for x in "abc"]
    [item] = analyse_items([*results, Result(llm_id="d", test_id="t", score=1.0, got="41")])
    assert item.findings == (ItemFinding.ALL_FAIL_ALIKE,)
    assert item.alike.text == "42"
    assert item.suspicion == "all fail alike; 3 of 3 that fail share the answer '42'"


def test_one_model_asked_in_many_ways_is_no_witness_against_a_test() -> None:
    same = [
        Result(llm_id=x, test_id="t", score=0.0, got="42", model_digest="sha256:1") for x in "abcd"
    ]
    [item] = analyse_items(same)
    assert (item.n_llms, item.n_models, item.findings) == (4, 1, ())
    [item] = analyse_items([*same, *(Result(llm_id=x, test_id="t", score=0.0) for x in "xy")])
    assert item.findings == (ItemFinding.NOBODY_PASSES,)


def test_suspicion_is_told_in_one_line_or_not_at_all() -> None:
    items = items_of({"hard": [0, 0.9, 0], "easy": [1, 1, 1]})
    assert items["hard"].suspicion == "nobody passes"
    assert items["easy"].suspicion == ""


def test_pass_mark_decides_what_passes() -> None:
    results = [Result(llm_id=x, test_id="t", score=0.8) for x in "abc"]
    [item] = analyse_items(results, pass_score=0.8)
    assert item.findings == (ItemFinding.EVERYBODY_PASSES,)
