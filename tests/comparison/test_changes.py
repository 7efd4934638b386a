from __future__ import annotations

from typing import Any

import pytest

from poor_bench.comparison.compare import compare_result_sets
from poor_bench.comparison.compared_tests import ComparedTest, Mismatch
from poor_bench.comparison.result_set import RunFacts
from poor_bench.models.result import Result
from tests.comparison.builders import scored, side


def compared(
    before: list[Result], after: list[Result], *, same_llm: bool = True, **fields: Any
) -> ComparedTest:
    sides = (side(*results, is_llm=not same_llm, **fields) for results in (before, after))
    [comparison] = compare_result_sets(*sides)
    [test] = comparison.tests
    return test


def changes(after: dict[str, Any], *, same_llm: bool = True) -> list[str]:
    found = compared([scored()], [scored(**after)], same_llm=same_llm)
    return [mismatch.value for mismatch in found.mismatches]


def test_identical_facts_are_no_change() -> None:
    found = compared([scored()], [scored(score=0.0)])
    assert found.mismatches == ()
    assert found.is_verified


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ({"prompt": "other", "request_fingerprint": "x"}, ["prompt"]),
        ({"system_prompt": "be brief", "request_fingerprint": "x"}, ["prompt"]),
        ({"request_fingerprint": "x"}, ["parameters"]),
        ({"evaluator_fingerprint": "x"}, ["evaluator"]),
        ({"model_digest": "x"}, ["model"]),
        ({"request_fingerprint": "x", "evaluator_fingerprint": "y"}, ["parameters", "evaluator"]),
    ],
)
def test_each_change_is_named(after: dict[str, Any], expected: list[str]) -> None:
    assert changes(after) == expected


def test_changed_parameters_are_seen_behind_a_changed_prompt_where_the_runs_tell() -> None:
    after = {"prompt": "other", "request_fingerprint": "x", "run_id": "new"}
    assert changes(after) == ["prompt"]
    runs = {run_id: RunFacts(llm_fingerprints={"a": run_id}) for run_id in ("old", "new")}
    found = compared([scored(run_id="old")], [scored(**after)], runs=runs)
    assert found.mismatches == (Mismatch.PROMPT_CHANGED, Mismatch.PARAMETERS_CHANGED)


def test_between_two_llms_only_prompt_and_evaluator_count() -> None:
    other_model = {"llm_id": "b", "request_fingerprint": "x", "model_digest": "y"}
    assert changes(other_model, same_llm=False) == []
    assert changes(other_model | {"prompt": "other"}, same_llm=False) == ["prompt"]


@pytest.mark.parametrize("missing", ["request_fingerprint", "evaluator_fingerprint"])
def test_older_results_are_not_verified(missing: str) -> None:
    found = compared([scored(**{missing: ""})], [scored()])
    assert found.mismatches == ()
    assert not found.is_verified


def test_unknown_digest_is_no_move() -> None:
    assert changes({"model_digest": None}) == []


def test_trials_are_compared_as_a_set_of_what_they_record() -> None:
    prompts = [scored(trial=n, prompt=text, llm_id="a") for n, text in enumerate("xyx", 1)]
    others = [scored(trial=n, prompt=text, llm_id="b") for n, text in enumerate("yx", 1)]
    assert compared(prompts, others, same_llm=False).mismatches == ()
    unknown = [*others, scored(trial=3, prompt="", llm_id="b")]
    found = compared(prompts, unknown, same_llm=False)
    assert (found.mismatches, found.is_verified) == ((), False)
    fewer = compared(prompts, others[:1], same_llm=False)
    assert fewer.mismatches == (Mismatch.PROMPT_CHANGED,)


def test_of_several_tests_each_has_its_own_changes() -> None:
    before = [scored(name, prompt=name) for name in "abc"]
    after = [scored(name, prompt=text, llm_id="x") for name, text in zip("abc", "axc", strict=True)]
    [found] = compare_result_sets(side(*before, is_llm=True), side(*after, is_llm=True))
    assert [bool(test.mismatches) for test in found.tests] == [False, True, False]
