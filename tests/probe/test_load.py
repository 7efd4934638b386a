"""The load curve: figures, the knee, and levels that are really asked at once."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from poor_bench.calls.caller import RetryPolicy
from poor_bench.errors import ProviderError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import ChatRequest, Completion, Timing, Usage
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM
from poor_bench.ports import CallControl
from poor_bench.probe.ask import count_requests, list_levels, measure_load
from poor_bench.probe.load_curve import (
    LoadCurve,
    LoadLevel,
    LoadSample,
    find_knee,
    find_stop,
    measure_level,
)
from tests.providers.fake_clock import FakeClock
from tests.providers.idle_provider import IdleProvider


def level(concurrency: int, tokens_per_s: float, p95_ms: float, n_failed: int = 0) -> LoadLevel:
    return LoadLevel(
        concurrency=concurrency,
        n_requests=8,
        n_failed=n_failed,
        p95_ms=p95_ms,
        requests_per_s=1.0,
        tokens_per_s=tokens_per_s,
    )


def test_the_knee_is_the_lowest_level_near_the_best_throughput() -> None:
    levels = [level(1, 50, 100), level(2, 95, 110), level(4, 100, 190), level(8, 102, 900)]
    assert find_knee(levels) == 2
    assert find_knee(levels[:1]) == 1
    assert find_knee([]) == 1


def test_a_level_that_is_twice_as_slow_or_fails_is_not_recommended() -> None:
    assert find_knee([level(1, 50, 100), level(2, 200, 201)]) == 1
    assert find_knee([level(1, 50, 100), level(2, 200, 100, n_failed=1)]) == 1


def test_more_is_not_tried_once_throughput_falls_or_requests_fail() -> None:
    assert not find_stop([level(1, 50, 100), level(2, 48, 100)])
    assert "falls at 2" in find_stop([level(1, 50, 100), level(2, 40, 100)])
    assert "1 of 8 requests failed" in find_stop([level(1, 50, 100, n_failed=1)])


def test_figures_of_a_level_by_hand() -> None:
    samples = [
        LoadSample(prompt=0, started_s=0, ended_s=2, latency_ms=2000, tokens=20, text="a"),
        LoadSample(prompt=0, started_s=0, ended_s=4, latency_ms=4000, tokens=20, text="b"),
        LoadSample(prompt=1, started_s=0, ended_s=9, failure="busy"),
    ]
    found = measure_level(2, samples, {0: {"a"}, 1: {"c"}})
    assert (found.n_requests, found.n_failed, found.failure) == (3, 1, "busy")
    assert (found.tokens_per_s, found.requests_per_s) == (10.0, 0.5)
    assert (found.median_ms, found.request_tokens_per_s) == (3000.0, 7.5)
    assert found.changed_share == 0.5
    assert measure_level(1, samples, {}).changed_share == 1.0
    assert measure_level(1, samples[2:], {}).median_ms is None


class Counting(IdleProvider):
    """Answers once as many requests are under way as are asked at once."""

    def __init__(self, clock: FakeClock, llm: LLM, most: int) -> None:
        self._clock = clock
        self._at_once = llm.concurrency or 1
        self._barrier = threading.Barrier(self._at_once)
        self._most = most

    def complete(self, request: ChatRequest, control: CallControl) -> Completion:
        self._barrier.wait(10)
        if self._at_once > self._most:
            raise ProviderError("too many", kind=FailureKind.RATE_LIMITED)
        self._clock.seconds += 1 / self._at_once
        prompt = request.messages[-1].content
        return Completion(
            text=f"{prompt} {self._at_once}" if self._at_once > 2 else prompt,
            timing=Timing(total_ms=1000.0),
            usage=Usage(completion_tokens=10),
        )


@pytest.mark.parametrize("most", [2, 4])
def test_levels_are_asked_at_once_until_requests_fail(tmp_path: Path, most: int) -> None:
    clock = FakeClock()

    def open_manager() -> LLMManager:
        return LLMManager(
            tmp_path,
            clock=clock,
            policy=RetryPolicy(max_attempts={}),
            own_providers={"own": lambda llm: Counting(clock, llm, most)},
        )

    llm = LLM(id="own:a", provider="own", name="a")
    told: list[int] = []
    curve = measure_load(open_manager, llm, 8, told.append)
    assert told == [1, 2, 4, 8][: most.bit_length() + 1]
    assert curve.recommended == most
    assert f"failed at {2 * most} at once" in curve.stopped
    assert [each.n_requests for each in curve.levels] == [count_requests(n) for n in told]
    assert curve.levels[1].changed_share == 0.0
    if most == 4:
        assert curve.levels[2].changed_share == 1.0


def test_levels_are_powers_of_two() -> None:
    assert list_levels(1) == [1]
    assert list_levels(9) == [1, 2, 4, 8]


def test_bars_are_shares_of_the_best_throughput_and_the_knee_is_marked() -> None:
    levels = (level(1, 50, 100), level(2, 95, 110), level(4, 100, 190))
    bars = LoadCurve(levels=levels, recommended=find_knee(levels)).draw()
    assert [bar.share for bar in bars] == [0.5, 0.95, 1.0]
    assert [bar.is_knee for bar in bars] == [False, True, False]


def test_a_curve_without_an_answer_has_empty_bars_and_no_knee() -> None:
    failed = LoadLevel(concurrency=1, n_requests=8, n_failed=8)
    [bar] = LoadCurve(levels=(failed,), recommended=1).draw()
    assert (bar.share, bar.is_knee) == (0.0, False)
