from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.cli.main import main
from poor_bench.dashboard.pages.run import accepting
from poor_bench.dashboard.services.services import Services
from poor_bench.runs.history import RunHistory
from poor_bench.tuning.searches import SEARCHES
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import services_of
from tests.dashboard.seen_text import text_of
from tests.tuning.prompt_searches import BETTER, write_workspace

SMALL = "scripted:small"


@pytest.fixture
def folder(workspace_files: WorkspaceFiles) -> Path:
    return write_workspace(workspace_files)


@pytest.fixture
def services(folder: Path) -> Services:
    return services_of(folder)


def tune(folder: Path, *arguments: str) -> None:
    assert main(["--data", str(folder), "tune", *arguments, "--llm", SMALL]) == 0


def only_result(services: Services) -> str:
    [option] = accepting.list_results(services)
    return option["value"]


def template(folder: Path) -> str:
    return WorkspaceFolder(folder).workspace.test_classes["sums"].templates["default"]


def test_a_prompt_is_shown_as_a_change_of_its_file_before_it_is_written(
    folder: Path, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    tune(folder, "prompt", "sums", "--reflection-llm", "scripted:writer")
    shown, question, proposed = accepting.show_change(services, only_result(services))
    assert str(folder / "test_classes.yaml") in text_of(shown)
    assert "-Solve: {problem}" in text_of(shown)
    assert f"+{BETTER}" in text_of(shown)
    assert "Significant gain" in text_of(question)
    assert template(folder) == "Solve: {problem}"
    accepting.accept(services, proposed)
    assert template(folder) == BETTER
    assert accepting.list_results(services) == []
    told: list[str] = []
    monkeypatch.setattr(accepting, "show_error", told.append)
    accepting.accept(services, proposed)
    assert "already" in told[0]


def test_a_variant_is_shown_as_an_entry_before_it_is_added(
    folder: Path, services: Services
) -> None:
    tune(folder, "params", "all", "--param", "responses=is4")
    shown, _, proposed = accepting.show_change(services, only_result(services))
    assert str(folder / "llms.json") in text_of(shown)
    assert '"responses": "is4"' in text_of(shown)
    accepting.accept(services, proposed)
    assert f"{SMALL}:responses=is4" in WorkspaceFolder(folder).workspace.llms_by_id
    assert accepting.list_results(services) == []


def test_a_prompt_that_was_edited_since_the_search_cannot_be_accepted(
    folder: Path, services: Services
) -> None:
    tune(folder, "prompt", "sums", "--reflection-llm", "scripted:writer")
    run_id = only_result(services)
    WorkspaceFolder(folder).change_template("sums", "Mine: {problem}")
    shown, _, proposed = accepting.show_change(services, run_id)
    assert "was edited after this search" in text_of(shown)
    assert proposed is None


def test_a_damaged_search_is_not_offered(folder: Path, services: Services) -> None:
    with RunHistory(folder, SEARCHES).writing("20261123T000000-aa", {"kind": "prompt"}) as journal:
        journal.append_record({"end": {"reason": "finished"}})
    assert accepting.list_results(services) == []
