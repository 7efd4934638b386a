"""Sizes of chunks, and what is heard of them: no cluster is started."""

from __future__ import annotations

import random
from contextlib import nullcontext

import pytest

from poor_bench.calls.caller import Caller, ChunkPermit, Hold, RetryPolicy
from poor_bench.calls.rate_limiter import RateLimiter
from poor_bench.cluster.remote import MOST_IN_CHUNK, cut
from poor_bench.cluster.trials import ChunkSizes, SentChunk
from poor_bench.cluster.work import ANSWER, SCORE, WorkDone
from poor_bench.errors import ProviderError, RunCancelledError
from poor_bench.models.completion import Completion, Timing
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.runner.jobs import JudgeItem
from tests.providers.fake_clock import FakeClock
from tests.providers.idle_provider import IdleProvider

ANSWERED = WorkDone(Completion(text="4", timing=Timing(total_ms=1)))


def test_a_chunk_lasts_about_a_second() -> None:
    sizes = ChunkSizes()
    assert sizes.choose("a", 10_000, 1, 1.0) == 1, "nothing is known yet"
    sizes.note("a", 1, 0.1)
    assert sizes.choose("a", 10_000, 1, 1.0) == 10
    assert sizes.choose("b", 10_000, 1, 1.0) == 1
    sizes.note("a", 10, 60.0)
    assert sizes.choose("a", 10_000, 1, 1.0) == 1
    sizes.note("c", 64, 0.0)
    assert sizes.choose("c", 10_000, 1, 1.0) == MOST_IN_CHUNK


def test_the_last_trials_are_shared_by_all_workers() -> None:
    sizes = ChunkSizes()
    sizes.note("a", 100, 0.1)
    assert [sizes.choose("a", n_left, 4, 1.0) for n_left in (800, 80, 8, 1)] == [64, 10, 1, 1]


@pytest.mark.parametrize("n_items", [0, 1, 7, 150, 1000])
def test_the_last_stored_answers_are_shared_by_all_workers(n_items: int) -> None:
    test = Test(test_id="t", class_id="c", level=1, text="")
    items = [JudgeItem(Result(llm_id="a", test_id=f"{n}", score=0.0), test) for n in range(n_items)]
    chunks = list(cut(items, 2))
    assert [item for chunk in chunks for item in chunk] == items
    sizes = [len(chunk) for chunk in chunks]
    assert sizes == sorted(sizes, reverse=True)
    assert max(sizes, default=0) <= MOST_IN_CHUNK
    assert n_items < 150 or sizes[-1] <= 8


def nothing_held() -> Hold:
    return nullcontext(lambda _completion: None)


def make_caller() -> Caller:
    llm, clock = LLM(id="x:y", provider="x", name="y"), FakeClock()
    limiter = RateLimiter(1, clock)
    return Caller(llm, IdleProvider(), limiter, clock, RetryPolicy(), random.Random(1))


def send(caller: Caller, n_trials: int) -> SentChunk:
    permit = ChunkPermit(caller, [nothing_held() for _ in range(n_trials)], lambda: False)
    return SentChunk(None, permit, n_trials)


def test_the_place_is_free_once_the_last_trial_is_answered_though_not_scored() -> None:
    caller = make_caller()
    chunk = send(caller, 2)
    chunk.hear([(ANSWER, 0, ANSWERED), (SCORE, 0, WorkDone({"score": 1.0}))])
    with pytest.raises(RunCancelledError):
        ChunkPermit(caller, [nothing_held()], iter([False, True]).__next__)
    chunk.hear([(ANSWER, 1, ANSWERED)])
    send(caller, 1)
    assert chunk.wait(ANSWER, 0, lambda: False) is ANSWERED
    assert chunk.wait(SCORE, 0, lambda: False) == WorkDone({"score": 1.0})
    assert not chunk.is_broken


def test_a_failed_answer_breaks_the_chunk_and_frees_its_place() -> None:
    caller = make_caller()
    chunk, error = send(caller, 3), ProviderError("busy", kind=FailureKind.RATE_LIMITED)
    chunk.hear([(ANSWER, 0, error)])
    send(caller, 1)
    assert chunk.wait(ANSWER, 0, lambda: False) is error
    assert chunk.is_broken


def test_what_never_comes_is_not_waited_for() -> None:
    chunk = send(make_caller(), 1)
    with pytest.raises(RunCancelledError):
        chunk.wait(ANSWER, 0, lambda: True)
    chunk.end()
    assert chunk.wait(ANSWER, 0, lambda: False) is None
    assert chunk.is_broken
