from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from poor_bench.comparison.result_set import ComparedSubject, SubjectKind, hash_parameters
from poor_bench.dashboard.pages.compare import callbacks
from poor_bench.dashboard.pages.compare.layout import CompareUrl
from poor_bench.dashboard.services import compared
from poor_bench.dashboard.services.services import Services
from poor_bench.models.result import Result
from poor_bench.runs import history
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import services_of
from tests.dashboard.seen_text import text_of
from tests.waiting import wait_for

LLM = "scripted:one"
OLD, NEW = "20260101T000000-aaaaaa", "20260102T000000-bbbbbb"


def add_run(folder: Path, run_id: str, template: str, temperature: float, score: float) -> None:
    """Store a run of two tests that all score the same."""
    tests = WorkspaceFolder(folder).workspace.tests
    results = [
        Result(
            llm_id=LLM,
            test_id=test.test_id,
            score=score,
            response=f"{run_id} says {score}",
            prompt=template.format(test.text),
            run_id=run_id,
        )
        for test in tests
    ]
    header = {"llms": {LLM: len(tests)}, "parameters": {LLM: {"temperature": temperature}}}
    WorkspaceFolder(folder).store.add(results, run_id, header)


@pytest.fixture
def services(workspace_files: WorkspaceFiles) -> Services:
    workspace_files.add_tests(2)
    workspace_files.add_llm("one", ["4"])
    folder = workspace_files.write()
    add_run(folder, OLD, "Do {}", 0.0, 0.0)
    add_run(folder, NEW, "Solve {}", 0.7, 1.0)
    return services_of(folder)


def of_run(run_id: str) -> str:
    return ComparedSubject(llm_id=LLM, kind=SubjectKind.RUN, version=run_id).text


def test_a_run_is_compared_though_later_results_replaced_it(services: Services) -> None:
    grid = services.compare.grid([LLM, of_run(OLD), of_run(NEW)])
    assert grid.scores.tolist() == [[1.0, 0.0, 1.0]] * 2


def test_headers_of_runs_are_read_once_until_there_is_another_run(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    read_header = history.read_header

    def note_path(path: Path) -> dict[str, Any]:
        read.append(path.stem)
        return read_header(path)

    monkeypatch.setattr(history, "read_header", note_path)
    for _ in range(2):
        assert [run.run_id for run in services.compare.subjects.runs(LLM)] == [NEW, OLD]
    assert sorted(read) == [OLD, NEW]
    later = "20260103T000000-cccccc"
    add_run(services.files.config().workspace.data_dir, later, "Solve {}", 0.7, 1.0)
    assert [run.run_id for run in services.compare.subjects.runs(LLM)] == [later, NEW, OLD]


@pytest.mark.slow(reason="takes over a quarter of a second")
def test_a_run_behind_the_offered_ones_is_compared_where_an_address_names_it(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compared, "MOST_RUNS", 1)
    grid = services.compare.grid([of_run(NEW), of_run(OLD)])
    assert grid.scores.tolist() == [[1.0, 0.0]] * 2


def test_disabled_tests_count_in_no_run(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("one", ["4"])
    workspace_files.tests[1]["enabled"] = False
    folder = workspace_files.write()
    add_run(folder, OLD, "Do {}", 0.0, 0.5)
    assert services_of(folder).compare.grid([of_run(OLD)]).scores.tolist() == [[0.5]]


def test_answers_of_a_run_are_its_own(services: Services) -> None:
    search = CompareUrl(llm_ids=(of_run(OLD), of_run(NEW))).search
    *_, tests = callbacks.show_tests(services, search)
    assert f"{OLD} says 0.0" in text_of(tests)
    assert f"{NEW} says 1.0" in text_of(tests)


def test_answers_of_runs_can_be_searched(services: Services) -> None:
    names = [of_run(OLD), of_run(NEW)]
    grid = services.compare.grid(names)
    assert grid.tests_with(f"{OLD} says") == {0, 1}
    assert grid.tests_with("nobody said this") == set()


def test_parameter_sets_and_prompt_versions_select_their_results(services: Services) -> None:
    subjects = services.compare.subjects
    assert [*subjects.parameter_sets(LLM).values()] == [{"temperature": 0.7}, {"temperature": 0.0}]
    [(_, prompts)] = subjects.prompt_versions(LLM).items()
    cold = ComparedSubject(
        llm_id=LLM, kind=SubjectKind.PARAMETERS, version=hash_parameters({"temperature": 0.0})
    )
    by_prompt = [
        ComparedSubject(llm_id=LLM, kind=SubjectKind.PROMPT, version=each) for each in prompts
    ]
    grid = services.compare.grid([cold.text, *(each.text for each in by_prompt)])
    assert grid.scores.tolist() == [[0.0, 1.0, 0.0]] * 2
    told = [subjects.describe_version(each) for each in (cold, *by_prompt)]
    assert told[0] == "temperature 0.0"
    assert [text.partition(" of 2 of ")[0] for text in told[1:]] == ["2", "1"]
    unknown = ComparedSubject(llm_id=LLM, kind=SubjectKind.PARAMETERS, version="none")
    assert subjects.describe_version(unknown) == ""


def test_it_is_said_what_changed_between_runs(services: Services) -> None:
    search = CompareUrl(llm_ids=(of_run(OLD), of_run(NEW))).search
    wait_for(lambda: callbacks.show_strip(services, search)[2])
    _, table, _ = callbacks.show_strip(services, search)
    assert "temperature (0.0 -> 0.7)" in text_of(table)
    assert "prompt of class" in text_of(table)


def test_one_more_is_added_to_what_is_compared_by_default() -> None:
    url = CompareUrl().add(["c"], ["a", "b"])
    assert url.llm_ids == ("a", "b", "c")
    assert url.columns(["a", "b", "c"]) == ("a", "b", "c")


def test_quick_picks_add_the_last_runs(services: Services) -> None:
    seen = callbacks.show_subjects(services, "")
    assert "Last 2 runs" in text_of(seen)
    assert "2 parameter sets" in text_of(seen)
    asked = callbacks.show_subjects(services, CompareUrl(prompts_of=LLM).search)
    assert "2 prompt versions" in text_of(asked)


def test_names_of_models_in_subjects_become_ids() -> None:
    url = CompareUrl(llm_ids=("One@run:x1",), base="One@run:x1")
    assert url.with_llm_ids(lambda name: name.lower()).columns(["one"]) == ("one@run:x1",)
