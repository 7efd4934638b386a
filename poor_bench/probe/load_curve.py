"""Latency and throughput by concurrency, and the knee of the curve; pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from poor_bench.statistics.intervals import percentile

ENOUGH = 0.9
"""Share of the best throughput that the recommended concurrency reaches."""
SLOWEST = 2.0
"""How much longer than alone the slowest requests may take there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSample:
    """One request under load."""

    prompt: int
    """Number of its prompt."""
    started_s: float
    ended_s: float
    latency_ms: float = 0.0
    """Without loading the model."""
    tokens: int | None = None
    text: str = ""
    failure: str = ""
    """Why no answer came; empty where one did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadLevel:
    """All requests of one concurrency."""

    concurrency: int
    n_requests: int
    n_failed: int
    failure: str = ""
    """Of the first request that failed."""
    median_ms: float | None = None
    p95_ms: float | None = None
    requests_per_s: float = 0.0
    tokens_per_s: float | None = None
    """Of all requests together; None where the server does not count tokens."""
    request_tokens_per_s: float | None = None
    """Of one request, median."""
    changed_share: float | None = None
    """Answers at temperature 0 that differ from all those to the same prompt at concurrency 1; at 1
    itself, prompts whose own answers differ."""

    @property
    def throughput(self) -> float:
        """Tokens per second of all requests, or requests per second."""
        return self.requests_per_s if self.tokens_per_s is None else self.tokens_per_s


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadCurve:
    """Levels in order, and what follows."""

    levels: tuple[LoadLevel, ...]
    recommended: int
    stopped: str = ""
    """Why higher levels were not tried; empty where all were."""

    def draw(self) -> list[LoadBar]:
        """Draw throughput by concurrency: one bar per level, with the knee marked."""
        best = max((level.throughput for level in self.levels), default=0.0)
        return [
            LoadBar(
                level=level,
                share=level.throughput / best if best else 0.0,
                is_knee=level.concurrency == self.recommended and level.throughput > 0,
            )
            for level in self.levels
        ]


class LoadBar(NamedTuple):
    """A level as a bar of a chart."""

    level: LoadLevel
    share: float
    """Throughput as a share of the best one, 0.0 to 1.0."""
    is_knee: bool
    """True for the recommended concurrency: more requests at once gain little."""


def measure_level(
    concurrency: int, samples: Sequence[LoadSample], usual: Mapping[int, Collection[str]]
) -> LoadLevel:
    """Measure one level.

    Args:
        concurrency: Requests at once.
        samples: All requests of the level, at least one.
        usual: Answers at concurrency 1 by number of prompt; empty at that level itself.
    """
    done = [sample for sample in samples if not sample.failure]
    failures = [sample.failure for sample in samples if sample.failure]
    level = LoadLevel(
        concurrency=concurrency,
        n_requests=len(samples),
        n_failed=len(failures),
        failure=failures[0] if failures else "",
    )
    return _add_figures(level, done, usual) if done else level


def _add_figures(
    level: LoadLevel, done: Sequence[LoadSample], usual: Mapping[int, Collection[str]]
) -> LoadLevel:
    latencies = sorted(sample.latency_ms for sample in done)
    wall_s = max(sample.ended_s for sample in done) - min(sample.started_s for sample in done)
    counted = [sample.tokens for sample in done if sample.tokens is not None]
    is_counted = len(counted) == len(done) and wall_s > 0
    speeds = sorted(
        sample.tokens / sample.latency_ms * 1000
        for sample in done
        if sample.tokens is not None and sample.latency_ms > 0
    )
    return LoadLevel(
        concurrency=level.concurrency,
        n_requests=level.n_requests,
        n_failed=level.n_failed,
        failure=level.failure,
        median_ms=percentile(latencies, 0.5),
        p95_ms=percentile(latencies, 0.95),
        requests_per_s=len(done) / wall_s if wall_s > 0 else 0.0,
        tokens_per_s=sum(counted) / wall_s if is_counted else None,
        request_tokens_per_s=percentile(speeds, 0.5) if speeds else None,
        changed_share=_measure_change(done, usual),
    )


def _measure_change(
    done: Sequence[LoadSample], usual: Mapping[int, Collection[str]]
) -> float | None:
    if not usual:
        answers = collect_answers(done)
        return sum(len(texts) > 1 for texts in answers.values()) / len(answers)
    known = [sample for sample in done if sample.prompt in usual]
    if not known:
        return None
    return sum(sample.text not in usual[sample.prompt] for sample in known) / len(known)


def collect_answers(samples: Sequence[LoadSample]) -> dict[int, set[str]]:
    """Collect the answers by number of prompt."""
    answers: defaultdict[int, set[str]] = defaultdict(set)
    for sample in samples:
        if not sample.failure:
            answers[sample.prompt].add(sample.text)
    return dict(answers)


def find_stop(levels: Sequence[LoadLevel]) -> str:
    """Say why higher levels need not be tried; empty where they should be."""
    last = levels[-1]
    if last.n_failed:
        return f"{last.n_failed} of {last.n_requests} requests failed at {last.concurrency} at once"
    best = max(level.throughput for level in levels)
    if last.throughput < ENOUGH * best:
        return f"throughput falls at {last.concurrency} at once"
    return ""


def find_knee(levels: Sequence[LoadLevel]) -> int:
    """Find the concurrency to recommend.

    Returns:
        The lowest level with `ENOUGH` of the best throughput, among the levels without failures
        whose p95 is at most `SLOWEST` times that of the first level; 1 where there is none.
    """
    alone = levels[0].p95_ms if levels else None
    if alone is None:
        return 1
    good = [
        level
        for level in levels
        if not level.n_failed and level.p95_ms is not None and level.p95_ms <= SLOWEST * alone
    ]
    best = max((level.throughput for level in good), default=0.0)
    return next((level.concurrency for level in good if level.throughput >= ENOUGH * best), 1)
