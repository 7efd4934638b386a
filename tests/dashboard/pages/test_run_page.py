from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dash import html

from poor_bench.dashboard.components.blocks import ABSENT
from poor_bench.dashboard.pages.run import callbacks
from poor_bench.dashboard.pages.run.layout import RunIds as Ids
from poor_bench.dashboard.pages.run.layout import chosen, layout, read_selection, select_failed
from poor_bench.dashboard.pages.run.plan import preview as show_plan
from poor_bench.dashboard.pages.run.progress import run_body, run_class, run_head
from poor_bench.dashboard.services.run_plans import LLMPreview, RunPreview
from poor_bench.dashboard.services.run_state import (
    LLMPhase,
    LLMProgress,
    RunError,
    RunPhase,
    RunState,
)
from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.shell import run_status
from poor_bench.dashboard.url_state import Redo, RunUrl, run_link
from poor_bench.errors import ConfigError
from poor_bench.judge.storage import JudgementStore
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.runner.selection import Selection
from poor_bench.runner.trial_states import TrialName
from poor_bench.runs.batch_notes import BatchedTrial, BatchNote, BatchNotes
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import scored, services_of, write_results
from tests.dashboard.seen_text import of_type, text_of
from tests.judge.agent_workspace import write_workspace
from tests.judge.run_builders import conversation_of, header_of
from tests.waiting import wait_for

PATIENCE_S = 20.0


def run_to_the_end(services: Services) -> RunState:
    services.runs.start(Selection())
    services.runs.wait(PATIENCE_S)
    return services.runs.state()


def offered(state: RunState) -> set[str]:
    return {mark for mark in run_class(state).split() if mark.startswith("can-")}


def test_empty_controls_choose_everything_that_is_pending() -> None:
    assert chosen([None, [], None, "", None, None]) == Selection()


def test_controls_become_a_selection() -> None:
    values = [["a:b"], ["sums"], ["1", "x"], "sum_1*, sum_2\nsum_3", "3", "all"]
    assert chosen(values) == Selection(
        llms=("a:b",),
        classes=("sums",),
        levels=frozenset({1}),
        tests=("sum_1*", "sum_2", "sum_3"),
        trials=3,
        force=True,
    )


@pytest.mark.parametrize(("given", "trials"), [("", 1), (0, 1), (-3, 1), ("x", 1), (10**9, 100)])
def test_trials_stay_in_their_range(given: str | int, trials: int) -> None:
    assert chosen([[], [], [], "", given, "pending"]).trials == trials


def test_a_link_opens_the_selection_that_it_was_made_of() -> None:
    link = run_link(llm_ids=["a:b"], classes=["c"], levels=[2], tests=["t*"], redo=Redo.ALL)
    page = layout(RunUrl.read(f"{link.removeprefix('/run')}&trials=3"))
    assert [of_type(page, "MultiSelect")[at].value for at in range(3)] == [["a:b"], ["c"], ["2"]]
    assert of_type(page, "TextInput")[0].value == "t*"
    assert of_type(page, "NumberInput")[0].value == 3
    assert of_type(page, "Select")[0].value == "all"


def test_a_chosen_class_that_does_not_exist_runs_nothing_instead_of_everything(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("one", "4")
    services = services_of(workspace_files.write())
    url = RunUrl(classes=("summs",))
    _, classes, _ = callbacks.options(services, url)
    assert {"value": "summs", "label": "summs (missing)"} in classes
    shown, is_off, *_buttons = callbacks.plan(services, read_selection(url))
    assert "matches nothing" in text_of(shown)
    assert is_off


def test_two_thousand_tests_fit_into_an_address_and_are_planned(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(2_000)
    workspace_files.add_llm("one", "4")
    services = services_of(workspace_files.write())
    tests = [test.test_id for test in services.files.workspace().tests][:1_999]
    link = run_link(tests=tests)
    assert len(link) < 8_000
    selection = read_selection(RunUrl.read(link.removeprefix("/run")))
    assert services.plans.preview(selection).n_items == 1_999


def test_stale_and_failed_trials_can_be_chosen_alone(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(4)
    workspace_files.add_llm("one", "4")
    folder = workspace_files.write()
    services = services_of(folder)
    services.runs.start(Selection(tests=("sum_001",)))
    services.runs.wait(PATIENCE_S)
    workspace_files.tests[0]["text"] = "2 + 2"
    workspace_files.write()
    refused = Failure(kind=FailureKind.CONNECTION, message="refused")
    failed = Result(llm_id="scripted:one", test_id="sum_002", failure=refused)
    WorkspaceFolder(folder).store.add([failed], "20991231T000000-abcdef", {})
    planned = {
        redo: services.plans.preview(read_selection(RunUrl(redo=redo))).n_items for redo in Redo
    }
    assert planned == {
        Redo.PENDING: 4, Redo.FAILED: 1, Redo.STALE: 1, Redo.AGAIN: 2, Redo.ALL: 4,
    }  # fmt: skip


def test_the_plan_says_how_many_how_long_and_how_much(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(3)
    workspace_files.add_llm("one", "4")
    services = services_of(workspace_files.write())
    plan, is_off, *_buttons = callbacks.plan(services, Selection())
    assert "3" in text_of(plan)
    assert "unknown" in text_of(plan)
    assert not is_off
    lines = callbacks.plan_csv(services, Selection()).csv.splitlines()
    assert lines[0] == "Model ID,Model,Trials,Time (s),Cost (US$)"
    assert lines[1] == "scripted:one,scripted:one,3,,0.0"


def test_a_batch_is_offered_with_its_price_beside_the_live_price(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("here", "4")
    services = services_of(workspace_files.write())
    shown, _, *buttons = callbacks.plan(services, Selection())
    assert "As a batch" not in text_of(shown)
    assert buttons == ["none", "none"]
    prices = {"input": 0, "output": 1000}
    workspace_files.llms.append({"provider": "openai", "name": "m", "prices": prices})
    services = services_of(workspace_files.write())
    shown, is_off, *buttons = callbacks.plan(services, Selection())
    assert "As a batch $0.50 2 trials, $1.00 live" in text_of(shown)
    assert not is_off
    assert buttons == ["inline-block", "none"]


def test_with_nothing_pending_there_is_nothing_to_start(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("off", "4", enabled=False)
    services = services_of(workspace_files.write())
    plan, is_off, *_buttons = callbacks.plan(services, Selection())
    assert "Nothing is pending" in text_of(plan)
    assert is_off


def test_a_workspace_without_tests_or_llms_says_what_is_missing(
    workspace_files: WorkspaceFiles,
) -> None:
    plan, is_off, *_buttons = callbacks.plan(services_of(workspace_files.write()), Selection())
    assert ("No tests yet" in text_of(plan), is_off) == (True, True)
    workspace_files.add_tests(1)
    plan, is_off, *_buttons = callbacks.plan(services_of(workspace_files.write()), Selection())
    assert ("Add model" in text_of(plan), is_off) == (True, True)


def test_a_filter_that_matches_nothing_is_explained(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("one", "4")
    services = services_of(workspace_files.write())
    plan, is_off, *_buttons = callbacks.plan(services, Selection(tests=("sum_0O1",)))
    assert "sum_0O1" in text_of(plan)
    assert "nearest: " in text_of(plan)
    assert is_off


@pytest.mark.parametrize(
    ("n_tests", "prices", "is_asked"),
    [(100, None, False), (101, None, True), (1, {"input": 1.0, "output": 1.0}, True)],
)
def test_long_or_costly_runs_need_consent_with_their_plan(
    workspace_files: WorkspaceFiles, n_tests: int, prices: Any, is_asked: bool
) -> None:
    workspace_files.add_tests(n_tests)
    workspace_files.add_llm("one", "4", **({"prices": prices} if prices else {}))
    services = services_of(workspace_files.write())
    question = callbacks.find_consent(services, Selection(), Ids.START)
    assert (question is not None) == is_asked
    if question is not None:
        assert f"Trials {n_tests}" in text_of(question)
        assert "Estimated cost" in text_of(question)


@pytest.mark.parametrize("price", [None, 1.0])
def test_collected_answers_are_judged_only_with_consent_where_that_costs(
    workspace_files: WorkspaceFiles, price: float | None
) -> None:
    judging = {"name": "llm_judge_evaluator", "parameters": {"judge": "scripted:judge"}}
    workspace_files.classes[0]["evaluation_module"] = judging
    workspace_files.add_tests(2)
    workspace_files.add_llm("one", "4")
    prices = {} if price is None else {"prices": {"input": price, "output": price}}
    workspace_files.add_llm("judge", "4", enabled=False, **prices)
    folder = workspace_files.write()
    items = tuple(BatchedTrial(name, 1) for name in ("sum_001", "sum_002", "removed"))
    note = BatchNote(key="k", llm_id="scripted:one", created="2026-01-02T03:04:05Z", items=items)
    BatchNotes(WorkspaceFolder(folder).store.paths.batches_dir).begin(note, [])
    question = callbacks.find_consent(services_of(folder), Selection(), Ids.COLLECT)
    assert (question is not None) == (price is not None)
    if question is not None:
        assert "Trials 2" in text_of(question)
        assert "scripted:judge" in text_of(question)


def cancel_after(services: Services, n_trials: int, selection: Selection) -> RunState:
    """Start a run that is cancelled once some of its trials are stored."""
    services.runs.start(selection)
    wait_for(lambda: services.runs.state().n_done >= n_trials)
    services.runs.cancel()
    services.runs.wait(PATIENCE_S)
    return services.runs.state()


SOME = [TrialName("scripted:one", f"sum_00{n}", trial) for n in (1, 2, 3, 4) for trial in (1, 2)]


@pytest.mark.slow(reason="takes over a quarter of a second")
@pytest.mark.parametrize("is_restarted", [False, True])
@pytest.mark.parametrize(
    "options", [{}, {"force": True}, {"only": frozenset(SOME)}], ids=["pending", "all", "some"]
)
def test_a_cancelled_run_is_continued_as_it_was(
    workspace_files: WorkspaceFiles, options: dict[str, Any], *, is_restarted: bool
) -> None:
    workspace_files.add_tests(6)
    slow = {"text": "4", "latency_ms": 600_000}
    workspace_files.add_llm("one", ["4", "4", slow])
    workspace_files.add_llm("two", "4")
    folder = workspace_files.write()
    services = services_of(folder)
    chosen_tests = Selection(llms=("scripted:one",), tests=("sum_00[1-4]",), trials=2, **options)
    state = cancel_after(services, 2, chosen_tests)
    if is_restarted:
        services = services_of(folder)
        state = services.runs.state()
    stopped = (
        (RunPhase.INTERRUPTED, LLMPhase.INTERRUPTED)
        if is_restarted
        else (RunPhase.CANCELLED, LLMPhase.CANCELLED)
    )
    assert (state.phase, *(llm.phase for llm in state.llms)) == stopped
    assert (state.n_items, state.n_done, state.selection) == (8, 2, chosen_tests)
    assert "can-resume" in offered(state)
    rest = services.runs.find_rest()
    assert services.plans.preview(rest).n_items == 6
    assert services.plans.preview(rest).llms[0].llm_id == "scripted:one"


@pytest.mark.slow(reason="takes over a quarter of a second")
def test_after_a_restart_a_complete_run_is_not_shown(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("one", ["4", {"failure": "timeout", "times": 9}])
    folder = workspace_files.write()
    services = services_of(folder)
    services.runs.start(Selection())
    services.runs.wait(PATIENCE_S)
    assert services.runs.state().n_failed == 1
    assert services_of(folder).runs.state().phase is RunPhase.IDLE


def test_the_run_of_a_killed_process_keeps_its_selection(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(3)
    workspace_files.add_llm("one", "4")
    folder = workspace_files.write()
    chosen_tests = Selection(tests=("sum_00[12]",), trials=2, force=True)
    header = {"llms": {"scripted:one": 4}, "choice": chosen_tests.to_json()}
    journal = WorkspaceFolder(folder).store.open_run("20260103T000000-abcdef", header)
    done = Result(llm_id="scripted:one", test_id="sum_001", score=1.0, response="4")
    journal.append(replace(done, run_id="20260103T000000-abcdef"))
    journal.close()
    services = services_of(folder)
    state = services.runs.state()
    assert state.phase is RunPhase.INTERRUPTED
    assert services.plans.preview(services.runs.find_rest()).n_items == 3


def test_a_run_is_started_and_its_end_is_shown(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("one", "4")
    services = services_of(workspace_files.write())
    assert callbacks.state(services)[1] == ABSENT
    services.runs.start(Selection())
    services.runs.wait(PATIENCE_S)
    body, class_name, head, is_still, _ = callbacks.state(services)
    assert is_still
    assert class_name == "card run-card"
    assert "Finished" in text_of(head)
    assert "2 of 2 trials" in text_of(body)


def test_scores_of_another_evaluator_and_its_crashes_are_shown(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(3)
    workspace_files.add_llm("a", {"Solve: 1": "4 first", "+": "4"})
    services = services_of(workspace_files.write())
    run_to_the_end(services)
    evaluator = workspace_files.folder / "evaluators" / "has_expected.py"
    evaluator.write_text(
        "def evaluate(response, parameters):\n"
        "    if response == '4':\n"
        "        raise RuntimeError('evaluator broke')\n"
        "    return 0.0, 'nothing'\n"
    )
    services.files.config().reload()
    state = run_to_the_end(services)
    head, body = text_of(run_head(state)), text_of(run_body(state, services.llms.name))
    assert "Finished: 2 stored responses not rescored" in head
    assert "1 response rescored, 1 score changed" in head
    assert "sum_001" in body
    assert "1.000 → 0.000" in body
    assert f"RuntimeError: evaluator broke ({evaluator}:3)" in body
    assert "(2 trials, first at sum_00" in body


def test_other_pages_see_the_results_of_a_run(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("one", "4")
    services = services_of(workspace_files.write())
    before = services.version()
    services.runs.start(Selection())
    services.runs.wait(PATIENCE_S)
    assert services.version() != before
    assert len(services.results.table()) == 2


def test_buttons_fit_what_the_run_does() -> None:
    assert offered(RunState()) == set()
    assert offered(RunState(phase=RunPhase.RUNNING)) == {"can-pause", "can-cancel"}
    assert offered(RunState(phase=RunPhase.PAUSED)) == {"can-resume", "can-cancel"}
    assert offered(RunState(phase=RunPhase.STOPPING)) == set()
    assert offered(RunState(phase=RunPhase.RUNNING, is_foreign=True)) == set()


def test_no_button_is_drawn_anew_with_what_it_stands_beside() -> None:
    state = RunState(phase=RunPhase.RUNNING, message="on")
    assert of_type(html.Div([*run_head(state), *run_body(state, str)]), "Button") == []


def test_progress_shows_every_llm_and_every_error() -> None:
    state = RunState(
        phase=RunPhase.RUNNING,
        run_id="r1",
        elapsed_s=10.0,
        llms=(
            LLMProgress(
                llm_id="a", n_items=4, phase=LLMPhase.RUNNING, n_scored=2, score_sum=1.0,
                tokens=100, busy_ms=500.0, active_s=10.0,
            ),
        ),
        errors=(RunError(llm_id="a", test_id="t", kind="timeout", message="<b>slow</b>"),),
    )  # fmt: skip
    shown = text_of(run_head(state)) + text_of(run_body(state, str.upper))
    for expected in ("2 / 4", "0.500", "200", "10 s", "<b>slow</b>", "first at t", "A"):
        assert expected in shown


def test_a_run_elsewhere_can_only_be_watched() -> None:
    state = RunState(phase=RunPhase.RUNNING, is_foreign=True, run_id="r1")
    assert "another process" in text_of(run_head(state))


def test_a_run_whose_llm_was_not_there_is_not_called_finished_alone() -> None:
    llm = LLMProgress(llm_id="a", n_items=3, n_scored=1, phase=LLMPhase.UNAVAILABLE)
    shown = text_of(run_head(RunState(phase=RunPhase.FINISHED, llms=(llm,))))
    assert "Finished: 2 trials failed to run" in shown


def test_the_header_shows_a_run_only_while_it_goes_on() -> None:
    assert run_status(RunState(phase=RunPhase.FINISHED)) is None
    llms = (LLMProgress(llm_id="a", n_items=1200, n_scored=3),)
    shown = run_status(RunState(phase=RunPhase.RUNNING, llms=llms))
    assert text_of(shown).strip() == "running 3 / 1,200"


@pytest.mark.parametrize(
    ("phase", "is_shown"), [(RunPhase.RUNNING, True), (RunPhase.FINISHED, False)]
)
def test_limits_that_a_run_searches_are_shown_while_it_goes_on(
    phase: RunPhase, is_shown: bool
) -> None:
    llms = (LLMProgress(llm_id="a", n_items=1200, limits="up to 8 at once, 20 requests/s"),)
    shown = text_of(run_body(RunState(phase=phase, llms=llms), str.upper))
    assert ("up to 8 at once, 20 requests/s" in shown) is is_shown


def test_buttons_steer_the_run(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(3)
    workspace_files.add_llm("one", "4", parameters={"latency_ms": 200})
    services = services_of(workspace_files.write())
    services.runs.start(Selection())
    callbacks.steer(services, Ids.PAUSE)
    callbacks.steer(services, Ids.RESUME)
    callbacks.steer(services, Ids.CANCEL)
    services.runs.wait(PATIENCE_S)
    assert services.runs.state().phase is RunPhase.CANCELLED


def test_who_starts_second_is_told_and_shown_the_run_of_the_first(
    workspace_files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(callbacks, "show_error", told.append)
    workspace_files.add_tests(3)
    workspace_files.add_llm("one", "4", parameters={"latency_ms": 60_000})
    services = services_of(workspace_files.write())
    callbacks.start(services, Selection())
    _, class_name, *_buttons = callbacks.start(services, Selection(tests=("sum_001",)))
    assert told == ["Another run is in progress. Wait, or cancel it."]
    assert "is-active" in class_name
    services.runs.cancel()
    services.runs.wait(PATIENCE_S)


def test_failures_are_listed_and_can_be_retried(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("one", "4")
    folder: Path = workspace_files.write()
    row = {"test_id": "sum_001", "score": 0.0, "details": "", "response": "[API ERROR] <b>no</b>"}
    write_results(folder, {"scripted:one": [row]})
    services = services_of(folder)
    table, _, head = callbacks.failures(services)
    assert "<b>no</b>" in text_of(table)
    assert "1 trial still pending" in text_of(head)
    assert "'<b>" not in callbacks.failures_csv(services).csv
    line = "scripted:one,scripted:one,older tool,sum_001,1,<b>no</b>"
    assert line in callbacks.failures_csv(services).csv
    services.runs.start(select_failed(services.results.failures(), services.files.workspace()))
    services.runs.wait(PATIENCE_S)
    assert services.results.failures() == []
    assert callbacks.failures(services) == (None, ABSENT, [])


def test_a_retry_asks_what_failed_and_nothing_else(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(3)
    for name in ("one", "two", "off"):
        workspace_files.add_llm(name, "4", enabled=name != "off")
    folder = workspace_files.write()
    failed = {"score": 0.0, "details": "", "response": "[API ERROR] no"}
    write_results(
        folder,
        {
            "scripted:one": [failed | {"test_id": "sum_001", "trial": 3}],
            "scripted:two": [failed | {"test_id": "sum_002"}, scored("sum_003", 1.0)],
            "scripted:off": [failed | {"test_id": "sum_001"}],
            "scripted:gone": [failed | {"test_id": "sum_001"}],
        },
    )
    services = services_of(folder)
    services.runs.start(select_failed(services.results.failures(), services.files.workspace()))
    services.runs.wait(PATIENCE_S)
    state = services.runs.state()
    assert {llm.llm_id: llm.n_scored for llm in state.llms} == {
        "scripted:one": 1,
        "scripted:two": 1,
    }
    assert {group.llm_id for group in services.results.failures()} == {
        "scripted:off",
        "scripted:gone",
    }
    with pytest.raises(ConfigError, match="these trials cannot"):
        select_failed(services.results.failures(), services.files.workspace())


def test_a_retry_asks_again_where_only_an_older_answer_has_a_score(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("one", "4")
    folder = workspace_files.write()
    write_results(folder, {"scripted:one": [scored("sum_001", 1.0)]})
    refused = Failure(kind=FailureKind.CONNECTION, message="refused")
    failed = Result(llm_id="scripted:one", test_id="sum_001", failure=refused)
    WorkspaceFolder(folder).store.add([failed], "20260103T000000-abcdef", {})
    services = services_of(folder)
    assert services.plans.preview(Selection()).n_items == 0
    assert len(services.results.failures()) == 1
    services.runs.start(select_failed(services.results.failures(), services.files.workspace()))
    services.runs.wait(PATIENCE_S)
    assert services.runs.state().n_done == 1
    assert services.results.failures() == []


def test_llms_that_are_not_enabled_are_marked(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_llm("off", "4", enabled=False)
    llms, _, _ = callbacks.options(services_of(workspace_files.write()), RunUrl())
    assert llms == [{"value": "scripted:off", "label": "scripted:off (disabled)"}]


def test_runs_of_other_kinds_are_shown_while_they_are_running(tmp_path: Path) -> None:
    folder = write_workspace(tmp_path)
    (folder / "tests.json").write_text('{"version": "1.0", "tests": []}')
    (folder / "test_classes.yaml").write_text("version: '1.0'\ntest_classes: []\n")
    services = services_of(folder)
    assert callbacks.others(services)[0] is None
    before = services.running.version()
    header = header_of("20261122T010000-aa", agent_id="bikes", judges=("j",), n_cases=1)
    with JudgementStore(folder).writing(header) as writer:
        writer.add_conversation(conversation_of("hello", "Hi", "Hello"))
        body, _, head = callbacks.others(services)
        assert "1 run" in text_of(head)
        assert "judged run bikes 20261122T010000-aa 1 of 2" in text_of(body)
        assert [bar.value for bar in of_type(body, "Progress")] == [50]
        assert services.running.version() != before
    assert callbacks.others(services)[0] is None


def test_a_plan_without_requests_takes_no_time() -> None:
    llm = LLMPreview(llm_id="a", n_items=0, n_failed=0, n_rescored=3, seconds=None, cost_usd=0.0)
    shown = text_of(show_plan(RunPreview(llms=(llm,), seconds=None, cost_usd=0.0), str))
    assert "Estimated time - no requests" in shown
    assert "3 responses to rescore" in shown
