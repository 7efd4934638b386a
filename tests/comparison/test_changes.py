from __future__ import annotations

from typing import Any

import pytest

from poor_bench.comparison.compared_tests import Mismatch, find_mismatches
from tests.comparison.builders import scored


def changes(after: dict[str, Any], *, same_llm: bool = True) -> list[str]:
    found = find_mismatches([scored()], [scored(**after)], same_llm=same_llm)
    return [mismatch.value for mismatch in found.mismatches]


def test_identical_facts_are_no_change() -> None:
    found = find_mismatches([scored()], [scored(score=0.0)], same_llm=True)
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
    found = find_mismatches(
        [scored(run_id="old")],
        [scored(**after)],
        same_llm=True,
        llm_fingerprint_of=lambda result: result.run_id,
    )
    assert found.mismatches == (Mismatch.PROMPT_CHANGED, Mismatch.PARAMETERS_CHANGED)


def test_between_two_llms_only_prompt_and_evaluator_count() -> None:
    other_model = {"llm_id": "b", "request_fingerprint": "x", "model_digest": "y"}
    assert changes(other_model, same_llm=False) == []
    assert changes(other_model | {"prompt": "other"}, same_llm=False) == ["prompt"]


@pytest.mark.parametrize("missing", ["request_fingerprint", "evaluator_fingerprint"])
def test_older_results_are_not_verified(missing: str) -> None:
    found = find_mismatches([scored(**{missing: ""})], [scored()], same_llm=True)
    assert found.mismatches == ()
    assert not found.is_verified


def test_unknown_digest_is_no_move() -> None:
    assert changes({"model_digest": None}) == []
