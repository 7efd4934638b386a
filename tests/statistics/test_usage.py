from __future__ import annotations

from typing import Any

import pytest

from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.statistics.summarise import summarise
from poor_bench.statistics.summary import Summary


def trial(number: int = 0, **facts: Any) -> Result:
    return Result(**{"llm_id": "a", "test_id": f"t{number}", "score": 1.0, **facts})


def usage(*results: Result) -> Summary:
    [found] = summarise(results)
    return found


def test_times_are_of_scored_trials_and_load_is_apart() -> None:
    found = usage(*(trial(n, execution_time_ms=100.0 * n) for n in range(1, 22)),
                  trial(99, load_ms=4000.0))  # fmt: skip
    assert found.time is not None
    assert (found.time.n, found.time.median_ms, found.time.p95_ms) == (21, 1100.0, 2000.0)
    assert (found.n_told["load_ms"], found.load_ms) == (1, 4000.0)


def test_the_first_token_is_a_median_over_the_trials_that_report_it() -> None:
    found = usage(*(trial(n, first_token_ms=float(n)) for n in (1, 2, 9)), trial(4))
    assert (found.first_token_ms, found.n_told["first_token_ms"]) == (2.0, 3)
    assert usage(trial()).first_token_ms is None


def test_parts_add_up_to_the_time() -> None:
    facts = {"execution_time_ms": 1000.0, "queue_ms": 50.0, "prefill_ms": 150.0}
    parts = usage(trial(decode_ms=700.0, thinking="xxx", response="yyyy", **facts)).parts
    assert parts is not None
    assert parts.thinking_ms == pytest.approx(300.0)
    known = parts.queue_ms + parts.prefill_ms + parts.thinking_ms + parts.answer_ms
    assert known + parts.other_ms == pytest.approx(1000.0)


def test_trials_without_phases_have_no_parts() -> None:
    assert usage(trial(execution_time_ms=5.0)).parts is None


def test_tokens_of_the_cache_are_not_read_again() -> None:
    found = usage(trial(prompt_tokens=1000, cached_tokens=800, prefill_ms=100.0))
    assert found.prompt_tokens_per_s == pytest.approx(2000.0)
    assert (found.prompt_tokens, found.cached_tokens) == (1000, 800)


def test_tokens_that_no_trial_reports_are_missing_and_not_zero() -> None:
    found = usage(trial(), trial(2, completion_tokens=5))
    assert (found.prompt_tokens, found.thinking_tokens) == (None, None)
    assert (found.completion_tokens, found.n_told["completion_tokens"]) == (5, 1)


def test_failed_trials_cost_money_and_no_time() -> None:
    failure = Failure(kind=FailureKind.EVALUATOR, message="broke")
    found = usage(trial(score=None, failure=failure, cost_usd=0.5, execution_time_ms=9.0))
    assert (found.cost_usd, found.time) == (0.5, None)


def test_memory_is_the_most_and_gpu_share_the_least() -> None:
    found = usage(trial(memory_bytes=4, gpu_share=1.0), trial(2, memory_bytes=5, gpu_share=0.5))
    assert (found.memory_bytes, found.gpu_share) == (5, 0.5)
    assert usage(trial()).gpu_share is None


def test_thinking_share_is_by_tokens_before_text() -> None:
    assert trial(thinking="xx", response="xx").thinking_share == 0.5
    counted = trial(thinking="xx", response="xx", thinking_tokens=1, completion_tokens=4)
    assert counted.thinking_share == 0.25
    assert trial().thinking_share == 0.0


def test_trials_without_server_timings_dilute_nothing() -> None:
    told = trial(1, execution_time_ms=1000.0, prefill_ms=160.0, decode_ms=800.0)
    silent = [trial(number, execution_time_ms=10_000.0) for number in range(2, 6)]
    untimed = trial(6, decode_ms=1.0)
    parts = usage(told, *silent, untimed).parts
    assert parts is not None
    assert (parts.n, parts.prefill_ms, parts.generating_ms, parts.other_ms) == (1, 160, 800, 40)
    assert parts.execution_ms == 1000
