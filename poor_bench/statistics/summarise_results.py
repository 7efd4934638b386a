"""The rows of `summarise`, one per model, result by result.

The end of a run shows few results: numpy would cost it 13 MB, and more time than it saves.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from poor_bench.models.failure import FailureKind
from poor_bench.models.result import Result
from poor_bench.statistics.intervals import percentile
from poor_bench.statistics.means import mean_score
from poor_bench.statistics.summary import Group, Summary, TimeParts, TimeSummary

_PARTS = ("queue_ms", "prefill_ms", "decode_ms", "thinking_ms", "parts_ms")
TOTALS = (
    "cost_usd", "judge_cost_usd", "prompt_tokens", "cached_tokens", "completion_tokens",
    "thinking_tokens",
)  # fmt: skip
"""Figures of a summary that are sums; the others of `_compute_figures` are means or medians."""
RATES = ("tokens_per_s", "generation_tokens_per_s", "prompt_tokens_per_s")
SORTED = ("execution_time_ms", "first_token_ms", "memory_bytes", "gpu_share")


def summarise_results(results: Iterable[Result]) -> list[Summary]:
    """Compute one row of figures per model, as `summarise` does without tests.

    Args:
        results: Scored and failed trials in any order, each trial once; they are not kept.
    """
    tallies: defaultdict[str, _Tally] = defaultdict(_Tally)
    for result in results:
        tallies[result.llm_id].add(result)
    return [tally.summarise(llm_id) for llm_id, tally in tallies.items()]


@dataclass(slots=True)
class _Scores:
    """Sums over the scored trials of one test."""

    n: int = 0
    score: float = 0.0
    n_passed: int = 0
    n_strict: int = 0
    strict: float = 0.0
    lost: float = 0.0

    def add(self, result: Result, score: float) -> None:
        self.n += 1
        self.score += score
        self.n_passed += score >= 1.0
        if result.tells_form:
            strict = score if result.strict_score is None else result.strict_score
            self.n_strict += 1
            self.strict += strict
            self.lost += score - strict


@dataclass(slots=True)
class _Tally:
    """Sums over the trials of one model."""

    tests: defaultdict[str, _Scores] = field(default_factory=lambda: defaultdict(_Scores))
    asked: set[str] = field(default_factory=set)
    last_trial: int = 1
    scored: set[tuple[str, int]] = field(default_factory=set)
    failed: list[tuple[tuple[str, int], FailureKind | None]] = field(default_factory=list)
    marks: Counter[str] = field(default_factory=Counter)
    totals: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    n_told: Counter[str] = field(default_factory=Counter)
    values: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in SORTED})

    def add(self, result: Result) -> None:
        self.asked.add(result.test_id)
        self.last_trial = max(self.last_trial, result.trial)
        trial = result.test_id, result.trial
        if result.score is None:
            self.failed.append((trial, result.failure.kind if result.failure else None))
        else:
            self.scored.add(trial)
            self.tests[result.test_id].add(result, result.score)
            self.marks.update(result.marks)
        for name, value in _list_figures(result):
            if value is not None:
                self.totals[name] += value
                self.n_told[name] += 1
                if name in SORTED:
                    self.values[name].append(value)

    def summarise(self, llm_id: str) -> Summary:
        tests = self.tests.values()
        strict = [test for test in tests if test.n_strict]
        first_failed = [kind for trial, kind in self.failed if trial not in self.scored]
        failures = Counter(kind for kind in first_failed if kind)
        score = mean_score([test.score / test.n for test in tests]) if tests else None
        return Summary(
            group=Group(llm_id=llm_id),
            n_tests=len(tests),
            n_scored=sum(test.n for test in tests),
            n_asked=len(self.asked),
            last_trial=self.last_trial,
            n_failed=len(first_failed),
            n_newer_failed=len(self.failed) - len(first_failed),
            n_passed=sum(test.n_passed for test in tests),
            score=score,
            pass_rate=mean_score([test.n_passed / test.n for test in tests]) if tests else None,
            strict_score=sum(t.strict / t.n_strict for t in strict) / len(strict)
            if strict
            else None,
            format_tax=sum(t.lost / t.n_strict for t in strict) / len(strict) if strict else None,
            n_strict=len(strict),
            marks=dict(self.marks.most_common()),
            failures=dict(failures.most_common()),
            **build_figures(
                self.totals, self.n_told, {k: sorted(v) for k, v in self.values.items()}
            ),
        )


def _list_figures(result: Result) -> Iterator[tuple[str, float | None]]:
    """List what a trial adds to each figure; None where it does not count."""
    yield "cost_usd", result.cost_usd  # of failed trials, too
    yield "judge_cost_usd", None if result.judgement is None else result.judge_cost_usd
    if result.score is None:
        return
    for name in _AS_THEY_ARE:
        yield name, getattr(result, name)
    yield "load_ms", result.load_ms or None
    total, decode = result.execution_time_ms, result.decode_ms
    if total is not None and decode is not None:
        yield "parts_ms", total
        yield "decode_ms", decode
        yield "queue_ms", result.queue_ms or 0.0
        yield "prefill_ms", result.prefill_ms or 0.0
        yield "thinking_ms", decode * (result.thinking_share or 0.0)
    fresh = max(0, (result.prompt_tokens or 0) - (result.cached_tokens or 0))
    pairs = (result.completion_tokens, total), (result.completion_tokens, decode)
    for name, (tokens, time_ms) in zip(RATES, (*pairs, (fresh, result.prefill_ms)), strict=True):
        if tokens and time_ms and min(tokens, time_ms) > 0:
            yield name, tokens
            yield f"{name}_ms", time_ms


_AS_THEY_ARE = (
    "prompt_tokens", "cached_tokens", "completion_tokens", "thinking_tokens", "first_token_ms",
    "memory_bytes", "gpu_share", "execution_time_ms",
)  # fmt: skip


def build_figures(
    total: Mapping[str, float], n_told: Mapping[str, int], values: Mapping[str, list[float]]
) -> dict[str, Any]:
    """Build the figures of a group.

    Args:
        total: Sum of what its trials add to each figure.
        n_told: How many trials that is.
        values: What they add to the figures of `SORTED`, in ascending order.
    """
    times, first_tokens, memory, gpu = (values[name] for name in SORTED)
    return {
        "time": _summarise_times(times),
        "parts": _average_parts(total, n_told["parts_ms"]),
        "first_token_ms": percentile(first_tokens, 0.5) if first_tokens else None,
        "load_ms": total["load_ms"] / n_told["load_ms"] if n_told["load_ms"] else None,
        **{name: _write_total(name, total) if n_told[name] else None for name in TOTALS},
        **{name: _compute_rate(name, total) for name in RATES},
        "memory_bytes": int(memory[-1]) if memory else None,
        "gpu_share": gpu[0] if gpu else None,
        "n_told": {name: n_told[name] for name in _COUNTED},
    }


def _write_total(name: str, total: Mapping[str, float]) -> float:
    return int(total[name]) if name.endswith("_tokens") else total[name]


def _compute_rate(name: str, total: Mapping[str, float]) -> float | None:
    time_ms = total[f"{name}_ms"]
    return total[name] / time_ms * 1000 if time_ms else None


def _average_parts(total: Mapping[str, float], n: int) -> TimeParts | None:
    if not n:
        return None
    queue, prefill, decode, thinking, whole = (total[name] / n for name in _PARTS)
    return TimeParts(
        n=n,
        queue_ms=queue,
        prefill_ms=prefill,
        thinking_ms=thinking,
        answer_ms=decode - thinking,
        other_ms=max(0.0, whole - queue - prefill - decode),
    )


_COUNTED = (*TOTALS, "load_ms", *RATES, "first_token_ms", "memory_bytes", "gpu_share")


def _summarise_times(ordered_ms: list[float]) -> TimeSummary | None:
    if not ordered_ms:
        return None
    return TimeSummary(
        mean_ms=sum(ordered_ms) / len(ordered_ms),
        median_ms=percentile(ordered_ms, 0.5),
        p95_ms=percentile(ordered_ms, 0.95),
        n=len(ordered_ms),
    )
