"""A gate: one requirement on the results, and how its check ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase

from poor_bench.statistics.non_inferiority import GateVerdict

EVERY = "*"
DEFAULT_TOLERANCE = 0.05
"""Drop of the mean score that `NO_REGRESSION` accepts unless told otherwise."""


class GateKind(StrEnum):
    """Figure that a gate checks."""

    MIN_SCORE = "min_score"
    """Mean score, 0.0 to 1.0."""
    MIN_PASSED = "min_pass_rate"
    """Mean share of passed trials, 0.0 to 1.0."""
    MAX_P95_MS = "max_p95_ms"
    """Time within which 95 % of the scored trials end, in milliseconds."""
    MAX_COST_USD = "max_cost_usd"
    """Sum of what the trials cost, in US dollars."""
    MIN_SCORED_SHARE = "min_scored_share"
    """Share of the trials that ended with a score, 0.0 to 1.0."""
    NO_REGRESSION = "no_regression"
    """No mean score that dropped by more than a tolerance since the baseline, on the same tests."""
    UP_TO_DATE = "up_to_date"
    """No result of another prompt, other parameters or another evaluator than today's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One thing that must hold of the results, for every LLM and class that it names."""

    kind: GateKind
    limit: float = 0.0
    """In the unit of the kind; for `NO_REGRESSION` the accepted drop of the mean score, 0.0 to 1.0;
    of no meaning for `UP_TO_DATE`."""
    llm_pattern: str = EVERY
    """Glob of LLM ids or labels."""
    class_pattern: str | None = None
    """Glob of class ids, each checked apart; None checks all tests together."""
    baseline: str = ""
    """Baseline of `NO_REGRESSION`: a file, a run, `previous`, ..."""
    only_warns: bool = False
    """True if it was not asked for: then it fails only if all warnings do."""

    def is_about(self, *llm_names: str) -> bool:
        """True if an LLM is meant, by one of its names."""
        return any(_matches(name, self.llm_pattern) for name in llm_names if name)

    def is_about_class(self, class_id: str) -> bool:
        """True if a class is meant."""
        return self.class_pattern is None or _matches(class_id, self.class_pattern)


def _matches(name: str, pattern: str) -> bool:
    return name == pattern or fnmatchcase(name, pattern)


IMPLIED_GATES = (
    Gate(kind=GateKind.MIN_SCORED_SHARE, limit=1.0, only_warns=True),
    Gate(kind=GateKind.UP_TO_DATE, only_warns=True),
)
"""Gates that are always checked, so that results are never incomplete unnoticed."""


class GateStatus(StrEnum):
    """How a check of a gate ended."""

    PASSED = "passed"
    WARNING = "warning"
    """It may not hold, but chance is not ruled out; or something beside it is amiss."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Observation:
    """Result of checking a limit."""

    status: GateStatus
    observed: float | None = None
    """In the unit of the gate's kind; None where there was nothing to check."""
    reason: str = ""
    """Observation in one sentence."""
    verdict: GateVerdict | None = None
    """Of `NO_REGRESSION`; None for gates of other kinds, and where nothing was compared."""
    low: float | None = None
    """Lower limit of what is observed, where the verdict rests on it."""
    high: float | None = None
    """Upper limit, as `low`."""


NOTHING = "nothing to check: "


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOutcome(Observation):
    """A gate for one LLM, on all tests or on one class."""

    gate: Gate
    llm_id: str = ""
    """Empty where no LLM could be checked at all."""
    class_id: str | None = None
    """None where all tests were looked at together."""


def make_strict(outcomes: Iterable[GateOutcome]) -> list[GateOutcome]:
    """Turn every warning into a failure."""
    return [
        replace(outcome, status=GateStatus.FAILED)
        if outcome.status is GateStatus.WARNING
        else outcome
        for outcome in outcomes
    ]


def has_failed(outcomes: Iterable[GateOutcome]) -> bool:
    """True if any gate failed."""
    return any(outcome.status is GateStatus.FAILED for outcome in outcomes)
