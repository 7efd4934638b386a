"""Running sums over results: what a summary row is made of."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from poor_bench.models.failure import FailureKind
from poor_bench.models.result import Result

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
