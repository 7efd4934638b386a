from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from poor_bench.calls.budget import Budget
from poor_bench.errors import ConfigError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import ChatRequest, Completion, Timing
from poor_bench.models.failure import WAITS_FOR_JUDGE, FailureKind
from poor_bench.models.result import Result
from poor_bench.pool.control import RunControl
from poor_bench.pool.events import LLMFinished
from poor_bench.ports import CallControl
from poor_bench.rescoring import Rescoring
from poor_bench.runner.events import (
    JudgeUnavailable,
    JudgingStarted,
    RunEvent,
    TrialAnswered,
    TrialFinished,
    TrialRescored,
)
from poor_bench.runner.rescore import Rescored
from poor_bench.runner.selection import Selection
from poor_bench.workspace_folder import WorkspaceFolder
from poor_bench.workspace_runner import WorkspaceRunner
from tests.conftest import WorkspaceFiles
from tests.providers.fake_clock import FakeClock
from tests.providers.idle_provider import IdleProvider
from tests.providers.servers import ollama_format
from tests.providers.servers.fake_server import Answer, Request, serving
from tests.runner.running import RecordingListener, open_runner, run_all

JUDGE = "scripted:judge"


def verdict(score: float, **more: Any) -> str:
    scores = dict.fromkeys(("correctness", "completeness", "clarity"), score)
    case = {"case": 1, "feedback": "so it is", "score": score, "passed": score >= 5}
    return json.dumps({"scores": scores, "test_case_evaluations": [case], **more})


def judged_workspace(
    files: WorkspaceFiles, replies: Any, n_tests: int = 2, **parameters: Any
) -> Path:
    files.classes[0]["evaluation_module"] = {
        "name": "llm_judge_evaluator",
        "parameters": {"judge": JUDGE} | parameters,
    }
    if not files.tests:
        files.add_tests(n_tests)
    files.llms = []
    files.add_llm("a", "a poem")
    files.add_llm("judge", replies, enabled=False)
    return files.write()


def stored(folder: Path) -> list[Result]:
    return open_runner(folder).config.load_results()


def test_responses_are_judged_after_the_llms_are_done(workspace_files: WorkspaceFiles) -> None:
    folder = judged_workspace(workspace_files, verdict(7))
    listener = RecordingListener()
    finished = run_all(folder, listener)
    assert (finished.n_scored, finished.n_failed, finished.n_skipped) == (2, 0, 0)
    kinds = [type(event) for event in listener.events]
    assert kinds.count(TrialAnswered) == 2
    assert kinds.index(LLMFinished) < kinds.index(JudgingStarted) < kinds.index(TrialFinished)
    assert {result.score for result in stored(folder)} == {0.7}
    assert open_runner(folder).plan().is_empty


def test_a_run_counts_the_cost_of_each_answer_and_each_judgement_once(
    workspace_files: WorkspaceFiles,
) -> None:
    prices = {"prices": {"input": 1.0, "output": 1.0}}
    reply = {"prompt_tokens": 1_000_000, "completion_tokens": 0}
    judged_workspace(workspace_files, [{"text": verdict(7), **reply}])
    workspace_files.llms = []
    workspace_files.add_llm("a", [{"text": "a poem", **reply}], **prices)
    workspace_files.add_llm("judge", [{"text": verdict(7), **reply}], enabled=False, **prices)
    assert run_all(folder := workspace_files.write()).cost_usd == pytest.approx(4.0)
    workspace_files.llms = [entry | {"prices": {}} for entry in workspace_files.llms]
    workspace_files.write()
    assert run_all(folder, force=True).cost_usd is None


def test_judgement_stands_beside_the_score(workspace_files: WorkspaceFiles) -> None:
    run_all(folder := judged_workspace(workspace_files, verdict(7), n_tests=1))
    (result,) = stored(folder)
    assert result.judgement is not None
    assert result.judgement["judge"] == JUDGE
    (sample,) = result.judgement["samples"]
    assert sample["overall_score"] == 7.0
    assert sample["attempts"] == 1
    assert "so it is" in result.details


def test_a_broken_judge_leaves_response_and_test_pending(workspace_files: WorkspaceFiles) -> None:
    folder = judged_workspace(workspace_files, "I would rather not say.")
    finished = run_all(folder)
    assert (finished.n_scored, finished.n_failed) == (0, 2)
    for result in stored(folder):
        assert result.score is None
        assert result.response == "a poem"
        assert result.failure is not None
        assert result.failure.kind is FailureKind.JUDGE
        assert result.judgement is not None
        assert result.judgement["samples"][0]["is_fallback"]


def test_the_next_run_judges_without_asking_the_llm_again(workspace_files: WorkspaceFiles) -> None:
    run_all(judged_workspace(workspace_files, "no"))
    folder = judged_workspace(workspace_files, verdict(4))
    plan = open_runner(folder).plan()
    assert (plan.n_items, plan.n_stale_scores) == (0, 2)
    listener = RecordingListener()
    finished = run_all(folder, listener)
    assert (finished.n_scored, finished.n_failed, finished.n_skipped) == (0, 0, 0)
    assert [event.result.score for event in listener.of_kind(TrialRescored)] == [0.4, 0.4]
    assert {result.score for result in stored(folder)} == {0.4}


def test_a_judge_that_is_still_broken_is_no_success(workspace_files: WorkspaceFiles) -> None:
    run_all(judged_workspace(workspace_files, "no"))
    listener = RecordingListener()
    finished = run_all(judged_workspace(workspace_files, "never"), listener)
    assert (finished.n_skipped, finished.n_not_rescored) == (0, 2)
    assert all(event.result.failure for event in listener.of_kind(TrialRescored))
    assert len(listener.of_kind(TrialRescored)) == 2


def test_a_score_stays_where_a_changed_judge_is_broken(workspace_files: WorkspaceFiles) -> None:
    run_all(judged_workspace(workspace_files, verdict(7)))
    finished = run_all(judged_workspace(workspace_files, "never", samples=2))
    assert (finished.n_skipped, finished.n_not_rescored) == (0, 2)
    kept = [result.score for result in stored(workspace_files.folder) if result.failure is None]
    assert kept == [0.7, 0.7]


def test_a_judge_that_cannot_be_asked_is_given_up(workspace_files: WorkspaceFiles) -> None:
    refusal = [{"failure": "auth", "message": "no key"}]
    folder = judged_workspace(workspace_files, refusal, n_tests=10)
    listener = RecordingListener()
    finished = run_all(folder, listener)
    (event,) = listener.of_kind(JudgeUnavailable)
    assert event.judge_id == JUDGE
    assert event.n_skipped > 0
    assert finished.n_scored == 0
    assert finished.n_failed + finished.n_skipped == 10
    assert {result.response for result in stored(folder)} == {"a poem"}


def test_a_run_stopped_before_judging_keeps_the_responses(workspace_files: WorkspaceFiles) -> None:
    folder = judged_workspace(workspace_files, verdict(7))
    control = RunControl()

    def stop_at_end_of_llm(event: RunEvent) -> None:
        if isinstance(event, LLMFinished):
            control.cancel()

    runner = open_runner(folder)
    finished = runner.run(runner.plan(), stop_at_end_of_llm, control)
    assert (finished.n_scored, finished.n_skipped) == (0, 2)
    assert [result.failure for result in stored(folder)] == [WAITS_FOR_JUDGE] * 2
    assert open_runner(folder).plan().n_stale_scores == 2


@pytest.mark.parametrize(
    "change",
    [{"rubric": "### 1. ONE (100%)"}, {"criteria": ["rhymes"]}, {"samples": 2}],
    ids=["rubric", "criteria", "samples"],
)
def test_a_changed_question_is_judged_again(
    workspace_files: WorkspaceFiles, change: dict[str, Any]
) -> None:
    run_all(judged_workspace(workspace_files, verdict(7)))
    plan = open_runner(judged_workspace(workspace_files, verdict(7), **change)).plan()
    assert (plan.n_items, plan.n_stale_scores) == (0, 2)


def test_a_changed_file_of_a_rubric_is_judged_again(workspace_files: WorkspaceFiles) -> None:
    rubric = workspace_files.write() / "poems.md"
    rubric.write_text("### 1. RHYME (100%)\nIt rhymes.")
    run_all(folder := judged_workspace(workspace_files, '{"rhyme": 9}', rubric="poems.md"))
    assert {result.score for result in stored(folder)} == {0.9}
    assert open_runner(folder).plan().is_empty
    rubric.write_text("### 1. RHYME (100%)\nIt rhymes well.")
    assert open_runner(folder).plan().n_stale_scores == 2


def test_a_broken_rubric_is_told_before_anybody_is_asked(workspace_files: WorkspaceFiles) -> None:
    folder = judged_workspace(workspace_files, verdict(7), rubric="### 1. RHYME\nIt rhymes.")
    with pytest.raises(ConfigError, match=r":1.*no weight"):
        run_all(folder)
    assert stored(folder) == []


def test_a_judge_without_its_key_is_told_before_anybody_is_asked(
    workspace_files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    judged_workspace(workspace_files, "unused")
    workspace_files.classes[0]["evaluation_module"]["parameters"] = {}
    with pytest.raises(ConfigError, match="ANTHROPIC_API_KEY"):
        run_all(folder := workspace_files.write())
    assert stored(folder) == []


def test_an_empty_response_scores_zero_without_a_judge(workspace_files: WorkspaceFiles) -> None:
    folder = judged_workspace(workspace_files, "never asked")
    workspace_files.llms[0]["parameters"]["responses"] = "  "
    finished = run_all(workspace_files.write())
    assert finished.n_scored == 2
    assert {result.score for result in stored(folder)} == {0.0}


def test_mean_of_samples_counts_and_spread_is_told(workspace_files: WorkspaceFiles) -> None:
    replies = [verdict(4), verdict(8)]
    run_all(folder := judged_workspace(workspace_files, replies, n_tests=1, samples=2))
    (result,) = stored(folder)
    assert result.score == pytest.approx(0.6)
    assert "spread over the samples: 4.0" in result.details


def test_self_judging_is_flagged(workspace_files: WorkspaceFiles) -> None:
    judged_workspace(workspace_files, "unused", n_tests=1)
    workspace_files.classes[0]["evaluation_module"]["parameters"] = {"judge": "same"}
    workspace_files.llms = []
    workspace_files.add_llm("m", {"Your answer": verdict(9), "+": "a poem"})
    workspace_files.add_llm("m", {"Your answer": verdict(9)}, id="same", enabled=False)
    run_all(folder := workspace_files.write())
    (result,) = stored(folder)
    assert "self-judging" in result.details


def test_an_evaluator_of_evaluators_hands_the_judge_on(workspace_files: WorkspaceFiles) -> None:
    parts = [
        {"name": "llm_judge_evaluator", "parameters": {"judge": JUDGE}},
        {"name": "contains", "parameters": {"all": ["poem"]}},
    ]
    folder = judged_workspace(workspace_files, verdict(7), n_tests=1)
    workspace_files.classes[0]["evaluation_module"] = {
        "name": "all_of",
        "parameters": {"evaluators": parts},
    }
    run_all(workspace_files.write())
    (result,) = stored(folder)
    assert result.score == pytest.approx(0.7)
    assert result.judgement is not None


def test_one_test_is_judged_at_once(workspace_files: WorkspaceFiles) -> None:
    runner = open_runner(judged_workspace(workspace_files, verdict(7)))
    assert runner.run_test("sum_001", "scripted:a").score == 0.7


def rescored(folder: Path) -> list[Rescored]:
    runner = open_runner(folder)
    return list(Rescoring(runner).rescore(Rescoring(runner).plan(Selection())))


def test_rescoring_judges_only_what_is_out_of_date(workspace_files: WorkspaceFiles) -> None:
    folder = judged_workspace(workspace_files, verdict(7))
    run_all(folder)
    assert rescored(folder) == []
    folder = judged_workspace(workspace_files, verdict(3), criteria=["is short"])
    workspace_files.llms[1]["parameters"]["responses"] = '{"is_short": 3}'
    again = rescored(workspace_files.write())
    assert [item.new.score for item in again if item.new] == [0.3, 0.3]


def test_one_model_at_a_time_is_in_memory(workspace_files: WorkspaceFiles) -> None:
    def respond(request: Request) -> Answer:
        if request.path != "/api/chat":
            return ollama_format.ollama()(request)
        is_judge = request.body["model"] == "judge"
        return ollama_format.whole(verdict(7) if is_judge else "a poem")

    with serving(respond) as server:
        judged_workspace(workspace_files, "unused", judge="ollama:judge")
        workspace_files.llms = [
            {"provider": "ollama", "name": name, "endpoint": server.url, "enabled": name == "poet"}
            for name in ("poet", "judge")
        ]
        run_all(workspace_files.write())
        asked = [
            (each.body["model"], each.body.get("keep_alive")) for each in server.asked("/api/chat")
        ]
    freed = asked.index(("poet", 0))
    assert {model for model, _ in asked[:freed]} == {"poet"}
    assert {model for model, _ in asked[freed + 1 :]} == {"judge"}


def test_judges_and_llms_spend_from_one_budget(workspace_files: WorkspaceFiles) -> None:
    reply = {"text": verdict(7), "prompt_tokens": 1, "completion_tokens": 100}
    judged_workspace(workspace_files, [reply], n_tests=5)
    workspace_files.llms[1] |= {"prices": {"input": 0, "output": 1000}}
    workspace_files.llms[1]["parameters"]["max_tokens"] = 100
    folder = workspace_files.write()
    manager = LLMManager(folder, clock=FakeClock(), budget=Budget(0.35))
    runner = WorkspaceRunner(WorkspaceFolder(folder), manager)
    finished = runner.run(runner.plan())
    assert (finished.n_scored, finished.n_failed, finished.n_skipped) == (3, 0, 2)
    assert manager.budget is not None
    assert manager.budget.is_reached
    assert sum(result.failure == WAITS_FOR_JUDGE for result in stored(folder)) == 2


def test_the_estimate_counts_llms_and_judges(workspace_files: WorkspaceFiles) -> None:
    judged_workspace(workspace_files, "unused", n_tests=2, samples=3)
    workspace_files.llms[1] |= {"prices": {"input": 0, "output": 1000}}
    runner = open_runner(workspace_files.write())
    estimate = runner.estimate_cost(runner.plan())
    assert estimate.usd == pytest.approx(2 * 3 * 0.5)
    assert [llm.id for llm in estimate.unpriced] == ["scripted:a"]


class MeetingProvider(IdleProvider):
    """Answers only when two are asked at once."""

    def __init__(self) -> None:
        self.both = threading.Barrier(2, timeout=20.0)

    def complete(self, _request: ChatRequest, _control: CallControl) -> Completion:
        self.both.wait()
        return Completion(text='{"scores": {"is_short": 3}}', timing=Timing(total_ms=1.0))


def test_rescoring_asks_a_judge_as_much_at_once_as_it_takes(
    workspace_files: WorkspaceFiles,
) -> None:
    run_all(judged_workspace(workspace_files, verdict(7), n_tests=4))
    folder = judged_workspace(workspace_files, "unused", criteria=["is short"])
    workspace_files.llms[1]["concurrency"] = 2
    workspace_files.write()
    provider: Any = MeetingProvider()
    manager = LLMManager(folder, create=lambda _llm, _services: provider)
    runner = WorkspaceRunner(WorkspaceFolder(folder), manager)
    again = list(Rescoring(runner).rescore(Rescoring(runner).plan(Selection())))
    assert [item.new.score for item in again if item.new] == [0.3] * 4
