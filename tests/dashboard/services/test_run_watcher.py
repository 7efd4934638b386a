from __future__ import annotations

from poor_bench.dashboard.services.run_state import LLMPhase, RunPhase
from poor_bench.dashboard.services.run_watcher import RunWatcher
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.pool.events import (
    LimitChanged,
    LLMFinished,
    LLMUnavailable,
    ModelLoaded,
    ModelLoading,
)
from poor_bench.runner.events import (
    JudgeUnavailable,
    JudgingStarted,
    RunFinished,
    RunStarted,
    TrialAnswered,
    TrialFinished,
    TrialRescored,
)

FAILURE = Failure(kind=FailureKind.TIMEOUT, message="too slow")


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def phase_of(watcher: RunWatcher, llm_id: str) -> LLMPhase:
    return next(llm.phase for llm in watcher.state().llms if llm.llm_id == llm_id)


def started(clock: Clock) -> RunWatcher:
    watcher = RunWatcher(clock)
    watcher(RunStarted(run_id="r", n_items=5, n_by_llm={"a": 4, "b": 1}))
    return watcher


def scored(test_id: str, score: float, llm_id: str = "a") -> TrialFinished:
    result = Result(
        llm_id=llm_id,
        test_id=test_id,
        score=score,
        execution_time_ms=1000,
        completion_tokens=50,
        decode_ms=500,
    )
    return TrialFinished(result=result)


def test_figures_are_counted_per_llm() -> None:
    watcher = started(Clock())
    watcher(scored("t1", 1.0))
    watcher(scored("t2", 0.0))
    watcher(TrialFinished(result=Result(llm_id="a", test_id="t3", failure=FAILURE)))
    a, b = watcher.state().llms
    assert (a.n_done, a.n_failed, a.score, a.tokens_per_s) == (3, 1, 0.5, 50.0)
    assert (b.n_done, b.score, b.tokens_per_s, b.phase) == (0, None, None, LLMPhase.WAITING)


def test_the_time_left_follows_from_the_pace() -> None:
    clock = Clock()
    watcher = started(clock)
    clock.now += 1
    watcher(scored("t1", 1.0))
    clock.now += 1
    watcher(scored("t2", 1.0))
    state = watcher.state()
    assert state.llms[0].seconds_left == 2.0
    assert state.elapsed_s == 2.0
    assert state.seconds_left == 3.0


def test_the_limits_that_a_run_searches_are_those_of_the_newest_change() -> None:
    watcher = started(Clock())
    for llm_id, at_once in (("a", 4), ("a", 8), ("a judge", 2)):
        watcher(LimitChanged(llm_id=llm_id, at_once=at_once, per_second=20.0))
    assert [llm.limits for llm in watcher.state().llms] == ["up to 8 at once, 20 requests/s", ""]


def test_phases_follow_the_events() -> None:
    watcher = started(Clock())
    watcher(ModelLoading(llm_id="a"))
    assert watcher.state().llms[0].phase is LLMPhase.LOADING
    watcher(ModelLoaded(llm_id="a", load_ms=3.0))
    assert watcher.state().llms[0].phase is LLMPhase.RUNNING
    watcher(LLMFinished(llm_id="a"))
    assert watcher.state().llms[0].phase is LLMPhase.FINISHED


def test_an_llm_that_cannot_be_asked_stays_marked_at_its_end() -> None:
    watcher = started(Clock())
    watcher(LLMUnavailable(llm_id="a", failure=FAILURE, hint="", n_skipped=4))
    watcher(LLMFinished(llm_id="a"))
    state = watcher.state()
    assert state.llms[0].phase is LLMPhase.UNAVAILABLE
    assert state.llms[0].seconds_left == 0.0
    assert state.errors[0].n_times == 4


def test_the_same_error_is_kept_once_with_its_number() -> None:
    watcher = started(Clock())
    for number in range(3):
        result = Result(llm_id="a", test_id=f"t{number}", failure=FAILURE)
        watcher(TrialFinished(result=result))
    [error] = watcher.state().errors
    assert (error.n_times, error.test_id, error.message) == (3, "t0", "too slow")


def test_errors_are_bounded() -> None:
    watcher = started(Clock())
    for number in range(300):
        failure = Failure(kind=FailureKind.TIMEOUT, message=f"message {number}")
        watcher(TrialFinished(result=Result(llm_id="a", test_id="t", failure=failure)))
    errors = watcher.state().errors
    assert len(errors) == 100
    assert errors[-1].message == "message 299"


def test_rescored_responses_are_counted() -> None:
    watcher = started(Clock())
    for old_score in None, 0.5:
        result = Result(llm_id="a", test_id="t", score=1.0)
        watcher(TrialRescored(result=result, old_score=old_score))
    assert (watcher.state().n_rescored, watcher.state().n_first_scored) == (1, 1)


def test_responses_that_could_not_be_judged_again_are_errors() -> None:
    watcher = started(Clock())
    failure = Failure(kind=FailureKind.JUDGE, message="no JSON")
    result = Result(llm_id="gone", test_id="t", failure=failure)
    watcher(TrialRescored(result=result, old_score=0.5))
    assert watcher.state().n_rescored == 0
    assert [error.message for error in watcher.state().errors] == ["no JSON"]


def test_llms_whose_responses_wait_are_shown_as_being_judged() -> None:
    watcher = started(Clock())
    watcher(TrialAnswered(llm_id="a", test_id="t"))
    assert phase_of(watcher, "a") is LLMPhase.RUNNING
    watcher(LLMFinished(llm_id="a"))
    watcher(JudgingStarted(judge_id="judge", n_items=2))
    watcher(TrialFinished(result=Result(llm_id="a", test_id="t", score=1.0)))
    assert phase_of(watcher, "a") is LLMPhase.JUDGING
    watcher(RunFinished(run_id="r", n_scored=1, n_failed=0, n_skipped=0, cancelled=False))
    assert phase_of(watcher, "a") is LLMPhase.FINISHED


def test_a_judge_that_cannot_be_asked_is_an_error() -> None:
    watcher = started(Clock())
    failure = Failure(kind=FailureKind.AUTH, message="no key")
    watcher(JudgeUnavailable(judge_id="judge", failure=failure, hint="", n_skipped=3))
    (error,) = watcher.state().errors
    assert (error.llm_id, error.message, error.n_times) == ("judge", "no key", 3)


def test_time_stands_still_after_the_end() -> None:
    clock = Clock()
    watcher = started(clock)
    watcher.end(RunPhase.FINISHED, "")
    clock.now += 60
    assert watcher.state().elapsed_s == 0.0
    assert not watcher.state().is_active
