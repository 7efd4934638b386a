from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from poor_bench.dashboard.services import test_reports
from poor_bench.errors import ConfigError
from poor_bench.report_generator import ReportGenerator
from poor_bench.results.query import ResultQuery
from poor_bench.results.stored_texts import StoredTexts, read_item_analysis
from poor_bench.results.table import TrialKey
from poor_bench.statistics.summary import GroupBy
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import (
    scored,
    services_of,
    services_with,
    write_results,
)
from tests.waiting import wait_for


@pytest.mark.parametrize("by", list(GroupBy))
def test_summaries_are_those_of_the_console(workspace_files: WorkspaceFiles, by: GroupBy) -> None:
    services = services_with(workspace_files, {"one": [1, 0, 1], "two": [0, 0.5, 1]})
    config = services.files.config()
    assert services.results.summaries(by) == ReportGenerator(config).summaries(by)


def test_the_share_of_thinking_is_known_without_the_texts(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("one", "4")
    folder = workspace_files.write()
    times = {"decode_ms": 800.0, "thinking": "xxx", "response": "y"}
    write_results(
        folder, {"scripted:one": [scored("sum_001", 1.0, **times), scored("sum_002", 0.0)]}
    )
    services = services_of(folder)
    [row] = services.results.summaries(GroupBy.LLM)
    assert row.parts is not None
    assert row.parts.thinking_ms == 600.0
    assert [row] == ReportGenerator(services.files.config()).summaries()


def test_summaries_of_an_llm_without_results_are_left_out(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"one": [1]})
    assert services.results.summaries(GroupBy.LLM, ["nobody"]) == []


def test_an_edited_file_is_noticed(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"one": [1]})
    version = services.version()
    workspace_files.add_llm("two", ["4"])
    workspace_files.write()
    assert services.version() != version
    assert [llm.name for llm in services.files.workspace().llms] == ["one", "two"]


def test_the_version_stays_while_nothing_changes(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"one": [1]})
    wait_for(lambda: services.results.stale().is_current)
    assert services.version() == services.version()


def test_an_invalid_workspace_says_what_is_wrong_and_heals(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"one": [1]})
    workspace_files.tests[0]["class_id"] = "no such class"
    workspace_files.write()
    with pytest.raises(ConfigError) as told:
        services.files.workspace()
    assert services.version().startswith("error")
    with pytest.raises(ConfigError) as again:
        services.results.table()
    assert again.value is told.value
    workspace_files.tests[0]["class_id"] = "sums"
    workspace_files.write()
    assert services.files.workspace().tests


def test_refresh_reads_the_results_again(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"one": [1]})
    table = services.results.table()
    services.refresh()
    assert services.results.table() is not table


def test_results_can_be_limited_to_an_issue(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"bad": [1, 0, 0]})
    query = ResultQuery(llm_id="scripted:bad", issue="score_zero")
    assert len(services.trials.find(query)) == 2


def test_issues_are_found_anew_when_results_change(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"bad": [0]})
    before = services.issues.of_llm("scripted:bad")
    assert services.issues.of_llm("scripted:bad") is before
    write_results(workspace_files.folder, {"scripted:bad": [scored("sum_001", 1.0)]})
    assert services.issues.of_llm("scripted:bad") != before


def test_texts_are_read_for_issues_and_for_the_analysis_of_tests_one_after_the_other(
    workspace_files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = services_with(workspace_files, {"bad": [0], "good": [1]})
    reading: list[str] = []

    def note(name: str, read: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*args: Any, **options: Any) -> Any:
            if services.requests.turn.locked():
                reading.append(name)
            return read(*args, **options)

        return noted

    monkeypatch.setattr(test_reports, "read_item_analysis", note("tests", read_item_analysis))
    monkeypatch.setattr(StoredTexts, "look", note("issues", StoredTexts.look))
    assert services.issues.wait().issues
    assert sorted(reading) == ["issues", "tests"]


def test_details_bring_everything_about_a_trial_together(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(
        1, evaluation_module={"name": "has_expected", "parameters": {"expected": "4"}}
    )
    workspace_files.add_llm("one", ["4"], base_system_prompt="Be brief.")
    folder = workspace_files.write()
    response = "<think>2 and 2</think>```json\n5\n```"
    write_results(folder, {"scripted:one": [scored("sum_001", 0.0, response)]})
    key = TrialKey("sum_001", 1, is_failure=False)
    details = services_of(folder).trials.details("scripted:one", key)
    assert details is not None
    assert (details.system_prompt, details.prompt) == ("Be brief.", "Solve: 1 + 1")
    assert not details.is_prompt_stored
    assert details.thinking == "2 and 2"
    assert details.answer_span is not None
    assert details.answer[slice(*details.answer_span)] == "5"
    assert (details.expected, details.got) == ("4", "5")
    assert details.issues


def test_a_stored_prompt_counts_more_than_todays(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("one", ["4"])
    folder = workspace_files.write()
    row = scored("sum_001", 1.0, prompt="as it was asked", extracted="4", response="so 4 or 4.")
    write_results(folder, {"scripted:one": [row]})
    key = TrialKey("sum_001", 1, is_failure=False)
    details = services_of(folder).trials.details("scripted:one", key)
    assert details is not None
    assert details.prompt == "as it was asked"
    assert details.answer_span == (8, 9)


def test_details_of_a_test_that_is_gone_are_still_shown(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    folder = workspace_files.write()
    write_results(folder, {"old:llm": [scored("gone", 1.0)]})
    details = services_of(folder).trials.details("old:llm", TrialKey("gone", 1, is_failure=False))
    assert details is not None
    assert (details.class_id, details.level, details.prompt) == ("", None, "")


def test_there_are_no_details_of_what_was_never_run(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"one": [1]})
    assert services.trials.details("scripted:one", TrialKey("sum_003", 1, is_failure=False)) is None
