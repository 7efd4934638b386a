"""Figures are the same whether results come from the files or from the index."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.results import index
from poor_bench.statistics.ranking import rank_llms
from poor_bench.statistics.repeats import estimate_reliability, find_usual_trials
from poor_bench.statistics.scores import build_score_table, compute_stratified_scores
from poor_bench.statistics.summarise import summarise
from poor_bench.statistics.summary import Group, GroupBy
from tests.results.builders import open_test_store

TESTS = {
    test.test_id: test
    for test in (
        Test(test_id="one", class_id="sums", level=1, text="?", group="g"),
        Test(test_id="two", class_id="sums", level=2, text="?", group="g"),
        Test(test_id="three", class_id="words", level=1, text="?"),
    )
}
MS = st.none() | st.just(0.0) | st.floats(0.01, 1e5)
COUNT = st.none() | st.integers(0, 500)
FIELDS: dict[str, Any] = {
    "llm_id": st.sampled_from(["a", "b"]),
    "test_id": st.sampled_from([*TESTS, "removed"]),
    "trial": st.sampled_from([1, 2, 7_000]),
    **dict.fromkeys(
        ("execution_time_ms", "first_token_ms", "load_ms", "queue_ms", "prefill_ms", "decode_ms"),
        MS,
    ),
    **dict.fromkeys(
        ("prompt_tokens", "completion_tokens", "thinking_tokens", "cached_tokens", "memory_bytes"),
        COUNT,
    ),
    "cost_usd": st.none() | st.floats(0, 9),
    "gpu_share": st.none() | st.floats(0, 1),
    "judgement": st.sampled_from([None, {}, {"cost_usd": 0.5}]),
    "marks": st.sampled_from([(), ("truncated",), ("truncated", "loop")]),
    "sandbox": st.sampled_from(["", "process"]),
    "response": st.sampled_from(["", "four"]),
    "thinking": st.sampled_from(["", "hm"]),
}
SCORE = st.sampled_from([0.0, 0.25, 1.0])
SCORED = st.builds(Result, score=SCORE, strict_score=st.none() | SCORE, **FIELDS)
FAILED = st.builds(
    Result, failure=st.builds(Failure, kind=st.sampled_from(FailureKind), message=st.just("")),
    **FIELDS,
)  # fmt: skip
RUNS = st.lists(st.lists(SCORED | FAILED, max_size=8), max_size=3)


def figures_of(trials: Any, by: GroupBy, pass_score: float) -> dict[Group, Any]:
    rows = summarise(trials, tests=TESTS, by=by, pass_score=pass_score)
    records = {row.group: asdict(row) for row in rows}
    return {group: flatten({**record, "group": None}) for group, record in records.items()}


def flatten(row: dict[str, Any]) -> dict[str, Any]:
    """Let `pytest.approx` see every number: it looks neither into dictionaries nor at None."""
    flat: dict[str, Any] = {}
    for name, part in row.items():
        if isinstance(part, dict):
            flat |= {f"{name}.{inner}": each for inner, each in part.items()}
        else:
            flat[name] = part
    return {name: value for name, value in flat.items() if value is not None}


@pytest.mark.slow(reason="a store for every history")
@settings(max_examples=20, deadline=None)
@given(RUNS, st.sampled_from([0.25, 1.0]))
def test_index_and_files_give_the_same_figures(
    tmp_path_factory: pytest.TempPathFactory, runs: list[list[Result]], pass_score: float
) -> None:
    folder = tmp_path_factory.mktemp("store")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index, "_PART_ROWS", 3)
        store = open_test_store(folder)
        for number, results in enumerate(runs):
            store.add(results, f"2026010{number + 1}T000000-a", {})
        table, results = store.table(), list(store.results())
    for by in GroupBy:
        expected = figures_of(results, by, pass_score)
        found = figures_of(table, by, pass_score)
        assert found.keys() == expected.keys()
        for group, row in expected.items():
            assert found[group] == pytest.approx(row, rel=1e-12)
    one, other = build_score_table(results), build_score_table(table)
    assert {*one.llm_ids} == {*other.llm_ids}
    assert np.nansum(one.scores) == pytest.approx(np.nansum(other.scores))
    assert rank_llms(results).adjusted == pytest.approx(rank_llms(table).adjusted)
    assert rank_llms(results).coverage == rank_llms(table).coverage
    assert find_usual_trials(results) == find_usual_trials(table)
    known = {row.llm_id: row for row in estimate_reliability(results, pass_score=pass_score)}
    assert {row.llm_id: row for row in estimate_reliability(table, pass_score=pass_score)} == known
    stratified = compute_stratified_scores(results, TESTS)
    assert compute_stratified_scores(table, TESTS).keys() == stratified.keys()
    shutil.rmtree(folder)
