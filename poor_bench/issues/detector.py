"""What a detector is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from poor_bench.issues.background import Background
from poor_bench.issues.issue import Severity
from poor_bench.issues.trial import Trial

Check = Callable[[Trial, Background], str | None]
"""Looks at one trial; returns the evidence, or None where all is well."""

Find = Callable[[Sequence[Trial], Background], Iterable[tuple[Trial, str]]]
"""Looks at all trials together; yields those concerned with the evidence."""


def always(_: Trial) -> bool:
    """Return True: what is found explains the lost score."""
    return True


def never(_: Trial) -> bool:
    """Return False: what is found stands beside, and costs nothing by itself."""
    return False


class Among(StrEnum):
    """Which trials a detector wants to see; the fewer, the faster."""

    ALL = "all"
    LOST = "lost"
    """Scored, and not with a full score."""
    FAILED = "failed"
    """Failed to run."""

    def includes(self, trial: Trial) -> bool:
        """Return whether a trial is among these."""
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
    """What it means, in one sentence."""
    advice: str
    """What to try, in one sentence."""
    find: Find
    among: Among = Among.ALL
    """Which trials `find` is given."""
    explains_loss: Callable[[Trial], bool] = always
    """Whether a trial's lost score is charged to it; otherwise it only stands beside."""


def each(check: Check) -> Find:
    """Return the finder that applies `check` to every trial it is given."""

    def find(trials: Sequence[Trial], background: Background) -> Iterable[tuple[Trial, str]]:
        for trial in trials:
            evidence = check(trial, background)
            if evidence is not None:
                yield trial, evidence

    return find
