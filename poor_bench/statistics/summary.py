"""From results to one row of figures per LLM, class or level.

Nothing here needs numpy or scipy. Results may come from an iterator: one pass, in memory a few
numbers per LLM and test. What screens call the figures stands in `poor_bench.metrics`.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from poor_bench.models.failure import FailureKind
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.statistics.intervals import Estimate, mean_score, percentile

_UNKNOWN = ("", 0)
_MOST_BITS = 4096
_PAID = ("cost_usd", "judge_cost_usd")
_COUNTED = ("prompt_tokens", "cached_tokens", "completion_tokens", "thinking_tokens")
_PHASES = ("queue_ms", "prefill_ms")


class GroupBy(StrEnum):
    """What one row of a summary stands for."""

    LLM = "llm"
    LLM_CLASS = "llm_class"
    LLM_LEVEL = "llm_level"
    LLM_CLASS_LEVEL = "llm_class_level"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Results of one row; None where it spans all classes or levels."""

    llm_id: str
    class_id: str | None = None
    """Empty where the test is not known any more."""
    level: int | None = None
    """0 where the test is not known any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSummary:
    """Execution times of scored trials in milliseconds, without model load."""

    mean_ms: float
    median_ms: float
    p95_ms: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeParts:
    """Time of a trial by phase, in milliseconds; all means are over the same trials.

    A server that reports generation, but neither queue nor prompt processing, spent no time on
    these: servers omit what is zero.
    """

    n: int
    """Scored trials with both an execution time and a generation time."""
    queue_ms: float
    prefill_ms: float
    """Prompt processing."""
    thinking_ms: float
    """Share of generation for thinking, by tokens, or by text where the server counts none."""
    answer_ms: float
    """The rest of generation."""
    other_ms: float
    """Network, and whatever no server reports."""

    @property
    def generating_ms(self) -> float:
        """Thinking and answer."""
        return self.thinking_ms + self.answer_ms

    @property
    def execution_ms(self) -> float:
        """All parts together: the mean time of these trials."""
        return self.queue_ms + self.prefill_ms + self.generating_ms + self.other_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One row: an LLM on all tests, on a test class, on a level, or on both.

    Failed trials are counted apart; only their cost counts. A figure that no trial reports is
    None, never 0; `n_told` says over how many trials it is.
    """

    group: Group
    n_tests: int
    """Tests with at least one scored trial."""
    n_scored: int
    """Scored trials."""
    n_failed: int
    """Trials that failed to run and have no score."""
    n_passed: int
    """Scored trials that reached the pass mark."""
    score: Estimate | None
    """Mean over tests."""
    strict_score: float | None
    """Mean over tests under the format rules; equals the score where every rule was kept."""
    pass_rate: Estimate | None
    """Mean over tests of the share of passed trials."""
    time: TimeSummary | None = None
    parts: TimeParts | None = None
    first_token_ms: float | None = None
    """Median time to the first token."""
    load_ms: float | None = None
    """Mean over the trials that waited for the model to load."""
    prompt_tokens: int | None = None
    """Sum, cached ones included."""
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    """Sum, thinking included."""
    thinking_tokens: int | None = None
    tokens_per_s: float | None = None
    """Generated tokens per second of execution time: queue, prompt processing and network count."""
    generation_tokens_per_s: float | None = None
    """Generated tokens per second of generation, by the server's timings."""
    prompt_tokens_per_s: float | None = None
    """Prompt tokens that were not cached, per second of prompt processing."""
    cost_usd: float | None = None
    """Sum, failed trials included."""
    judge_cost_usd: float | None = None
    """Sum of what judging cost on top."""
    memory_bytes: int | None = None
    """Largest memory of the loaded model."""
    gpu_share: float | None = None
    """Smallest share of it in GPU memory, 0.0 to 1.0."""
    marks: Mapping[str, int] = field(default_factory=dict)
    """Flag to the number of trials that carry it."""
    failures: Mapping[FailureKind, int] = field(default_factory=dict)
    """Why the trials of `n_failed` failed."""
    n_newer_failed: int = 0
    """Scored trials whose newer attempt failed; not in `n_failed`."""
    n_told: Mapping[str, int] = field(default_factory=dict)
    """Name of a figure to the number of trials that report it."""

    @property
    def scored_share(self) -> float:
        """Share of the trials that ended with a score, 0.0 to 1.0."""
        return scored_share(self.n_scored, self.n_failed)


def scored_share(n_scored: int, n_failed: int, n_pending: int = 0) -> float:
    """Compute the share of trials that ended with a score.

    Args:
        n_scored: Trials with a score, at least 0.
        n_failed: Trials that failed to run, at least 0.
        n_pending: Planned trials without any result, at least 0.

    Returns:
        0.0 to 1.0; 0.0 where there are no trials.

    Raises:
        ValueError: If a number is below 0.

    Example:
        >>> scored_share(n_scored=18, n_failed=2)
        0.9
    """
    if min(n_scored, n_failed, n_pending) < 0:
        raise ValueError("numbers of trials must be at least 0")
    total = n_scored + n_failed + n_pending
    return n_scored / total if total else 0.0


class Summariser:
    """Takes results one by one and gives rows at any time, grouped in any way.

    Args:
        tests: Test id to test, for rows by class or level; results of other tests count as of
            class "" and level 0.
        pass_score: From which score on a trial is passed, above 0 to 1.

    Raises:
        ValueError: If `pass_score` is out of range.
    """

    def __init__(self, tests: Mapping[str, Test] | None = None, *, pass_score: float = 1.0) -> None:
        if not 0 < pass_score <= 1:
            raise ValueError(f"pass_score must be above 0 and at most 1, not {pass_score}")
        self._places = {key: (test.class_id, test.level) for key, test in (tests or {}).items()}
        self._pass_score = pass_score
        self._tallies: dict[tuple[str, str, int], Tally] = {}

    def add(self, result: Result) -> None:
        """Take one result; a trial must not come twice."""
        key = (result.llm_id, *self._places.get(result.test_id, _UNKNOWN))
        tally = self._tallies.get(key)
        if tally is None:
            tally = self._tallies[key] = Tally()
        tally.add(result, self._pass_score)

    def rows(self, by: GroupBy = GroupBy.LLM) -> list[Summary]:
        """Return one row per group, in the order in which the groups first appeared."""
        merged: dict[Group, Tally] = {}
        for key, tally in self._tallies.items():
            merged.setdefault(_group_of(key, by), Tally()).merge(tally)
        return [_summary_of(group, tally) for group, tally in merged.items()]


def summarise(
    results: Iterable[Result],
    *,
    tests: Mapping[str, Test] | None = None,
    by: GroupBy = GroupBy.LLM,
    pass_score: float = 1.0,
) -> list[Summary]:
    """Return one row of figures per LLM, or per LLM and class or level.

    Args:
        results: Scored and failed trials in any order; each trial once.
        tests: Test id to test; needed for rows by class or level.
        by: What one row stands for.
        pass_score: From which score on a trial is passed, above 0 to 1.

    Returns:
        Rows in the order in which their groups first appear in `results`.

    Raises:
        ValueError: If `pass_score` is out of range.

    Example:
        >>> trials = [Result(llm_id="a", test_id=str(n), score=n % 2) for n in range(10)]
        >>> [row] = summarise(trials)
        >>> row.group.llm_id, row.score.value, round(row.score.low, 2), row.n_passed
        ('a', 0.5, 0.24, 5)
    """
    summariser = Summariser(tests, pass_score=pass_score)
    for result in results:
        summariser.add(result)
    return summariser.rows(by)


def _group_of(key: tuple[str, str, int], by: GroupBy) -> Group:
    llm_id, class_id, level = key
    return Group(
        llm_id=llm_id,
        class_id=class_id if by in {GroupBy.LLM_CLASS, GroupBy.LLM_CLASS_LEVEL} else None,
        level=level if by in {GroupBy.LLM_LEVEL, GroupBy.LLM_CLASS_LEVEL} else None,
    )


class TrialCounts(NamedTuple):
    """How trials ended, each trial counted once.

    A trial with a stored score is scored, even if a newer attempt failed.
    """

    n_scored: int
    n_failed: int
    """Trials without a score that failed to run."""
    n_newer_failed: int
    """Scored trials whose newer attempt failed; not in `n_failed`."""
    failures: Mapping[FailureKind, int]
    """Why the trials of `n_failed` failed, the most frequent first."""


class _TestTally:
    """Sums over the scored trials of one test."""

    __slots__ = ("n", "n_passed", "score", "strict", "trials")

    def __init__(self) -> None:
        self.trials = 0
        """A bit for each scored trial below `_MOST_BITS`."""
        self.n = 0
        self.n_passed = 0
        self.score = 0.0
        self.strict = 0.0


class Tally:
    """Sums over the results of one LLM in one class and level.

    It keeps a few numbers per test and eight bytes per time, never a result.
    """

    __slots__ = ("failed", "far_scored", "marks", "memory", "n", "sums", "tests", "times")

    def __init__(self) -> None:
        self.tests: dict[str, _TestTally] = {}
        self.times = {"execution_time_ms": array("d"), "first_token_ms": array("d")}
        self.marks: Counter[str] = Counter()
        self.sums: dict[str, float] = {}
        self.n: dict[str, int] = {}
        """Name of a sum to the number of trials in it."""
        self.memory: list[tuple[int | None, float | None]] = []
        """Different sizes and GPU shares of the loaded model."""
        self.failed: dict[tuple[str, int], FailureKind | None] = {}
        """Test id and number of each trial that has a failure."""
        self.far_scored: set[tuple[str, int]] = set()
        """Scored trials from `_MOST_BITS` on."""

    def add(self, result: Result, pass_score: float) -> None:
        """Take one result into the sums."""
        for name in _PAID:
            self._take(name, getattr(result, name))
        if result.score is None:
            kind = result.failure.kind if result.failure is not None else None
            self.failed[result.test_id, result.trial] = kind
            return
        self._add_score(result, result.score, pass_score)
        if result.marks:
            self.marks.update(result.marks)
        for name, times in self.times.items():
            if (milliseconds := getattr(result, name)) is not None:
                times.append(milliseconds)
        self._add_parts(result)
        self._add_tokens(result)
        memory = result.memory_bytes, result.gpu_share
        if memory != (None, None) and memory not in self.memory:
            self.memory.append(memory)

    def merge(self, other: Tally) -> None:
        """Take in another tally; both must not share a test."""
        self.tests.update(other.tests)
        self.marks.update(other.marks)
        self.failed.update(other.failed)
        self.far_scored.update(other.far_scored)
        self.memory += [memory for memory in other.memory if memory not in self.memory]
        for name, times in self.times.items():
            times.extend(other.times[name])
        for name, value in other.sums.items():
            self._take(name, value, other.n[name])

    def counts(self) -> TrialCounts:
        """Count how the trials ended."""
        unscored = [kind for trial, kind in self.failed.items() if not self._is_scored(*trial)]
        return TrialCounts(
            n_scored=sum(test.n for test in self.tests.values()),
            n_failed=len(unscored),
            n_newer_failed=len(self.failed) - len(unscored),
            failures=dict(Counter(kind for kind in unscored if kind is not None).most_common()),
        )

    def mean(self, name: str) -> float | None:
        """Mean of a figure over the trials that report it; None where none does."""
        return self.sums[name] / self.n[name] if name in self.sums else None

    def rate(self, name: str) -> float | None:
        """Tokens per second over the trials that report both tokens and milliseconds."""
        return self.sums[name] / self.sums[f"{name}.ms"] * 1000 if name in self.sums else None

    def _take(self, name: str, value: float | None, n: int = 1) -> None:
        if value is not None:
            self.sums[name] = self.sums.get(name, 0) + value
            self.n[name] = self.n.get(name, 0) + n

    def _take_rate(self, name: str, tokens: int | None, milliseconds: float | None) -> None:
        if tokens and milliseconds:
            self._take(name, tokens)
            self._take(f"{name}.ms", milliseconds)

    def _is_scored(self, test_id: str, trial: int) -> bool:
        if trial >= _MOST_BITS:
            return (test_id, trial) in self.far_scored
        test = self.tests.get(test_id)
        return test is not None and bool(test.trials >> trial & 1)

    def _add_score(self, result: Result, score: float, pass_score: float) -> None:
        test = self.tests.get(result.test_id)
        if test is None:
            test = self.tests[result.test_id] = _TestTally()
        if result.trial < _MOST_BITS:
            test.trials |= 1 << result.trial
        else:
            self.far_scored.add((result.test_id, result.trial))
        test.n += 1
        test.n_passed += score >= pass_score
        test.score += score
        test.strict += score if result.strict_score is None else result.strict_score

    def _add_parts(self, result: Result) -> None:
        total, decode = result.execution_time_ms, result.decode_ms
        if result.load_ms:
            self._take("load_ms", result.load_ms)
        if total is not None and decode is not None:
            self._take("parts", total)
            self._take("decode_ms", decode)
            self._take("thinking_ms", decode * thinking_share(result) if decode else 0.0)
            for name in _PHASES:
                self._take(name, getattr(result, name) or 0.0)

    def _add_tokens(self, result: Result) -> None:
        generated, prompt = result.completion_tokens, result.prompt_tokens
        for name in _COUNTED:
            self._take(name, getattr(result, name))
        self._take_rate("tokens_per_s", generated, result.execution_time_ms)
        self._take_rate("generation_tokens_per_s", generated, result.decode_ms)
        read = None if prompt is None else max(0, prompt - (result.cached_tokens or 0))
        self._take_rate("prompt_tokens_per_s", read, result.prefill_ms)


def thinking_share(result: Result) -> float:
    """Share of the generated tokens, or else of the text, that is thinking, 0.0 to 1.0."""
    if result.thinking_tokens is not None and result.completion_tokens:
        return min(1.0, result.thinking_tokens / result.completion_tokens)
    length = len(result.thinking) + len(result.response)
    return len(result.thinking) / length if length else 0.0


def _summary_of(group: Group, tally: Tally) -> Summary:
    tests = tally.tests.values()
    strict = [test.strict / test.n for test in tests]
    counts = tally.counts()
    first_tokens = sorted(tally.times["first_token_ms"])
    sizes = [size for size, _ in tally.memory if size is not None]
    shares = [share for _, share in tally.memory if share is not None]
    return Summary(
        group=group,
        n_tests=len(tests),
        n_scored=counts.n_scored,
        n_failed=counts.n_failed,
        n_newer_failed=counts.n_newer_failed,
        n_passed=sum(test.n_passed for test in tests),
        score=mean_score([test.score / test.n for test in tests]) if tests else None,
        strict_score=sum(strict) / len(strict) if strict else None,
        pass_rate=mean_score([test.n_passed / test.n for test in tests]) if tests else None,
        time=_summarise_times(sorted(tally.times["execution_time_ms"])),
        parts=_mean_parts(tally),
        first_token_ms=percentile(first_tokens, 0.5) if first_tokens else None,
        load_ms=tally.mean("load_ms"),
        **{name: tally.sums.get(name) for name in (*_COUNTED, *_PAID)},  # type: ignore[arg-type]
        tokens_per_s=tally.rate("tokens_per_s"),
        generation_tokens_per_s=tally.rate("generation_tokens_per_s"),
        prompt_tokens_per_s=tally.rate("prompt_tokens_per_s"),
        memory_bytes=max(sizes, default=None),
        gpu_share=min(shares, default=None),
        marks=dict(tally.marks.most_common()),
        failures=counts.failures,
        n_told={**tally.n, "first_token_ms": len(first_tokens)},
    )


def _mean_parts(tally: Tally) -> TimeParts | None:
    total = tally.mean("parts")
    if total is None:
        return None
    n = tally.n["parts"]
    queue, prefill, decode, thinking = (
        tally.sums[name] / n for name in (*_PHASES, "decode_ms", "thinking_ms")
    )
    return TimeParts(
        n=n,
        queue_ms=queue,
        prefill_ms=prefill,
        thinking_ms=thinking,
        answer_ms=decode - thinking,
        other_ms=max(0.0, total - queue - prefill - decode),
    )


def _summarise_times(ordered_ms: list[float]) -> TimeSummary | None:
    if not ordered_ms:
        return None
    return TimeSummary(
        mean_ms=sum(ordered_ms) / len(ordered_ms),
        median_ms=percentile(ordered_ms, 0.5),
        p95_ms=percentile(ordered_ms, 0.95),
        n=len(ordered_ms),
    )
