"""Significance test of a new prompt on held-out cases; pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from poor_bench.statistics.intervals import Estimate, paired_interval

LEAST_TO_PROVE = 5
"""Held-out cases below which no interval of `paired_interval` lies above 0, whatever the gain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A prompt against the one it would replace, on the held-out cases."""

    mean_base: float
    mean_new: float
    gain: Estimate
    """Mean of the differences, new minus base, with its 95 % interval."""
    n_better: int
    n_worse: int

    @property
    def is_proven(self) -> bool:
        """True if the whole interval is above 0."""
        return self.gain.low > 0

    @property
    def sentence(self) -> str:
        """The finding in words."""
        span = f"{self.gain.low:+.3f} to {self.gain.high:+.3f}"
        figures = f"{self.gain.value:+.3f} ({span}) on {self.gain.n} held-out tests"
        if self.is_proven:
            return f"Significant gain: {figures}."
        if self.gain.high < 0:
            return f"The new prompt is significantly worse: {figures}."
        if self.gain.n < LEAST_TO_PROVE:
            return f"No significant difference: {figures}. The held-out tests are too few."
        return f"No significant difference: {figures}."


def prove(base: Mapping[str, float], new: Mapping[str, float]) -> Proof:
    """Compare two prompts on the cases that both were tried on.

    Args:
        base: Case id to score, 0.0 to 1.0, with the old prompt.
        new: The same with the new one.

    Raises:
        ValueError: If they have no case in common.

    Source:
        `poor_bench.statistics.intervals`.

    Example:
        >>> proof = prove({str(n): 0.0 for n in range(9)}, {str(n): 1.0 for n in range(9)})
        >>> proof.is_proven, proof.n_better, proof.n_worse
        (True, 9, 0)
    """
    common = [case_id for case_id in base if case_id in new]
    differences = [new[case_id] - base[case_id] for case_id in common]
    gain = paired_interval(differences)
    return Proof(
        mean_base=math.fsum(base[case_id] for case_id in common) / len(common),
        mean_new=math.fsum(new[case_id] for case_id in common) / len(common),
        gain=gain,
        n_better=sum(difference > 0 for difference in differences),
        n_worse=sum(difference < 0 for difference in differences),
    )
