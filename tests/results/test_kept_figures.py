"""Figures that are kept beside the settled rows: the same as computed ones, and computed once."""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from poor_bench import prompts, statistics
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.results import figures, index, kept_figures, settled
from poor_bench.results.figures import without_removed
from poor_bench.results.kept_figures import (
    Figures,
    KeptFile,
    compare_models,
    find_standing_of_models,
    rank_models,
    summarise_models,
)
from poor_bench.results.paths import StorePaths
from poor_bench.results.store import ResultStore
from poor_bench.results.table import ResultTable
from poor_bench.safe_files import write_kept
from poor_bench.statistics.comparison import compare_llms, find_standing
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.ranking import rank_llms
from poor_bench.statistics.summarise import summarise
from poor_bench.statistics.summary import GroupBy

TESTS = {
    name: Test(test_id=name, class_id=f"class {number % 2}", level=1 + number % 3, text=name)
    for number, name in enumerate("abcdef")
}
LLMS = ("one", "two", "three")
FAILURE = Failure(kind=FailureKind.TIMEOUT, message="too slow", attempts=2)


@pytest.fixture(autouse=True)
def few_rows_are_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "_PART_ROWS", 2)
    monkeypatch.setattr(settled, "FEWEST_NEW_ROWS", 2)


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """List the models whose figures are computed."""
    llm_ids: list[str] = []

    def note(table: ResultTable, **how: object) -> object:
        llm_ids.extend(table.find_values("llm_id"))
        return summarise(table, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(kept_figures, "summarise", note)
    return llm_ids


def open_table(folder: Path, tests: Mapping[str, Test] = TESTS) -> ResultTable:
    """Read the results as a new process does."""
    stored = ResultStore(StorePaths(folder / "results.json"), lambda name: name).table()
    return without_removed(stored, tests, generation=1)


def add(folder: Path, results: list[Result], run_id: str) -> None:
    store = ResultStore(StorePaths(folder / "results.json"), lambda name: name)
    store.add(results, run_id, {})
    store.table()


def look(folder: Path, tests: Mapping[str, Test] = TESTS, by: GroupBy = GroupBy.LLM) -> Figures:
    table = open_table(folder, tests)
    return summarise_models(table, table.llm_ids, tests=tests, by=by)


def compute(folder: Path, tests: Mapping[str, Test] = TESTS, by: GroupBy = GroupBy.LLM) -> Figures:
    table = open_table(folder, tests)
    found: Figures = {llm_id: [] for llm_id in table.llm_ids}
    for row in summarise(table, tests=tests, by=by):
        found[row.group.llm_id].append(row)
    return found


def fill(folder: Path) -> None:
    """Store results of all kinds: repeated, failed, with and without times."""
    rows = [
        Result(
            llm_id=llm_id,
            test_id=test_id,
            score=(number + place) % 3 / 2,
            strict_score=(number + place) % 2 / 2,
            execution_time_ms=100.0 / (1 + place + number),
            completion_tokens=7 * place,
            cost_usd=0.1 / (1 + number),
            marks=("truncated",) if place else (),
        )
        for number, llm_id in enumerate(LLMS)
        for place, test_id in enumerate(TESTS)
    ]
    failed = replace(rows[0], score=None, failure=FAILURE, trial=2)
    add(folder, [*rows, failed], "20260101T000000-a")


@pytest.mark.slow(reason="reads stores in many steps")
@pytest.mark.parametrize("by", GroupBy)
def test_another_process_finds_the_same_figures_without_computing_them(
    tmp_path: Path, computed: list[str], by: GroupBy
) -> None:
    fill(tmp_path)
    first = look(tmp_path, by=by)
    assert set(computed) == set(LLMS)
    computed.clear()
    assert look(tmp_path, by=by) == first == compute(tmp_path, by=by)
    assert not computed


@pytest.mark.slow(reason="reads stores in many steps")
def test_models_with_later_rows_are_computed_alone(tmp_path: Path, computed: list[str]) -> None:
    fill(tmp_path)
    look(tmp_path)
    computed.clear()
    add(tmp_path, [Result(llm_id="two", test_id="a", score=0.25)], "20260102T000000-b")
    assert look(tmp_path) == compute(tmp_path)
    assert computed == ["two"]
    computed.clear()
    assert look(tmp_path) == compute(tmp_path)
    assert not computed


@pytest.mark.slow(reason="reads stores in many steps")
def test_the_same_rows_of_another_source_are_other_rows(
    tmp_path: Path, computed: list[str]
) -> None:
    fill(tmp_path)
    look(tmp_path)
    for score in (0.25, 0.75):
        for path in tmp_path.rglob("20260102T000000-b*.jsonl"):
            path.rename(tmp_path / f"removed-{score}")  # so that its inode is given to no other
        add(tmp_path, [Result(llm_id="two", test_id="a", score=score)], "20260102T000000-b")
        computed.clear()
        assert look(tmp_path) == compute(tmp_path)
        assert computed == ["two"]


def test_what_json_cannot_hold_is_not_kept(tmp_path: Path) -> None:
    fill(tmp_path)
    basis = open_table(tmp_path).basis
    for text, kept in (("whole", True), ("half a pair \ud800", False)):
        file: KeptFile[dict[str, str]] = KeptFile(basis, text[:5], "")
        file.write({"text": text})
        assert (file.read() == {"text": text}) is kept


def test_other_tests_make_other_figures(tmp_path: Path, computed: list[str]) -> None:
    fill(tmp_path)
    look(tmp_path, by=GroupBy.LLM_CLASS)
    moved = TESTS | {"a": replace(TESTS["a"], class_id="class 1")}
    fewer = {name: test for name, test in TESTS.items() if name != "a"}
    for tests in (moved, fewer):
        computed.clear()
        found = look(tmp_path, tests, GroupBy.LLM_CLASS)
        assert found == compute(tmp_path, tests, GroupBy.LLM_CLASS)
        assert set(computed) == set(LLMS)


def test_other_definitions_make_other_figures(
    tmp_path: Path, computed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path)
    look(tmp_path)
    computed.clear()
    monkeypatch.setattr(kept_figures, "_digest_definitions", lambda _module: "another")
    look(tmp_path)
    assert set(computed) == set(LLMS)


@pytest.mark.parametrize(
    ("module", "of_values", "of_others"),
    [("", prompts, figures), ("summarise", figures, prompts), ("ranking", figures, prompts)],
)
def test_only_the_definitions_of_values_make_other_values(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    of_values: ModuleType,
    of_others: ModuleType,
) -> None:
    def digest_with_changed(changed: ModuleType) -> str:
        with monkeypatch.context() as patched:
            path = tmp_path / f"{changed.__name__}.py"
            path.write_text(Path(changed.__file__ or "").read_text() + "# changed")
            patched.setattr(changed, "__file__", str(path))
            return kept_figures._digest_definitions.__wrapped__(module)

    unchanged = kept_figures._digest_definitions(module)
    assert digest_with_changed(of_values) != unchanged
    assert digest_with_changed(of_others) == unchanged


def test_modules_of_statistics_import_each_other_as_the_digest_of_definitions_expects() -> None:
    folder = Path(statistics.__file__).parent
    for path in folder.glob("*.py"):
        content = path.read_text(encoding="utf-8")
        imported = [
            name
            for node in ast.walk(ast.parse(content))
            for name in (
                [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else [each.name for each in node.names]
                if isinstance(node, ast.Import)
                else []
            )
            if f"{name}.".startswith((f"{statistics.__name__}.", "."))
        ]
        found = kept_figures._IMPORTED.findall(content)
        assert imported == [f"{statistics.__name__}.{name}" for name in found], path


@pytest.mark.slow(reason="reads stores in many steps")
def test_rows_whose_pages_are_given_back_stay_as_they_are(tmp_path: Path) -> None:
    fill(tmp_path)
    for number in range(2):  # of the file alone, then with a row in the place of another one
        table = open_table(tmp_path)
        assert table.basis
        before = {name: column.tolist() for name, column in table.columns.items()}
        table.release()
        after = {name: column.tolist() for name, column in table.columns.items()}
        assert repr(after) == repr(before)
        add(tmp_path, [Result(llm_id="two", test_id="a", score=0.25)], f"2026010{number + 2}")


@pytest.mark.slow(reason="a store for each damage")
@pytest.mark.parametrize("damage", [b"", b"{}", b"[]\n[]", b"\xff" * 9])
def test_a_damaged_file_is_made_again(tmp_path: Path, damage: bytes) -> None:
    fill(tmp_path)
    first = look(tmp_path)
    [path] = tmp_path.rglob("figures.llm.json")
    whole = path.read_bytes()
    path.write_bytes(damage)
    assert look(tmp_path) == first
    assert path.read_bytes() == whole


def test_a_figure_that_was_changed_by_hand_is_not_believed(tmp_path: Path) -> None:
    fill(tmp_path)
    first = look(tmp_path)
    [path] = tmp_path.rglob("figures.llm.json")
    path.write_bytes(path.read_bytes().replace(b'"n_scored":6', b'"n_scored":9'))
    assert look(tmp_path) == first


@pytest.mark.slow(reason="a store for each form")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"n_scored":6', b'"n_scored":"6"'),
        (b'"n_scored":6', b'"n_scored":6.0'),
        (b'"n_scored":6', b'"n_scored":true'),
        (b'"n_scored":6', b'"n_right":6'),
        (b'"n_scored":6', b'"n_scored":6,"n_right":6'),
        (b'"n_scored":6,', b""),
        (b'"group":{', b'"group":[],"of":{'),
        (b'"score":{', b'"score":"high","of":{'),
    ],
)
def test_figures_of_another_form_are_made_again(
    tmp_path: Path, before: bytes, after: bytes
) -> None:
    fill(tmp_path)
    first = look(tmp_path)
    [path] = tmp_path.rglob("figures.llm.json")
    whole = path.read_bytes()
    about, values = orjson.loads(whole.partition(b"\n")[2])
    changed = orjson.dumps(values)
    assert before in changed
    write_kept(path, about, orjson.loads(changed.replace(before, after, 1)))
    assert look(tmp_path) == first
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (float | None, 2),
        (dict[str, tuple[str, list[float]]], {"a": ("b", [1.0])}),
        (tuple[float, ...], (1.0, 2.0)),
        (GroupBy, GroupBy.LLM_CLASS),
        (Estimate, Estimate(value=0.5, low=0, high=1, n=3)),
    ],
)
def test_values_are_read_as_pydantic_reads_them(kind: Any, value: object) -> None:
    written = orjson.loads(orjson.dumps(value))
    expected = TypeAdapter(kind).validate_python(written)
    assert repr(kept_figures._make_reader(kind)(written)) == repr(expected)


def test_nothing_is_kept_of_a_selection_of_rows(tmp_path: Path) -> None:
    fill(tmp_path)
    table = open_table(tmp_path)
    some = table.select(table.find_entries("test_id", {"a", "b"}.__contains__), offset=1)
    found = summarise_models(some, ["one"], tests=TESTS, by=GroupBy.LLM)
    assert found["one"][0].n_tests == 2
    assert not [*tmp_path.rglob("figures.*")]


@pytest.mark.slow(reason="reads stores in many steps")
def test_pairs_of_models_are_compared_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path)
    table = open_table(tmp_path)
    first = compare_models(table, TESTS)
    assert first == compare_llms(table)
    assert len(first.pairs) == 3
    with monkeypatch.context() as patched:
        patched.delattr(kept_figures, "compare_llms")
        assert compare_models(open_table(tmp_path), TESTS) == first
    grouped = {name: replace(test, group="one") for name, test in TESTS.items()}
    groups = {name: test.group for name, test in grouped.items()}
    assert compare_models(open_table(tmp_path), grouped) == compare_llms(table, groups=groups)
    add(tmp_path, [Result(llm_id="two", test_id="a", score=0.25)], "20260102T000000-b")
    later = compare_models(open_table(tmp_path), TESTS)
    assert later == compare_llms(open_table(tmp_path))
    with monkeypatch.context() as patched:
        patched.delattr(kept_figures, "compare_llms")
        assert compare_models(open_table(tmp_path), TESTS) == later


@pytest.mark.slow(reason="reads stores in many steps")
def test_ranks_and_tie_groups_are_found_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path)
    first = find_standing_of_models(open_table(tmp_path), TESTS)
    assert first == find_standing(open_table(tmp_path))
    with monkeypatch.context() as patched:
        patched.delattr(kept_figures, "find_standing")
        assert find_standing_of_models(open_table(tmp_path), TESTS) == first
    computed: list[object] = []

    def note(table: ResultTable, **how: object) -> object:
        computed.append(table)
        return find_standing(table, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(kept_figures, "find_standing", note)
    grouped = {name: replace(test, group="one") for name, test in TESTS.items()}
    fewer = {name: TESTS[name] for name in "abc"}
    for n, tests in enumerate((grouped, fewer), start=1):
        groups = {name: test.group for name, test in tests.items()}
        expected = find_standing(open_table(tmp_path, tests), groups=groups)
        assert find_standing_of_models(open_table(tmp_path, tests), tests) == expected
        assert len(computed) == n
    rows = [Result(llm_id="four", test_id=test_id, score=0.25) for test_id in TESTS]
    add(tmp_path, rows, "20260102T000000-b")
    later = find_standing_of_models(open_table(tmp_path), TESTS)
    assert later == find_standing(open_table(tmp_path)) != first
    monkeypatch.setattr(kept_figures, "_digest_definitions", lambda _module: "another")
    find_standing_of_models(open_table(tmp_path), TESTS)
    assert len(computed) == 4


@pytest.mark.slow(reason="takes over a quarter of a second")
def test_models_are_ranked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path)
    table = open_table(tmp_path)
    first = rank_models(table, TESTS)
    assert first == rank_llms(table)
    with monkeypatch.context() as patched:
        patched.delattr(kept_figures, "rank_results")
        assert rank_models(open_table(tmp_path), TESTS) == first
    fewer = {name: TESTS[name] for name in "abc"}
    some = open_table(tmp_path, fewer)
    assert rank_models(some, fewer) == rank_llms(some) != first
    add(tmp_path, [Result(llm_id="two", test_id="a", score=0.25)], "20260102T000000-b")
    assert rank_models(open_table(tmp_path), TESTS) == rank_llms(open_table(tmp_path))


def test_what_rests_on_a_short_form_is_not_kept(tmp_path: Path) -> None:
    fill(tmp_path)
    short = {"a": replace(TESTS["a"], tags=("short",))}
    rank_models(open_table(tmp_path), TESTS | short)
    assert not [*tmp_path.rglob("figures.*")]


_ROWS = st.lists(
    st.builds(
        Result,
        llm_id=st.sampled_from(LLMS),
        test_id=st.sampled_from(sorted(TESTS)),
        trial=st.integers(1, 2),
        score=st.sampled_from([0.0, 0.1, 1.0]),
        execution_time_ms=st.none() | st.floats(0.1, 1e6),
    ),
    min_size=1,
    max_size=6,
)


@pytest.mark.slow(reason="each example reads stores in many steps")
@settings(deadline=None, max_examples=12)
@given(histories=st.lists(_ROWS, min_size=1, max_size=4))
def test_kept_figures_are_those_that_would_be_computed(histories: list[list[Result]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, rows in enumerate(histories):
            add(folder, rows, f"2026010{number + 1}T000000-a")
            for by in (GroupBy.LLM, GroupBy.LLM_CLASS):
                assert look(folder, by=by) == compute(folder, by=by)
