from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from poor_bench.comparison.compare import compare_result_sets
from poor_bench.comparison.result_set import hash_parameters, hash_prompt
from poor_bench.errors import ConfigError, StoreError
from poor_bench.resolver import ResultSetResolver, read_run_facts
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles
from tests.results.builders import make_result

FIRST, SECOND = "20261121T100000-aaaaaa", "20261122T100000-bbbbbb"


@pytest.fixture
def config(workspace_files: WorkspaceFiles) -> WorkspaceFolder:
    workspace_files.add_tests(3)
    workspace_files.add_llm("a", "4", label="Ann")
    workspace_files.add_llm("b", "4")
    config = WorkspaceFolder(workspace_files.write())
    first = [make_result("sum_001", score=0.0), make_result("sum_002", score=0.0)]
    config.store.add(first, FIRST, {"started": "2026-11-21T10:00:00Z"})
    second = [make_result("sum_001", score=1.0), make_result("sum_001", "scripted:b")]
    config.store.add(second, SECOND, {"machine": {"cpu": "x"}, "llm_fingerprints": {"a": "f"}})
    return config


def scores(config: WorkspaceFolder, reference: str) -> dict[tuple[str, str], float | None]:
    results = ResultSetResolver(config).open(reference).results
    return {(result.llm_id[-1], result.test_id[-1]): result.score for result in results}


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("now", {("a", "1"): 1.0, ("a", "2"): 0.0, ("b", "1"): 1.0}),
        ("last", {("a", "1"): 1.0, ("b", "1"): 1.0}),
        ("previous", {("a", "1"): 0.0, ("a", "2"): 0.0}),
        ("20261121", {("a", "1"): 0.0, ("a", "2"): 0.0}),
        (SECOND, {("a", "1"): 1.0, ("b", "1"): 1.0}),
        ("before:last", {("a", "1"): 0.0, ("a", "2"): 0.0}),
        ("scripted:b", {("b", "1"): 1.0}),
        ("Ann", {("a", "1"): 1.0, ("a", "2"): 0.0}),
        ("Ann@run:previous", {("a", "1"): 0.0, ("a", "2"): 0.0}),
        (f"scripted:b@run:{SECOND}", {("b", "1"): 1.0}),
    ],
)
def test_reference_opens_what_it_names(
    config: WorkspaceFolder, reference: str, expected: dict[tuple[str, str], float]
) -> None:
    assert scores(config, reference) == expected


@pytest.mark.parametrize(
    ("before", "after", "read", "unread"),
    [
        ("before:last", "last", ({"a"}, {"a", "b"}), ((), ())),
        ("previous", "now", ({"a"}, {"a"}), ((), ("scripted:b",))),
        ("now", "previous", ({"a"}, {"a"}), (("scripted:b",), ())),
        ("last", "scripted:b", ({"b"}, {"b"}), (("scripted:a",), ())),
    ],
)
def test_of_two_sets_only_what_both_have_is_read(
    config: WorkspaceFolder,
    before: str,
    after: str,
    read: tuple[set[str], set[str]],
    unread: tuple[tuple[str, ...], tuple[str, ...]],
) -> None:
    sides = ResultSetResolver(config).open_both(before, after)
    assert tuple({result.llm_id[-1] for result in side.results} for side in sides) == read
    assert tuple(side.unread_llms for side in sides) == unread


def test_of_the_runs_before_only_tests_of_the_last_one_are_read(config: WorkspaceFolder) -> None:
    resolver = ResultSetResolver(config)
    before, after = resolver.open_both("before:last", "last")
    assert [result.test_id for result in before.results] == ["sum_001"]
    assert before.unread_tests == {"scripted:a": {"sum_002"}}
    tests = config.workspace.tests_by_id
    [spared] = compare_result_sets(before, after, tests=tests)
    [whole] = compare_result_sets(resolver.open("before:last"), after, tests=tests)
    assert spared.overall == whole.overall
    assert spared.not_comparable() == whole.not_comparable()
    assert spared.not_comparable("sums") == whole.not_comparable("sums")


def test_tests_of_models_that_one_side_lacks_are_found_without_being_read(
    config: WorkspaceFolder,
) -> None:
    before, _ = ResultSetResolver(config).open_both("last", "previous", of_all_models=True)
    assert [result.llm_id for result in before.results] == ["scripted:a"]
    assert before.unread_tests["scripted:b"] == {"sum_001"}
    assert before.llm_ids == ("scripted:a", "scripted:b")


def test_file_is_opened_by_its_path(config: WorkspaceFolder, tmp_path: Path) -> None:
    copy = tmp_path / "base.jsonl"
    copy.write_bytes(config.store.paths.runs()[0].read_bytes())
    assert scores(config, str(copy)) == {("a", "1"): 0.0, ("a", "2"): 0.0}


def test_parameters_and_prompts_of_a_model_are_opened_by_their_versions(
    config: WorkspaceFolder,
) -> None:
    cold = {"temperature": 0.0}
    asked = [replace(make_result(f"sum_00{n}", score=0.5), prompt=f"Do {n}") for n in (1, 3)]
    header = {"parameters": {"scripted:a": cold}}
    config.store.add(asked, "20261123T100000-cccccc", header)
    by_parameters = f"Ann@parameters:{hash_parameters(cold)}"
    assert scores(config, by_parameters) == {("a", "1"): 0.5, ("a", "3"): 0.5}
    test = config.workspace.tests_by_id["sum_001"]
    by_prompt = f"Ann@prompt:{hash_prompt('', 'Do 1', test)}"
    assert scores(config, by_prompt)["a", "1"] == 0.5
    with pytest.raises(ConfigError) as caught:
        ResultSetResolver(config).open("Ann@parameters:none")
    assert hash_parameters(cold) in caught.value.hint


def test_side_knows_the_runs_of_its_results(config: WorkspaceFolder) -> None:
    side = ResultSetResolver(config).open("now")
    assert side.runs[SECOND].machine == {"cpu": "x"}
    assert side.runs[FIRST].machine == {}


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("2026", "several runs"),
        ("scripted:c", "did you mean `scripted:"),
        ("before:nothing", "is not a model, a run or a file"),
        ("nothing.json", f"runs: {SECOND}, {FIRST}"),
        (f"before:{FIRST}", "no run before"),
    ],
)
def test_reference_to_nothing_names_what_there_is(
    config: WorkspaceFolder, reference: str, words: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        ResultSetResolver(config).open(reference)
    assert words in f"{caught.value} {caught.value.hint}"


def test_first_run_proposes_to_compare_two_models(config: WorkspaceFolder) -> None:
    with pytest.raises(ConfigError) as caught:
        ResultSetResolver(config).open(f"before:{FIRST}")
    first, second = (llm.id for llm in config.workspace.llms[:2])
    assert f"compare {first} {second}" in caught.value.hint


def test_base_is_no_llm(config: WorkspaceFolder) -> None:
    opener = ResultSetResolver(config)
    assert opener.resolve_baseline("previous").results
    with pytest.raises(ConfigError, match="is a model"):
        opener.resolve_baseline("Ann")


def test_missing_runs_and_results_say_what_to_do(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("a", "4")
    opener = ResultSetResolver(WorkspaceFolder(workspace_files.write()))
    for reference, words in (("last", "no last run"), ("scripted:a", "no results yet")):
        with pytest.raises(ConfigError, match=words) as caught:
            opener.open(reference)
        assert "main.py run" in caught.value.hint


def test_odd_headers_tell_nothing() -> None:
    facts = read_run_facts({"machine": "x86", "llm_fingerprints": None})
    assert facts.machine == facts.llm_fingerprints == {}


def test_runs_that_cannot_be_merged_are_compared_as_they_are(config: WorkspaceFolder) -> None:
    third = "20261123T100000-cccccc"
    journal = config.store.open_run(third, {"started": "2026-11-23T10:00:00Z"})
    journal.append(make_result("sum_003", score=1.0))
    journal.close()
    config.store.paths.merge_lock.unlink(missing_ok=True)
    config.store.paths.merge_lock.mkdir()  # as on a read-only disk: the lock cannot be had
    with pytest.raises(StoreError):
        config.store.merge()
    assert scores(config, "last") == {("a", "3"): 1.0}
    assert config.store.newest_run_id() == third
