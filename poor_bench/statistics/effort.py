"""What answers took: time by phase, tokens by kind, money."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan, nan
from statistics import fmean
from typing import NamedTuple

from poor_bench.models.result import Result
from poor_bench.statistics.intervals import percentile


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeParts:
    """Where the time of a trial goes, in milliseconds; all means are over the same trials."""

    n: int
    """Trials that tell both how long they took and how long they generated."""
    queue_ms: float
    prefill_ms: float
    """Reading the prompt."""
    thinking_ms: float
    """The share of generating that thinking took, by tokens, or by text where the server counts
    none."""
    answer_ms: float
    """The rest of generating."""
    other_ms: float
    """Network and whatever nobody tells of."""

    @property
    def generating_ms(self) -> float:
        """Thinking and answering."""
        return self.thinking_ms + self.answer_ms

    @property
    def execution_ms(self) -> float:
        """All parts together: the mean time of these trials."""
        return self.queue_ms + self.prefill_ms + self.generating_ms + self.other_ms


class TrialTimes(NamedTuple):
    """What a trial tells of its time, in milliseconds; NaN where it tells nothing."""

    total_ms: float
    queue_ms: float
    prefill_ms: float
    decode_ms: float
    thinking_share: float = 0.0


def time_parts(trials: Iterable[TrialTimes]) -> TimeParts | None:
    """Return where the time goes, over the trials that tell it; None where none does.

    A trial that tells how long it generated, and nothing of queueing or of reading the prompt,
    spent no time on these: servers leave out what is zero.

    Example:
        >>> nan = float("nan")
        >>> parts = time_parts([TrialTimes(1000, nan, 160, 800), TrialTimes(9000, nan, nan, nan)])
        >>> parts.n, parts.prefill_ms, parts.answer_ms, parts.other_ms
        (1, 160.0, 800.0, 40.0)
    """
    split = [trial for trial in trials if not isnan(trial.total_ms + trial.decode_ms)]
    if not split:
        return None
    queue = fmean(_or_zero(trial.queue_ms) for trial in split)
    prefill = fmean(_or_zero(trial.prefill_ms) for trial in split)
    decode = fmean(trial.decode_ms for trial in split)
    thinking = fmean(trial.decode_ms * trial.thinking_share for trial in split)
    total = fmean(trial.total_ms for trial in split)
    return TimeParts(
        n=len(split),
        queue_ms=queue,
        prefill_ms=prefill,
        thinking_ms=thinking,
        answer_ms=decode - thinking,
        other_ms=max(0.0, total - queue - prefill - decode),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """What the trials of one LLM took; failed trials count for money only."""

    llm_id: str
    n_timed: int
    """Scored trials that tell how long they took."""
    median_ms: float | None
    """Half of them took less; loading the model is not counted."""
    p95_ms: float | None
    """95 % of them took less."""
    n_loads: int
    """Trials before which the model had to be loaded."""
    mean_load_ms: float | None
    """Over these."""
    parts: TimeParts | None
    prompt_tokens: int
    """Sum, cached ones included; 0 where no trial tells, as below."""
    cached_tokens: int
    completion_tokens: int
    """Sum, thinking included."""
    thinking_tokens: int
    prefill_tokens_per_s: float | None
    """Prompt tokens that were not cached, per second of reading."""
    decode_tokens_per_s: float | None
    """Generated tokens per second of generating."""
    cost_usd: float | None
    judge_cost_usd: float | None
    """What judging the responses cost on top; None where no trial tells."""
    memory_bytes: int | None
    """The most that the loaded model took, where the server tells."""
    gpu_share: float | None
    """The smallest share of it that lay in GPU memory, 0.0 to 1.0."""


def efforts(results: Iterable[Result]) -> list[Effort]:
    """Return what the trials of each LLM took.

    Args:
        results: Scored and failed trials in any order.

    Returns:
        One row per LLM, in order of first appearance.

    Example:
        >>> trial = Result(llm_id="a", test_id="t", score=1.0, execution_time_ms=1000.0,
        ...                prefill_ms=200.0, decode_ms=700.0, completion_tokens=70,
        ...                thinking_tokens=20)
        >>> [effort] = efforts([trial])
        >>> effort.parts.thinking_ms, effort.parts.answer_ms, round(effort.parts.other_ms)
        (200.0, 500.0, 100)
    """
    grouped: dict[str, list[Result]] = {}
    for result in results:
        grouped.setdefault(result.llm_id, []).append(result)
    return [_effort_of(llm_id, members) for llm_id, members in grouped.items()]


def thinking_share(result: Result) -> float:
    """Return which share of what was generated is thinking, 0.0 to 1.0."""
    if result.thinking_tokens is not None and result.completion_tokens:
        return min(1.0, result.thinking_tokens / result.completion_tokens)
    length = len(result.thinking) + len(result.response)
    return len(result.thinking) / length if length else 0.0


def _effort_of(llm_id: str, results: Sequence[Result]) -> Effort:
    scored = [result for result in results if result.score is not None]
    times = sorted(
        result.execution_time_ms for result in scored if result.execution_time_ms is not None
    )
    loads = [result.load_ms for result in scored if result.load_ms]
    sizes = [result.memory_bytes for result in scored if result.memory_bytes is not None]
    gpu_shares = [result.gpu_share for result in scored if result.gpu_share is not None]
    costs = [result.cost_usd for result in results if result.cost_usd is not None]
    judges = [cost for result in results if (cost := result.judge_cost_usd) is not None]
    return Effort(
        llm_id=llm_id,
        n_timed=len(times),
        median_ms=percentile(times, 0.5) if times else None,
        p95_ms=percentile(times, 0.95) if times else None,
        n_loads=len(loads),
        mean_load_ms=fmean(loads) if loads else None,
        parts=time_parts(map(_times_of, scored)),
        prompt_tokens=sum(result.prompt_tokens or 0 for result in scored),
        cached_tokens=sum(result.cached_tokens or 0 for result in scored),
        completion_tokens=sum(result.completion_tokens or 0 for result in scored),
        thinking_tokens=sum(result.thinking_tokens or 0 for result in scored),
        prefill_tokens_per_s=_per_second(
            (_read_tokens(result), result.prefill_ms) for result in scored
        ),
        decode_tokens_per_s=_per_second(
            (result.completion_tokens, result.decode_ms) for result in scored
        ),
        cost_usd=sum(costs) if costs else None,
        judge_cost_usd=sum(judges) if judges else None,
        memory_bytes=max(sizes, default=None),
        gpu_share=min(gpu_shares, default=None),
    )


def _times_of(result: Result) -> TrialTimes:
    told = (result.execution_time_ms, result.queue_ms, result.prefill_ms, result.decode_ms)
    total, queue, prefill, decode = (nan if value is None else value for value in told)
    share = thinking_share(result) if result.decode_ms else 0.0
    return TrialTimes(total, queue, prefill, decode, share)


def _or_zero(value: float) -> float:
    return 0.0 if isnan(value) else value


def _read_tokens(result: Result) -> int | None:
    if result.prompt_tokens is None:
        return None
    return max(0, result.prompt_tokens - (result.cached_tokens or 0))


def _per_second(pairs: Iterable[tuple[int | None, float | None]]) -> float | None:
    """Return tokens per second over the trials that tell both tokens and milliseconds."""
    known = [(tokens, ms) for tokens, ms in pairs if tokens and ms]
    return sum(tokens for tokens, _ in known) / sum(ms for _, ms in known) * 1000 if known else None
