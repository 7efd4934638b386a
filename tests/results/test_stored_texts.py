"""Issues of stored results: what each result shows is kept, the rest is found anew."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from poor_bench import processes
from poor_bench.errors import StoreError
from poor_bench.issues import detector
from poor_bench.issues.detect import DETECTORS, collect_trials, detect_issues, find_issues
from poor_bench.issues.detector import Detector, Issue, IssueContext, TestFacts
from poor_bench.issues.form import FormatTax, compute_format_taxes
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.plugins.detectors import load_detectors
from poor_bench.results import index, stored_texts, text_columns
from poor_bench.results.store import open_store
from poor_bench.results.stored_texts import StoredTexts
from poor_bench.scoring.verdict import AnswerFormat

FACTS = {"t0": TestFacts(class_id="c", wanted=AnswerFormat.JSON_LIST, n_items=2)}
CONTEXT = IssueContext(facts=FACTS, temperatures={"a:b": 0.0}, suspicious_tests={"t2": "why"})
OWN = '''"""Says sorry.

Every time.
"""

def detect(result):
    if result.test_id == "t3":
        raise ValueError("no")
    return result.timestamp if "sorry" in result.response else None
'''


def result(number: int, trial: int = 1, llm_id: str = "a:b") -> Result:
    said = ("", '```json\n["x"]\n```', "so sorry", "blue " * 80, "blue")[(number + trial) % 5]
    return Result(
        llm_id=llm_id, test_id=f"t{number}", trial=trial, score=0.5 * ((number + trial) % 3),
        response=said, strict_score=0.0 if trial == 2 else None, found="fenced",
        run_id="r", timestamp=f"2026-01-0{number + 1}T00:00:00+00:00", execution_time_ms=50.0,
    )  # fmt: skip


RESULTS = [result(number, trial) for trial in (1, 2) for number in range(8)]
FAILED = replace(
    result(3), score=None, strict_score=None,
    failure=Failure(kind=FailureKind.TIMEOUT, message="too slow"),
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(index, "_PART_ROWS", 4)
    monkeypatch.setenv("POOR_BENCH_RESULTS_LIMIT", "0")
    open_store(tmp_path).add(RESULTS, "20260101T000000-a", {})
    open_store(tmp_path).add([FAILED, result(9, llm_id="c:d")], "20260102T000000-b", {})
    (tmp_path / "issues").mkdir()
    (tmp_path / "issues" / "sorry.py").write_text(OWN)
    return tmp_path


def look(
    folder: Path, detectors: tuple[Detector, ...] | None = None
) -> tuple[list[Issue], list[FormatTax]]:
    """Find issues as another process would."""
    store = open_store(folder)
    known = detectors or load_detectors(folder / "issues")
    stored = StoredTexts(
        paths=store.paths, table=store.table(), read_facts=lambda: FACTS, detectors=known
    )
    looked = stored.look()
    return [*find_issues(looked, CONTEXT, known)], compute_format_taxes(looked)


def test_issues_are_those_of_the_results_whether_kept_or_not(folder: Path) -> None:
    own = load_detectors(folder / "issues")
    results = [*open_store(folder).results()]
    fresh = [*detect_issues(results, CONTEXT, detectors=own)]
    assert {"sorry", "detector_failed", "suspicious_test", "no_answer"} <= {
        issue.detector_id for issue in fresh
    }
    tax = compute_format_taxes(collect_trials(results, FACTS))
    assert [look(folder), look(folder)] == [(fresh, tax)] * 2


def test_issues_of_a_few_models_at_a_time_are_those_of_all(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = [
        result(n, trial, llm_id=llm_id) for llm_id in "xy" for n in range(4) for trial in (1, 2)
    ]
    open_store(folder).add(more, "20260103T000000-c", {})
    look(folder, DETECTORS)
    store = open_store(folder)
    looked = StoredTexts(
        paths=store.paths, table=store.table(), read_facts=lambda: FACTS, detectors=DETECTORS
    ).look()
    whole = [*find_issues(looked, CONTEXT, DETECTORS)], compute_format_taxes(looked)
    monkeypatch.setattr(detector, "_BLOCK_ENTRIES", 1)
    assert len([*looked.split()]) > 2
    parts = [*find_issues(looked, CONTEXT, DETECTORS)], compute_format_taxes(looked)
    assert parts == whole


def test_texts_are_read_once_for_issues_and_suspicious_tests(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_PART_ROWS", 1)
    store = open_store(folder)
    stored = StoredTexts(
        paths=store.paths, table=store.table(), read_facts=lambda: FACTS, detectors=DETECTORS
    )
    told: list[int] = []
    stored.follow(told.append)
    stored.look()
    fetched: list[object] = []
    texts = type(stored.table.texts)
    monkeypatch.setattr(texts, "fetch", lambda _, places, __: fetched.append(places))
    stored.find_suspicious_tests({})
    assert fetched == []
    assert told == sorted(told)


def test_a_sample_is_spread_over_results_that_were_not_looked_at(folder: Path) -> None:
    store = open_store(folder)
    table = store.table()
    stored = StoredTexts(
        paths=store.paths, table=table, read_facts=lambda: FACTS, detectors=DETECTORS
    )
    sample = stored.sample(2)
    assert sample is not None
    assert 2 <= len(sample.trials) < len(table)
    assert set(sample.trials.columns["place"]) <= set(table.columns["place"])
    assert stored.sample(len(table)) is None
    assert [*find_issues(stored.look(), CONTEXT, DETECTORS)] == look(folder, DETECTORS)[0]
    assert stored.sample(2) is None


def test_a_sample_is_also_of_very_many_results_that_were_looked_at(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look(folder, DETECTORS)
    store = open_store(folder)
    table = store.table()
    stored = StoredTexts(
        paths=store.paths, table=table, read_facts=lambda: FACTS, detectors=DETECTORS
    )
    monkeypatch.setattr(stored_texts, "_KEPT_FOR_ONE", 1)
    sample = stored.sample(2)
    assert sample is not None
    assert 2 <= len(sample.trials) < len(table)


def test_a_sample_is_read_once_more_where_code_changed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look(folder, DETECTORS)
    store = open_store(folder)
    stored = StoredTexts(
        paths=store.paths, table=store.table(), read_facts=lambda: FACTS, detectors=DETECTORS
    )
    assert stored.sample(2) is None
    monkeypatch.setattr(text_columns, "digest_code", lambda: "another")
    assert stored.sample(2) is not None


@pytest.mark.slow(reason="waits for real processes or limits")
def test_issues_found_by_other_processes_are_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [*detect_issues([*open_store(folder).results()], CONTEXT)]
    monkeypatch.setattr(text_columns, "SHARED_FROM", 1)
    monkeypatch.setattr(processes, "count_processors", lambda: 2)
    assert [look(folder, DETECTORS)[0] for _ in range(2)] == [expected] * 2


@pytest.mark.slow(reason="waits for real processes or limits")
def test_a_damaged_file_that_another_process_reads_is_told_here(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_columns, "SHARED_FROM", 1)
    open_store(folder).table()
    for path in (folder / "index").rglob("*.texts.parquet"):
        path.write_bytes(b"damaged")
    with pytest.raises(StoreError, match="index of the results is damaged"):
        look(folder, DETECTORS)


def test_an_edited_detector_of_the_workspace_looks_again(folder: Path) -> None:
    before = {issue.detector_id: issue for issue in look(folder)[0]}
    (folder / "issues" / "sorry.py").write_text(OWN.replace("sorry", "blue"))
    issues, _ = look(folder)
    after = {issue.detector_id: issue for issue in issues}
    assert before["sorry"] != after["sorry"]


def test_outcomes_are_not_read_where_few_findings_are_new(folder: Path) -> None:
    open_store(folder).add([result(number, 3) for number in range(8)], "20260103T000000-c", {})
    first = look(folder, DETECTORS)
    for path in folder.rglob("*.outcomes.columns"):
        path.write_bytes(b"damaged")
    assert look(folder, DETECTORS) == first
    assert {path.read_bytes() for path in folder.rglob("*.outcomes.columns")} == {b"damaged"}


def test_evidence_is_read_only_where_it_is_shown(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = load_detectors(folder / "issues")
    look(folder, own)
    store = open_store(folder)
    stored = StoredTexts(
        paths=store.paths, table=store.table(), read_facts=lambda: FACTS, detectors=own
    )
    issues = find_issues(stored.look(), CONTEXT, own)
    fetched: list[int] = []
    texts = type(stored.table.texts)
    fetch = texts.fetch

    def count(self: object, places: list[int], expressions: list[str]) -> object:
        fetched.append(len(places))
        return fetch(self, places, expressions)  # type: ignore[arg-type]

    monkeypatch.setattr(texts, "fetch", count)
    [n_sorry] = [len(each.lost) for each in issues.charges()[1] if each.detector_id == "sorry"]
    assert len(issues.where("sorry")) == n_sorry > 0
    assert fetched == []
    assert issues.where("sorry")[0].evidence
    assert fetched == [1]
