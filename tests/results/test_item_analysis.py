"""The analysis of tests is kept until results, tests or code change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from poor_bench import processes
from poor_bench.models.result import Result
from poor_bench.models.test import EvaluatorSpec, Test
from poor_bench.results import figures, index, stored_texts
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


def test_what_the_steps_of_a_large_analysis_leave_goes_back_to_the_system(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    returned: list[str] = []
    monkeypatch.setattr(figures, "return_memory", lambda: returned.append("memory"))
    for from_rows, n_returned in ((len(RESULTS) + 1, 0), (len(RESULTS), 1)):
        monkeypatch.setattr(figures, "SHARED_FROM", from_rows)
        table = open_store(folder).table()
        figures.read_outcomes(table, pass_score=1.0, on_read=lambda _: None).release()
        assert len(returned) == n_returned


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


@pytest.mark.parametrize("n_lost", [5, None], ids=["within a line", "a whole line"])
def test_a_damaged_file_is_made_again(
    folder: Path, analysed: list[int], n_lost: int | None
) -> None:
    first = read(folder)
    [path] = folder.rglob("items.json")
    content = path.read_bytes()
    path.write_bytes(content[:-n_lost] if n_lost else content[: content.rfind(b"\n", 0, -1) + 1])
    assert read(folder) == first
    assert len(analysed) == 2


@pytest.fixture
def in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All results but two have parts."""
    monkeypatch.setattr(index, "_PART_ROWS", 4)
    open_store(tmp_path).add(RESULTS[2:], "20260101T000000-a", {})
    open_store(tmp_path).add(RESULTS[:2], "20260102T000000-b", {})
    return tmp_path


def test_outcomes_of_a_kept_analysis_are_not_read(in_parts: Path) -> None:
    first = read(in_parts)
    outcomes = [*in_parts.rglob("*.outcomes.columns")]
    for path in outcomes:
        path.write_bytes(b"damaged")
    assert read(in_parts) == first
    assert {path.read_bytes() for path in outcomes} == {b"damaged"}


def test_a_change_of_one_result_without_a_part_is_analysed_anew(
    in_parts: Path, analysed: list[int]
) -> None:
    for got in ("no 3", "no 3", "no 4"):
        [journal] = in_parts.rglob("20260102T000000-b*.jsonl")
        journal.unlink()
        changed = [replace(RESULTS[0], got=got), RESULTS[1]]
        open_store(in_parts).add(changed, "20260102T000000-b", {})
        read(in_parts)
    assert len(analysed) == 2


def test_other_rows_models_and_order_are_analysed_anew(in_parts: Path, analysed: list[int]) -> None:
    store = open_store(in_parts)
    table = store.table()
    names = {**table.values, "llm_id": tuple(f"{name}:x" for name in table.values["llm_id"])}
    backwards = {name: column[::-1] for name, column in table.columns.items()}
    tables = (
        table,
        table.select(np.arange(len(table)) != 5),
        replace(table, columns=backwards),
        replace(table, values=names),
    )
    for each in tables:
        read_item_analysis(store.paths, each, TESTS)
        read_item_analysis(store.paths, each, TESTS)
    assert len(analysed) == len(tables)
