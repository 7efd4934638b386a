"""From results to one row of figures per LLM, class or level.

Nothing here needs numpy or scipy. Results may come from an iterator: one pass, in memory a few
numbers per LLM and test.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from poor_bench.models.failure import FailureKind
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.statistics.intervals import percentile
from poor_bench.statistics.means import mean_score
from poor_bench.statistics.summary import Group, GroupBy, Summary, TimeParts, TimeSummary

_UNKNOWN = ("", 0)
_MOST_BITS = 4096


class Summariser:
    """Takes results one by one and gives rows at any time, grouped in any way.

    Args:
        tests: Test id to test, for rows by class or level and for groups of tests; results of
            other tests count as of class "" and level 0.
        pass_score: From which score on a trial is passed, above 0 to 1.

    Raises:
        ValueError: If `pass_score` is out of range.
    """

    def __init__(self, tests: Mapping[str, Test] | None = None, *, pass_score: float = 1.0) -> None:
        if not 0 < pass_score <= 1:
            raise ValueError(f"pass_score must be above 0 and at most 1, not {pass_score}")
        self._groups = {key: test.group for key, test in (tests or {}).items() if test.group}
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
        """Summarise each group, in the order in which the groups first appeared."""
        merged: dict[Group, Tally] = {}
        for key, tally in self._tallies.items():
            merged.setdefault(_build_group(key, by), Tally()).merge(tally)
        return [_build_summary(group, tally, self._groups) for group, tally in merged.items()]


def summarise(
    results: Iterable[Result],
    *,
    tests: Mapping[str, Test] | None = None,
    by: GroupBy = GroupBy.LLM,
    pass_score: float = 1.0,
) -> list[Summary]:
    """Compute one row of figures per LLM, or per LLM and class or level.

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
        ('a', 0.5, 0.2, 5)
    """
    summariser = Summariser(tests, pass_score=pass_score)
    for result in results:
        summariser.add(result)
    return summariser.rows(by)


def _build_group(key: tuple[str, str, int], by: GroupBy) -> Group:
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


_TOLD = (
    "cost_usd", "judge_cost_usd", "load_ms", "prompt_tokens", "cached_tokens",
    "completion_tokens", "thinking_tokens",
)  # fmt: skip
"""Figures of which the tally has a sum, and as `n_...` the number of trials that report them."""
_PARTS = ("queue_ms", "prefill_ms", "decode_ms", "thinking_ms", "parts_ms")
_RATES = ("tokens_per_s", "generation_tokens_per_s", "prompt_tokens_per_s")
_SUMS = (
    *_TOLD, *(f"n_{name}" for name in _TOLD), *_PARTS, "n_parts",
    *_RATES, *(f"{name}_ms" for name in _RATES), *(f"n_{name}" for name in _RATES),
)  # fmt: skip


class _Sums:
    """Numbers by name; they start at 0."""

    __slots__ = _SUMS
    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self) -> None:
        for name in _SUMS:
            setattr(self, name, 0)


class Tally(_Sums):
    """Sums over the results of one LLM in one class and level.

    It keeps a few numbers per test and eight bytes per time, never a result. `add` is called for
    every stored result: it reads attributes one by one, because loops over names take twice the
    time.
    """

    __slots__ = (
        "failed", "far_scored", "first_tokens_ms", "gpu_shares", "marks", "memory_sizes",
        "tests", "times_ms",
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self.tests: dict[str, _TestTally] = {}
        self.times_ms = array("d")
        self.first_tokens_ms = array("d")
        self.marks: Counter[str] = Counter()
        self.memory_sizes: Counter[int] = Counter()
        self.gpu_shares: Counter[float] = Counter()
        self.failed: dict[tuple[str, int], FailureKind | None] = {}
        """Test id and number of each trial that has a failure."""
        self.far_scored: set[tuple[str, int]] = set()
        """Scored trials from `_MOST_BITS` on."""

    def add(self, result: Result, pass_score: float) -> None:
        """Take one result into the sums."""
        if result.cost_usd is not None:
            self.cost_usd += result.cost_usd
            self.n_cost_usd += 1
        if result.judgement is not None and (cost := result.judge_cost_usd) is not None:
            self.judge_cost_usd += cost
            self.n_judge_cost_usd += 1
        if result.score is None:
            kind = result.failure.kind if result.failure is not None else None
            self.failed[result.test_id, result.trial] = kind
            return
        self._add_score(result, result.score, pass_score)
        if result.marks:
            self.marks.update(result.marks)
        if result.memory_bytes is not None:
            self.memory_sizes[result.memory_bytes] += 1
        if result.gpu_share is not None:
            self.gpu_shares[result.gpu_share] += 1
        self._add_times(result)
        self._add_tokens(result)

    def merge(self, other: Tally) -> None:
        """Take in another tally; both must not share a test."""
        self.tests.update(other.tests)
        self.failed.update(other.failed)
        self.far_scored.update(other.far_scored)
        self.times_ms.extend(other.times_ms)
        self.first_tokens_ms.extend(other.first_tokens_ms)
        for name in ("marks", "memory_sizes", "gpu_shares"):
            getattr(self, name).update(getattr(other, name))
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def counts(self) -> TrialCounts:
        """Count how the trials ended."""
        unscored = [kind for trial, kind in self.failed.items() if not self._is_scored(*trial)]
        return TrialCounts(
            n_scored=sum(test.n for test in self.tests.values()),
            n_failed=len(unscored),
            n_newer_failed=len(self.failed) - len(unscored),
            failures=dict(Counter(kind for kind in unscored if kind is not None).most_common()),
        )

    def total(self, name: str) -> float | None:
        """Sum of a figure over the trials that report it; None where none does."""
        return getattr(self, name) if getattr(self, f"n_{name}") else None

    def rate(self, name: str) -> float | None:
        """Tokens per second over the trials that report both tokens and milliseconds."""
        milliseconds = getattr(self, f"{name}_ms")
        return getattr(self, name) / milliseconds * 1000 if milliseconds else None

    def n_told(self) -> dict[str, int]:
        """Count the trials that report each figure."""
        told = {name: getattr(self, f"n_{name}") for name in (*_TOLD, *_RATES)}
        told["first_token_ms"] = len(self.first_tokens_ms)
        told["memory_bytes"] = self.memory_sizes.total()
        told["gpu_share"] = self.gpu_shares.total()
        return told

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

    def _add_times(self, result: Result) -> None:
        total, decode = result.execution_time_ms, result.decode_ms
        if result.first_token_ms is not None:
            self.first_tokens_ms.append(result.first_token_ms)
        if result.load_ms:
            self.load_ms += result.load_ms
            self.n_load_ms += 1
        if total is None:
            return
        self.times_ms.append(total)
        if decode is not None:
            self.n_parts += 1
            self.parts_ms += total
            self.queue_ms += result.queue_ms or 0.0
            self.prefill_ms += result.prefill_ms or 0.0
            self.decode_ms += decode
            self.thinking_ms += decode * result.thinking_share if decode else 0.0

    def _add_tokens(self, result: Result) -> None:
        generated, prompt = result.completion_tokens, result.prompt_tokens
        if result.cached_tokens is not None:
            self.cached_tokens += result.cached_tokens
            self.n_cached_tokens += 1
        if result.thinking_tokens is not None:
            self.thinking_tokens += result.thinking_tokens
            self.n_thinking_tokens += 1
        if prompt is not None:
            self.prompt_tokens += prompt
            self.n_prompt_tokens += 1
            read = max(0, prompt - (result.cached_tokens or 0))
            if read and result.prefill_ms:
                self.prompt_tokens_per_s += read
                self.prompt_tokens_per_s_ms += result.prefill_ms
                self.n_prompt_tokens_per_s += 1
        if generated is not None:
            self.completion_tokens += generated
            self.n_completion_tokens += 1
            if generated and result.execution_time_ms:
                self.tokens_per_s += generated
                self.tokens_per_s_ms += result.execution_time_ms
                self.n_tokens_per_s += 1
            if generated and result.decode_ms:
                self.generation_tokens_per_s += generated
                self.generation_tokens_per_s_ms += result.decode_ms
                self.n_generation_tokens_per_s += 1


def _build_summary(group: Group, tally: Tally, groups: Mapping[str, str]) -> Summary:
    tests = tally.tests.values()
    own = [groups.get(test_id) for test_id in tally.tests] if groups else None
    strict = [test.strict / test.n for test in tests]
    counts = tally.counts()
    load_ms, first_tokens = tally.total("load_ms"), sorted(tally.first_tokens_ms)
    n_told = tally.n_told()
    return Summary(
        group=group,
        n_tests=len(tests),
        n_scored=counts.n_scored,
        n_failed=counts.n_failed,
        n_newer_failed=counts.n_newer_failed,
        n_passed=sum(test.n_passed for test in tests),
        score=mean_score([test.score / test.n for test in tests], own) if tests else None,
        strict_score=sum(strict) / len(strict) if strict else None,
        pass_rate=mean_score([test.n_passed / test.n for test in tests], own) if tests else None,
        time=_summarise_times(sorted(tally.times_ms)),
        parts=_mean_parts(tally),
        first_token_ms=percentile(first_tokens, 0.5) if first_tokens else None,
        load_ms=None if load_ms is None else load_ms / n_told["load_ms"],
        **{name: tally.total(name) for name in _TOLD if name != "load_ms"},  # type: ignore[arg-type]
        **{name: tally.rate(name) for name in _RATES},  # type: ignore[arg-type]
        memory_bytes=max(tally.memory_sizes, default=None),
        gpu_share=min(tally.gpu_shares, default=None),
        marks=dict(tally.marks.most_common()),
        failures=counts.failures,
        n_told=n_told,
    )


def _mean_parts(tally: Tally) -> TimeParts | None:
    n = tally.n_parts
    if not n:
        return None
    queue, prefill, decode, thinking, total = (getattr(tally, name) / n for name in _PARTS)
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
