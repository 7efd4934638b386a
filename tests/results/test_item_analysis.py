"""The analysis of tests is kept until results, tests or code change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from poor_bench import processes
from poor_bench.models.result import Result
from poor_bench.models.test import EvaluatorSpec, Test
from poor_bench.results import stored_texts
from poor_bench.results.store import open_store
from poor_bench.results.stored_texts import read_item_analysis
from poor_bench.statistics.item_faults import Share
from poor_bench.statistics.items import ItemAnalysis, analyse_tests
from poor_bench.statistics.outcomes import Outcomes, collect_outcomes

SPEC = EvaluatorSpec("same", {})
TESTS = {
    f"t{number}": Test(
        test_id=f"t{number}", class_id="c", level=number % 3 + 1, text="", evaluator=SPEC
    )
    for number in range(12)
}


def result(llm: int, number: int) -> Result:
    is_right = (llm * 7 + number * 3) % 5 > 1 and number
    return Result(
        llm_id=f"llm{llm}",
        test_id=f"t{number}",
        score=float(bool(is_right)),
        got="yes" if is_right else f"no {llm % 2}",
        expected="yes",
        model_digest=f"sha256:{llm}" if llm % 2 else None,
    )


RESULTS = [result(llm, number) for llm in range(22) for number in range(12)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    open_store(tmp_path).add(RESULTS, "20260101T000000-a", {})
    return tmp_path


@pytest.fixture
def analysed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    counted: list[int] = []

    def count(outcomes: Outcomes, tests: dict[str, Test], share: Share) -> ItemAnalysis:
        counted.append(len(outcomes.scores))
        return analyse_tests(outcomes, tests, share)

    monkeypatch.setattr(stored_texts, "analyse_tests", count)
    return counted


def read(folder: Path, tests: dict[str, Test] = TESTS, pass_score: float = 1.0) -> ItemAnalysis:
    store = open_store(folder)
    return read_item_analysis(store.paths, store.table(), tests, pass_score=pass_score)


@pytest.mark.slow(reason="waits for real processes or limits")
def test_an_analysis_by_other_processes_is_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = analyse_tests(collect_outcomes(RESULTS), TESTS)
    monkeypatch.setattr(stored_texts, "SHARED_FROM", 1)
    monkeypatch.setattr(processes, "count_processors", lambda: 2)
    assert read(folder) == expected


def test_the_kept_analysis_is_the_one_of_the_results(folder: Path, analysed: list[int]) -> None:
    fresh = analyse_tests(collect_outcomes(RESULTS), TESTS)
    assert fresh.response is not None
    assert any(item.is_suspicious for item in fresh.items)
    assert [read(folder), read(folder)] == [fresh, fresh]
    assert len(analysed) == 1


@pytest.mark.slow(reason="analyses a store four times")
def test_another_result_test_or_pass_score_is_analysed_anew(
    folder: Path, analysed: list[int]
) -> None:
    read(folder)
    open_store(folder).add([replace(RESULTS[0], score=0.5)], "20260102T000000-b", {})
    read(folder)
    read(folder, {**TESTS, "t0": replace(TESTS["t0"], level=3)})
    read(folder, pass_score=0.5)
    assert len(analysed) == 4


def test_a_damaged_file_is_made_again(folder: Path, analysed: list[int]) -> None:
    first = read(folder)
    [path] = folder.rglob("items.json")
    path.write_bytes(path.read_bytes()[:-5])
    assert read(folder) == first
    assert len(analysed) == 2
