"""Figures of an LLM, or of a part of its tests, as plain data; see also `poor_bench.metrics`.

With them: how much of the tests each row rests on, and how many tests and scores are pending or
stale.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import astuple, dataclass, field, replace
from enum import StrEnum
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from poor_bench.models.failure import FailureKind
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.trials import order_codes

if TYPE_CHECKING:
    from poor_bench.statistics.trials import TrialColumns


class GroupBy(StrEnum):
    """Grouping of the rows of a summary."""

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


class StaleReason(StrEnum):
    """What changed since a score was stored, as screens say it."""

    PROMPT = "prompt"
    MODEL = "model or parameters"
    REQUEST = "prompt, model or parameters"
    """The score stores no prompt, so that these cannot be told apart."""
    EVALUATOR = "evaluator"


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
    n_asked: int = 0
    """Tests with any result, scored or failed."""
    last_trial: int = 1
    """Highest trial number of any result, from 1."""
    n_all: int | None = None
    """Tests of this row that any model was scored on; None if not known."""
    n_pending: int | None = None
    """Tests of this row without any result; None if not known, or no run can ask the model."""
    n_failed: int
    """Trials that failed to run and have no score."""
    n_passed: int
    """Scored trials that reached the pass mark."""
    score: Estimate | None
    """Mean over tests."""
    strict_score: float | None
    """Mean over `n_strict` tests under the format rules; None if not known."""
    pass_rate: Estimate | None
    """Mean over tests of the share of passed trials."""
    format_tax: float | None = None
    """Mean over the same tests of the score that a broken rule cost; None if not known."""
    n_strict: int = 0
    """Tests whose strict score is known."""
    adjusted_score: float | None = None
    """Score that it would probably have on all tests, see `Ranking.adjusted`; None where no LLM
    misses a test."""
    predicted_score: Estimate | None = None
    """Score that it would probably have on all tests, where it ran the short form only."""
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
    n_stale: int | None = None
    """Scored trials whose prompt, parameters or evaluator changed since; None if not known."""
    stale_reasons: Mapping[StaleReason, int] = field(default_factory=dict)
    """What changed since the trials of `n_stale`."""
    n_told: Mapping[str, int] = field(default_factory=dict)
    """Name of a figure to the number of trials that report it."""

    @property
    def n_unjudged(self) -> int:
        """Trials of `n_failed` that have a response, and wait for their judge."""
        return self.failures.get(FailureKind.JUDGE, 0)

    @property
    def scored_share(self) -> float:
        """Share of the trials that ended with a score, 0.0 to 1.0."""
        return compute_scored_share(self.n_scored, self.n_failed)


StaleCounts = Mapping[Group, Counter[StaleReason]]
"""Stale scores of each LLM on each class and level, by reason; only where that is known."""


def add_stale_counts(summaries: Iterable[Summary], counts: StaleCounts) -> list[Summary]:
    """Add to rows of any grouping how many of their scores are stale.

    Example:
        >>> row = Summary(group=Group(llm_id="a"), n_tests=1, n_scored=3, n_failed=0, n_passed=1,
        ...               score=None, strict_score=None, pass_rate=None)
        >>> counts = {Group(llm_id="a", class_id="c", level=1): Counter({StaleReason.PROMPT: 2})}
        >>> [row.n_stale for row in add_stale_counts([row], counts)]
        [2]
    """
    totals: dict[tuple[str, str | None, int | None], Counter[StaleReason]] = defaultdict(Counter)
    for group, found in counts.items():
        for class_id in (None, group.class_id):
            for level in (None, group.level):
                total = totals[group.llm_id, class_id, level]
                for reason, n in found.items():  # `update` takes ten times as long
                    total[reason] += n
    return [
        summary
        if (reasons := totals.get(astuple(summary.group))) is None
        else replace(summary, n_stale=reasons.total(), stale_reasons=reasons)
        for summary in summaries
    ]


class FloorRow(NamedTuple):
    """What an answer that needs no model scores: a floor under the scores of models."""

    name: str
    meaning: str
    """What it answers."""
    score: float
    """Mean over the tests, 0.0 to 1.0."""
    n_tests: int


class TrialCounts(NamedTuple):
    """How trials ended; as in `Summary`."""

    n_scored: int
    n_failed: int
    n_newer_failed: int


def count_trials(results: Collection[Result]) -> TrialCounts:
    """Count how the trials of all models ended, without the other figures and without numpy."""
    scored = {(item.llm_id, item.test_id, item.trial) for item in results if item.score is not None}
    failed = [item for item in results if item.score is None]
    n_newer = sum((item.llm_id, item.test_id, item.trial) in scored for item in failed)
    return TrialCounts(len(results) - len(failed), len(failed) - n_newer, n_newer)


def compute_scored_share(n_scored: int, n_failed: int, n_pending: int = 0) -> float:
    """Compute the share of trials that ended with a score.

    Args:
        n_scored: Trials with a score, at least 0.
        n_failed: Trials that failed to run, at least 0.
        n_pending: Planned trials without any result, at least 0.

    Returns:
        0.0 to 1.0; 0.0 without trials.

    Raises:
        ValueError: If a number is below 0.

    Example:
        >>> compute_scored_share(n_scored=18, n_failed=2)
        0.9
    """
    if min(n_scored, n_failed, n_pending) < 0:
        raise ValueError("numbers of trials must be at least 0")
    total = n_scored + n_failed + n_pending
    return n_scored / total if total else 0.0


_Part = tuple[str | None, int | None]
"""Class and level of a row; None where it spans all."""


class TestCounts(NamedTuple):
    """Tests of each class, of each level and of both."""

    present: Counter[_Part]
    """All tests."""
    scored: Counter[_Part]
    """Tests that any model was scored on."""


def count_tests(tests: Mapping[str, Test], scored: Iterable[str]) -> TestCounts:
    """Count tests by class and level.

    Args:
        tests: All tests of the workspace, or those that a report is about, by id.
        scored: Ids of the tests that any model was scored on.
    """
    known = [tests[test_id] for test_id in dict.fromkeys(scored) if test_id in tests]
    present = _count_parts(tests.values())
    return TestCounts(present, present if len(known) == len(tests) else _count_parts(known))


def add_coverage(
    rows: Iterable[Summary], counts: TestCounts, runnable: Collection[str]
) -> list[Summary]:
    """Add to rows of any grouping how many tests there are, and how many are pending.

    Args:
        rows: Rows of results of these tests.
        counts: The tests of each class and level.
        runnable: Ids of the models that a run can ask; of others nothing is pending.

    Example:
        >>> from poor_bench.statistics.summary import Group
        >>> row = Summary(group=Group(llm_id="a"), n_tests=1, n_asked=1, n_scored=1, n_failed=0,
        ...               n_passed=1, score=None, strict_score=None, pass_rate=None)
        >>> tests = {name: Test(test_id=name, class_id="c", level=1, text=name) for name in "xyz"}
        >>> [row] = add_coverage([row], count_tests(tests, ["x", "y"]), {"a"})
        >>> row.n_all, row.n_pending
        (2, 2)
    """
    return [_add_counts(row, counts, is_runnable=row.group.llm_id in runnable) for row in rows]


def find_scored_tests(trials: TrialColumns) -> tuple[str, ...]:
    """List the ids of the tests that any model was scored on."""
    used = order_codes(trials.columns["test_id"][trials.is_scored])
    return tuple(trials.values["test_id"][code] for code in used)


def _add_counts(row: Summary, counts: TestCounts, *, is_runnable: bool) -> Summary:
    part = row.group.class_id, row.group.level
    n_pending = max(0, counts.present[part] - row.n_asked) if is_runnable else None
    return replace(row, n_all=counts.scored[part], n_pending=n_pending)


def _count_parts(tests: Iterable[Test]) -> Counter[_Part]:
    counts: Counter[_Part] = Counter()
    alike = Counter((test.class_id, test.level) for test in tests)
    for (class_id, level), n_tests in alike.items():
        for part in product((None, class_id), (None, level)):
            counts[part] += n_tests
    return counts
