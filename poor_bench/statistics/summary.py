"""From results to one row of figures per LLM, class or level.

Nothing here needs numpy or scipy. Results may come from an iterator: one pass, in memory a few
numbers per LLM and test.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from poor_bench.models.failure import FailureKind
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.statistics.intervals import Estimate, mean_score, percentile


class GroupBy(StrEnum):
    """What one row of a summary stands for."""

    LLM = "llm"
    LLM_CLASS = "llm_class"
    LLM_LEVEL = "llm_level"
    LLM_CLASS_LEVEL = "llm_class_level"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Which results a row sums up; None where it spans all classes or levels."""

    llm_id: str
    class_id: str | None = None
    """Empty where the test is not known any more."""
    level: int | None = None
    """0 where the test is not known any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSummary:
    """Execution times of scored trials, in milliseconds."""

    mean_ms: float
    median_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One row: an LLM on all tests, on a test class, on a level, or on both.

    Failures are counted apart and enter no mean, rate or time.
    """

    group: Group
    n_tests: int
    """Tests with at least one scored trial."""
    n_scored: int
    """Scored trials."""
    n_failed: int
    """Trials without a score that failed to run."""
    n_passed: int
    """Scored trials that reached the pass mark."""
    score: Estimate | None
    """Mean over tests; None where nothing was scored."""
    strict_score: float | None
    """Mean over tests under the format rules; equals the score where every rule was kept."""
    pass_rate: Estimate | None
    """Mean over tests of the share of passed trials."""
    time: TimeSummary | None
    """None where no scored trial says how long it took."""
    prompt_tokens: int
    """Sum over the trials that tell."""
    completion_tokens: int
    """Sum over the trials that tell."""
    tokens_per_s: float | None
    """Generated tokens per second of execution time: queue, prompt processing and network count."""
    generation_tokens_per_s: float | None
    """Generated tokens per second of generating, over the trials whose server tells that time."""
    cost_usd: float | None
    """Sum over the trials that tell, failed ones included; None where none does."""
    judge_cost_usd: float | None
    """What judging their responses cost on top, likewise."""
    marks: Mapping[str, int]
    """Mark to the number of trials that carry it."""
    failures: Mapping[FailureKind, int]
    """Why the trials of `n_failed` failed."""
    n_newer_failed: int = 0
    """Scored trials whose newer attempt failed; not in `n_failed`."""

    @property
    def scored_share(self) -> float:
        """Share of the trials that ended with a score, 0.0 to 1.0; stands beside every score."""
        return scored_share(self.n_scored, self.n_failed)


def scored_share(n_scored: int, n_failed: int, n_pending: int = 0) -> float:
    """Return the share of trials that ended with a score.

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


_MOST_BITS = 4096


class TrialCounts(NamedTuple):
    """How trials ended, each trial counted once: what every screen shows and every gate checks.

    A trial with a stored score is scored, even if a newer attempt failed.
    """

    n_scored: int
    n_failed: int
    """Trials without a score that failed to run."""
    n_newer_failed: int
    """Scored trials whose newer attempt failed; not in `n_failed`."""
    failures: Mapping[FailureKind, int]
    """Why the trials of `n_failed` failed, the most frequent first."""


def count_trials(results: Iterable[Result]) -> TrialCounts:
    """Count how the trials of any LLMs ended.

    Args:
        results: In any order; a trial may have a score and a newer failure.
    """
    tallies: dict[str, Tally] = {}
    for result in results:
        tallies.setdefault(result.llm_id, Tally()).add(result, 1.0)
    counts = [tally.counts() for tally in tallies.values()]
    failures: Counter[FailureKind] = Counter()
    for each in counts:
        failures.update(each.failures)
    return TrialCounts(
        n_scored=sum(each.n_scored for each in counts),
        n_failed=sum(each.n_failed for each in counts),
        n_newer_failed=sum(each.n_newer_failed for each in counts),
        failures=dict(failures.most_common()),
    )


class TestTally:
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

    It keeps a few numbers per test and eight bytes per execution time, never a result.
    """

    __slots__ = (
        "completion_tokens",
        "cost_usd",
        "failed",
        "far_scored",
        "generated_tokens",
        "generation_ms",
        "has_cost",
        "has_judge_cost",
        "judge_cost_usd",
        "marks",
        "prompt_tokens",
        "tests",
        "timed_ms",
        "timed_tokens",
        "times_ms",
    )

    def __init__(self) -> None:
        self.tests: dict[str, TestTally] = {}
        self.times_ms = array("d")
        self.marks: Counter[str] = Counter()
        self.failed: dict[tuple[str, int], FailureKind | None] = {}
        """Test id and number of each trial that has a failure."""
        self.far_scored: set[tuple[str, int]] = set()
        """Scored trials from `_MOST_BITS` on."""
        self.prompt_tokens = 0
        self.completion_tokens = 0
        self.generated_tokens = 0
        self.generation_ms = 0.0
        self.timed_tokens = 0
        self.timed_ms = 0.0
        self.cost_usd = 0.0
        self.has_cost = False
        self.judge_cost_usd = 0.0
        self.has_judge_cost = False

    def add(self, result: Result, pass_score: float) -> None:
        """Take one result into the sums."""
        if result.cost_usd is not None:
            self.cost_usd += result.cost_usd
            self.has_cost = True
        judge_cost = result.judge_cost_usd
        if judge_cost is not None:
            self.judge_cost_usd += judge_cost
            self.has_judge_cost = True
        if result.score is None:
            self._add_failure(result)
            return
        self._add_score(result, result.score, pass_score)
        if result.execution_time_ms is not None:
            self.times_ms.append(result.execution_time_ms)
        if result.marks:
            self.marks.update(result.marks)
        if result.completion_tokens is not None:
            self._add_tokens(result, result.completion_tokens)

    def merge(self, other: Tally) -> None:
        """Take in another tally; both must not share a test."""
        self.tests.update(other.tests)
        self.times_ms.extend(other.times_ms)
        self.marks.update(other.marks)
        self.failed.update(other.failed)
        self.far_scored.update(other.far_scored)
        self.prompt_tokens += other.prompt_tokens
        self.completion_tokens += other.completion_tokens
        self.generated_tokens += other.generated_tokens
        self.generation_ms += other.generation_ms
        self.timed_tokens += other.timed_tokens
        self.timed_ms += other.timed_ms
        self.cost_usd += other.cost_usd
        self.has_cost = self.has_cost or other.has_cost
        self.judge_cost_usd += other.judge_cost_usd
        self.has_judge_cost = self.has_judge_cost or other.has_judge_cost

    def counts(self) -> TrialCounts:
        """Return how the trials ended."""
        unscored = [kind for trial, kind in self.failed.items() if not self._is_scored(*trial)]
        return TrialCounts(
            n_scored=sum(test.n for test in self.tests.values()),
            n_failed=len(unscored),
            n_newer_failed=len(self.failed) - len(unscored),
            failures=dict(Counter(kind for kind in unscored if kind is not None).most_common()),
        )

    def _is_scored(self, test_id: str, trial: int) -> bool:
        if trial >= _MOST_BITS:
            return (test_id, trial) in self.far_scored
        test = self.tests.get(test_id)
        return test is not None and bool(test.trials >> trial & 1)

    def _add_failure(self, result: Result) -> None:
        kind = result.failure.kind if result.failure is not None else None
        self.failed[result.test_id, result.trial] = kind

    def _add_score(self, result: Result, score: float, pass_score: float) -> None:
        test = self.tests.get(result.test_id)
        if test is None:
            test = self.tests[result.test_id] = TestTally()
        if result.trial < _MOST_BITS:
            test.trials |= 1 << result.trial
        else:
            self.far_scored.add((result.test_id, result.trial))
        test.n += 1
        test.n_passed += score >= pass_score
        test.score += score
        test.strict += score if result.strict_score is None else result.strict_score

    def _add_tokens(self, result: Result, completion_tokens: int) -> None:
        self.completion_tokens += completion_tokens
        self.prompt_tokens += result.prompt_tokens or 0
        if result.execution_time_ms:
            self.timed_tokens += completion_tokens
            self.timed_ms += result.execution_time_ms
        if result.decode_ms:
            self.generated_tokens += completion_tokens
            self.generation_ms += result.decode_ms


_UNKNOWN = ("", 0)


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


def _summary_of(group: Group, tally: Tally) -> Summary:
    tests = tally.tests.values()
    strict = [test.strict / test.n for test in tests]
    counts = tally.counts()
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
        time=_time_of(sorted(tally.times_ms)),
        prompt_tokens=tally.prompt_tokens,
        completion_tokens=tally.completion_tokens,
        tokens_per_s=_per_second(tally.timed_tokens, tally.timed_ms),
        generation_tokens_per_s=_per_second(tally.generated_tokens, tally.generation_ms),
        cost_usd=tally.cost_usd if tally.has_cost else None,
        judge_cost_usd=tally.judge_cost_usd if tally.has_judge_cost else None,
        marks=dict(tally.marks.most_common()),
        failures=counts.failures,
    )


def _per_second(tokens: int, milliseconds: float) -> float | None:
    return tokens / milliseconds * 1000 if milliseconds else None


def _time_of(ordered_ms: list[float]) -> TimeSummary | None:
    if not ordered_ms:
        return None
    return TimeSummary(
        mean_ms=sum(ordered_ms) / len(ordered_ms),
        median_ms=percentile(ordered_ms, 0.5),
        p95_ms=percentile(ordered_ms, 0.95),
    )
