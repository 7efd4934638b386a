"""Definition of a detector."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from poor_bench.issues.background import Background
from poor_bench.issues.issue import Severity
from poor_bench.issues.trial import Trial

Check = Callable[[Trial, Background], str | None]
"""Checks one trial; returns evidence, or None."""

Find = Callable[[Sequence[Trial], Background], Iterable[tuple[Trial, str]]]
"""Checks all trials together; yields affected ones with evidence."""


def always(_: Trial) -> bool:
    """Return True: the issue explains the lost score."""
    return True


def never(_: Trial) -> bool:
    """Return False: the issue costs no score by itself."""
    return False


class Among(StrEnum):
    """Trials that a detector receives; the fewer, the faster."""

    ALL = "all"
    LOST = "lost"
    """Scored below full score."""
    FAILED = "failed"
    """Failed to run."""

    def includes(self, trial: Trial) -> bool:
        """True if a trial belongs to these."""
        if self is Among.LOST:
            return trial.is_lost
        return self is Among.ALL or trial.result.score is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector:
    """One kind of issue and how it is found."""

    id: str
    """Stable short name, also for filters and URLs."""
    title: str
    severity: Severity
    meaning: str
    """Meaning in one sentence."""
    advice: str
    """Fix in one sentence."""
    find: Find
    among: Among = Among.ALL
    """Which trials `find` is given."""
    explains_loss: Callable[[Trial], bool] = always
    """True if a trial's lost score is charged to it."""


def each(check: Check) -> Find:
    """Build the finder that applies `check` to every trial."""

    def find(trials: Sequence[Trial], background: Background) -> Iterable[tuple[Trial, str]]:
        for trial in trials:
            evidence = check(trial, background)
            if evidence is not None:
                yield trial, evidence

    return find
