"""What is known about the difference between two LLMs."""

from __future__ import annotations

from dataclasses import dataclass

from poor_bench.statistics.estimate import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """Two LLMs on the tests that both have scored.

    Every figure rests on the common tests alone; trials of one test are averaged first.
    """

    llm_a: str
    llm_b: str
    mean_a: float
    mean_b: float
    difference: Estimate
    """Mean of a's score minus b's with its own 95 % interval; `n` is the number of tests."""
    n_better: int
    """Tests on which a scored more than b."""
    n_worse: int
    """Tests on which a scored less than b."""
    p_value: float
    """Of this pair alone (sign-flip permutation test)."""
    p_adjusted: float
    """Valid for all compared pairs together (Holm)."""
    smallest_difference: float
    """The smallest true difference that so many tests show in 80 % of cases."""
    needed_tests: int | None
    """Common tests that show a difference as large as the one seen in 80 % of cases, this pair
    compared alone; None where none is seen."""
    needed_trials: int | None
    """Trials of each of the present tests that do the same; None where these tests are too few
    however often they are tried, or where none was tried twice, so that it is not known."""

    def is_real(self, alpha: float = 0.05) -> bool:
        """Return whether the difference is established, given all that was compared."""
        return self.p_adjusted < alpha
