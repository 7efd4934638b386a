from __future__ import annotations

import json
from typing import Any

import pytest

from poor_bench.errors import ConfigError
from poor_bench.models.failure import FailureKind
from poor_bench.pool.control import RunControl
from poor_bench.pool.events import LLMUnavailable, ModelNotPreloaded
from poor_bench.pool.queues import MOST_LOST_IN_A_ROW
from poor_bench.rescoring import Rescoring
from poor_bench.runner.events import RunEvent, TrialFinished, TrialRescored
from poor_bench.runner.selection import Selection
from tests.conftest import WorkspaceFiles
from tests.providers.servers.fake_server import serving
from tests.providers.test_ollama_proxies import openai_proxy, proxy_plus
from tests.runner.running import RecordingListener, open_runner, run_all


def test_everything_pending_runs_once_and_then_nothing_is(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(10)
    workspace_files.add_llm("a", "4")
    workspace_files.add_llm("b", {"/[13579] [+]/": "4", "+": "no idea"})
    folder = workspace_files.write()
    finished = run_all(folder)
    assert (finished.n_scored, finished.n_failed, finished.n_skipped) == (20, 0, 0)
    assert open_runner(folder).plan().is_empty
    scores = [result.score for result in open_runner(folder).config.load_results()]
    assert sum(score or 0 for score in scores) == 15


def test_only_what_was_added_runs_again(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(3)
    workspace_files.add_llm("a", "4")
    run_all(workspace_files.write())
    workspace_files.add_tests(2)
    workspace_files.add_llm("b", "4")
    plan = open_runner(workspace_files.write()).plan()
    assert {work.llm.id: len(work) for work in plan.works} == {"scripted:a": 2, "scripted:b": 5}


def test_changed_prompt_or_parameters_are_asked_again(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(3)
    workspace_files.add_llm("a", "4")
    run_all(workspace_files.write())
    workspace_files.tests[0]["text"] = "another question"
    assert open_runner(workspace_files.write()).plan().n_items == 1
    workspace_files.llms[0]["parameters"]["temperature"] = 0.5
    assert open_runner(workspace_files.write()).plan().n_items == 3


def test_changed_evaluator_scores_stored_responses_without_asking(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(3)
    workspace_files.add_llm("a", "4")
    run_all(workspace_files.write())
    workspace_files.classes[0]["evaluation_module"]["parameters"] = {"expected": "5"}
    folder = workspace_files.write()
    plan = open_runner(folder).plan()
    assert (plan.n_items, plan.n_stale_scores) == (0, 3)
    listener = RecordingListener()
    run_all(folder, listener)
    assert [event.old_score for event in listener.of_kind(TrialRescored)] == [1.0, 1.0, 1.0]
    assert {result.score for result in open_runner(folder).config.load_results()} == {0.0}
    assert open_runner(folder).plan().is_empty


def test_trials_are_numbered_and_only_missing_ones_run(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("a", "4")
    folder = workspace_files.write()
    assert run_all(folder).n_scored == 2
    assert run_all(folder, trials=3).n_scored == 4
    trials = sorted(result.trial for result in open_runner(folder).config.load_results())
    assert trials == [1, 1, 2, 2, 3, 3]


def test_force_asks_again_and_keeps_one_row_per_trial(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("a", "4")
    folder = workspace_files.write()
    run_all(folder)
    assert run_all(folder, force=True).n_scored == 2
    assert len(open_runner(folder).config.load_results()) == 2
    assert len(open_runner(folder).config.store.paths.runs()) == 2


def test_failure_is_no_score_and_stays_pending(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(2)
    failing = {"1 + 1": {"failure": "bad_request", "message": "no such thing"}, "2 + 2": "4"}
    workspace_files.add_llm("a", failing)
    folder = workspace_files.write()
    finished = run_all(folder)
    assert (finished.n_scored, finished.n_failed) == (1, 1)
    failed, scored = sorted(open_runner(folder).config.load_results(), key=lambda r: r.test_id)
    assert failed.score is None
    assert failed.failure is not None
    assert failed.failure.kind is FailureKind.BAD_REQUEST
    assert scored.score == 1.0
    assert open_runner(folder).plan().n_items == 1


def test_evaluator_that_raises_is_our_failure_and_needs_no_second_answer(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("a", "boom 4")
    folder = workspace_files.write()
    assert run_all(folder).n_failed == 1
    [result] = open_runner(folder).config.load_results()
    assert result.score is None
    assert result.failure is not None
    assert result.failure.kind is FailureKind.EVALUATOR
    assert "evaluator broke" in result.failure.message
    assert result.response == "boom 4"
    evaluator = folder / "evaluators" / "has_expected.py"
    evaluator.write_text(evaluator.read_text().replace("'boom' in", "'never' in"))
    plan = open_runner(folder).plan()
    assert (plan.n_items, plan.n_stale_scores) == (0, 1)
    run_all(folder)
    assert [result.score for result in open_runner(folder).config.load_results()] == [1.0]


def test_wrong_key_is_told_once_and_the_rest_stays_pending(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(50)
    workspace_files.add_llm("bad", {"+": {"failure": "auth", "message": "wrong key"}})
    workspace_files.add_llm("good", "4")
    folder = workspace_files.write()
    listener = RecordingListener()
    finished = run_all(folder, listener)
    [event] = listener.of_kind(LLMUnavailable)
    assert (event.llm_id, event.failure.message) == ("scripted:bad", "wrong key")
    assert (finished.n_scored, finished.n_failed) == (50, 1)
    assert finished.n_skipped == event.n_skipped == 49
    assert open_runner(folder).plan().n_items == 50


def test_dead_endpoint_is_given_up_after_a_few_tries(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(50)
    workspace_files.add_llm("dead", {"+": {"failure": "connection", "message": "refused"}})
    listener = RecordingListener()
    finished = run_all(workspace_files.write(), listener)
    assert len(listener.of_kind(LLMUnavailable)) == 1
    assert len(listener.of_kind(TrialFinished)) == 1
    assert finished.n_skipped == 49


@pytest.mark.parametrize("kind", ["rate_limited", "server_error", "timeout"])
def test_endpoint_that_never_answers_is_given_up_after_some_trials(
    workspace_files: WorkspaceFiles, kind: str
) -> None:
    workspace_files.add_tests(50)
    workspace_files.add_llm("dead", {"+": {"failure": kind}}, concurrency=1)
    listener = RecordingListener()
    finished = run_all(workspace_files.write(), listener)
    assert len(listener.of_kind(LLMUnavailable)) == 1
    assert finished.n_failed == MOST_LOST_IN_A_ROW
    assert finished.n_skipped == 50 - MOST_LOST_IN_A_ROW


def test_llm_that_refuses_all_requests_in_the_same_words_is_given_up(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(50)
    refusal = {"failure": "bad_request", "message": "unsupported parameter: top_a"}
    workspace_files.add_llm("strict", {"+": refusal}, concurrency=1)
    listener = RecordingListener()
    finished = run_all(workspace_files.write(), listener)
    [event] = listener.of_kind(LLMUnavailable)
    assert event.failure.message == "unsupported parameter: top_a"
    assert finished.n_failed == MOST_LOST_IN_A_ROW + 1
    assert finished.n_skipped == 50 - finished.n_failed


def test_llm_that_refuses_each_request_in_other_words_is_asked_on(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(20)
    refusals = {
        f"{number} +": {"failure": "bad_request", "message": f"not {number}"}
        for number in range(20, 0, -1)
    }
    workspace_files.add_llm("picky", refusals, concurrency=1)
    finished = run_all(workspace_files.write())
    assert (finished.n_failed, finished.n_skipped) == (20, 0)


def test_endpoint_that_answers_now_and_then_is_not_given_up(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(60)
    workspace_files.add_llm(
        "flaky", {"right": "4", "lost": {"failure": "server_error"}}, concurrency=1
    )
    for number, test in enumerate(workspace_files.tests):
        test["text"] = "right" if number % 2 == 0 else "lost"
    finished = run_all(workspace_files.write())
    assert (finished.n_scored, finished.n_failed, finished.n_skipped) == (30, 30, 0)


def test_answer_that_is_cut_off_is_no_wrong_answer(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    cut = {"text": "<think>hmm", "finish_reason": "length"}
    workspace_files.add_llm("a", [cut])
    folder = workspace_files.write()
    run_all(folder)
    [result] = open_runner(folder).config.load_results()
    assert result.marks == ("truncated", "no_answer", "unclosed_thinking")
    assert result.details == "No answer: truncated at the token limit while still thinking."


def test_thinking_never_reaches_the_evaluator(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("a", "<think>maybe 4</think>It is five.")
    folder = workspace_files.write()
    run_all(folder)
    [result] = open_runner(folder).config.load_results()
    assert result.score == 0.0
    assert result.response == "<think>maybe 4</think>It is five."


def test_cancelling_keeps_what_is_finished(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(40)
    workspace_files.add_llm("a", "4")
    folder = workspace_files.write()
    control = RunControl()
    n_seen = 0

    def cancel_at_ten(event: RunEvent) -> None:
        nonlocal n_seen
        n_seen += isinstance(event, TrialFinished)
        if n_seen == 10:
            control.cancel()

    finished = run_all(folder, cancel_at_ten, control)
    assert finished.cancelled
    assert 10 <= finished.n_scored < 40
    assert len(open_runner(folder).config.load_results()) == finished.n_scored
    assert open_runner(folder).plan().n_items == 40 - finished.n_scored


def test_paused_run_starts_nothing_until_it_is_resumed(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(5)
    workspace_files.add_llm("a", "4")
    folder = workspace_files.write()
    control = RunControl()
    control.pause()
    listener = RecordingListener()

    def resume_at_start(event: RunEvent) -> None:
        listener(event)
        if type(event).__name__ == "RunStarted":
            assert control.is_paused()
            assert not listener.of_kind(TrialFinished)
            control.resume()

    assert run_all(folder, resume_at_start, control).n_scored == 5


def test_single_test_runs_whatever_is_stored(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("a", ["no", "4"])
    runner = open_runner(workspace_files.write())
    assert runner.run_test("sum_001", "scripted:a").score == 0.0
    assert runner.run_test("sum_001", "scripted:a").score == 1.0
    assert [result.score for result in runner.config.load_results()] == [1.0]
    with pytest.raises(ConfigError, match="unknown test 'sum_9'"):
        runner.run_test("sum_9", "scripted:a")


def test_filters_choose_and_unknown_names_are_errors(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(10)
    workspace_files.add_tests(2, tags=["quick"])
    workspace_files.add_llm("a", "4")
    workspace_files.add_llm("b", "4", enabled=False)
    runner = open_runner(workspace_files.write())
    assert runner.plan(Selection(levels=frozenset({2, 3}))).n_items == 6
    assert runner.plan(Selection(tags=("quick",))).n_items == 2
    assert runner.plan(Selection(tests=("sum_00*",))).n_items == 9
    assert runner.plan(Selection(llms=("scripted:b",))).n_items == 12
    assert runner.plan(Selection(llms=("scripted:*",))).n_items == 12
    with pytest.raises(ConfigError) as raised:
        runner.plan(Selection(classes=("sum",)))
    assert "sums" in raised.value.hint


def test_results_of_the_run_tell_all_that_is_known(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    reply = {"text": "4", "prompt_tokens": 12, "completion_tokens": 3, "thinking": "two and two"}
    workspace_files.add_llm(
        "a", [reply], base_system_prompt="Be brief.", prices={"input": 1, "output": 2}
    )
    folder = workspace_files.write()
    run_all(folder)
    document = json.loads((folder / "results.json").read_text())
    [row] = document["results"]["scripted:a"]
    assert row["prompt"] == "Solve: 1 + 1"
    assert row["system_prompt"] == "Be brief."
    assert row["thinking"] == "two and two"
    assert row["cost_usd"] == pytest.approx(18e-6)
    assert row["timestamp"].startswith("2026-01-02")
    assert len(row["request_fingerprint"]) == len(row["evaluator_fingerprint"]) == 16


def test_settings_that_cannot_be_used_cost_only_their_llm(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(3)
    workspace_files.add_llm("broken", "4")
    workspace_files.llms[0]["parameters"] = {"script": "missing.yaml"}
    workspace_files.add_llm("good", "4")
    listener = RecordingListener()
    finished = run_all(workspace_files.write(), listener)
    [event] = listener.of_kind(LLMUnavailable)
    assert event.failure.kind is FailureKind.SETTINGS
    assert "missing.yaml" in event.failure.message
    assert (finished.n_scored, finished.n_skipped) == (3, 3)


def test_error_of_the_listener_stops_the_run_and_is_raised(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(10)
    workspace_files.add_llm("a", "4")
    folder = workspace_files.write()

    def fail_at_first_result(event: RunEvent) -> None:
        if isinstance(event, TrialFinished):
            raise RuntimeError("the screen is gone")

    with pytest.raises(RuntimeError, match="the screen is gone"):
        run_all(folder, fail_at_first_result)
    assert open_runner(folder).config.load_results()


def test_nothing_to_run_is_an_error_that_says_why(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(3)
    workspace_files.add_llm("a", "4", enabled=False)
    with pytest.raises(ConfigError, match="no model is enabled"):
        open_runner(workspace_files.write()).plan()


def test_transport_errors_of_older_tools_are_never_scored(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("a", "4")
    folder = workspace_files.write()
    rows = [
        {"test_id": "sum_001", "score": 0.0, "response": "[API ERROR] 500"},
        {"test_id": "sum_002", "score": 0.0, "response": "4"},
    ]
    stored = {"version": "1.0", "results": {"scripted:a": rows}}
    (folder / "results.json").write_text(json.dumps(stored))
    runner = open_runner(folder)
    [rescored] = Rescoring(runner).rescore(Rescoring(runner).plan(Selection()))
    assert (rescored.old.test_id, rescored.new and rescored.new.score) == ("sum_002", 1.0)
    assert runner.plan().n_items == 1


@pytest.mark.parametrize("proxy", [proxy_plus, openai_proxy])
def test_an_llm_whose_server_refuses_to_preload_is_asked_all_the_same(
    workspace_files: WorkspaceFiles, proxy: Any
) -> None:
    workspace_files.add_tests(3)
    listener = RecordingListener()
    with serving(proxy) as server:
        llm = {"provider": "ollama", "name": "local/m", "endpoint": server.url}
        workspace_files.llms.append(llm)
        finished = run_all(workspace_files.write(), listener)
    assert (finished.n_scored, finished.n_failed, finished.n_skipped) == (3, 0, 0)
    [told] = listener.of_kind(ModelNotPreloaded)
    assert "messages" in told.failure.message
    assert not listener.of_kind(LLMUnavailable)
