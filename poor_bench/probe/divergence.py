"""Do repeated answers agree as one random stream does, or part like independent ones? Pure.

Answers to the same prompt are compared word by word up to the first difference. A pair that agrees
in `n` words and then parts is `n` draws that matched and one that did not. Servers that repeat
themselves still part now and then, as parallel sums are rounded differently. So agreement is
weighed against parting by Bayes factors, not by equality.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

Words = Sequence[str]

_STEADY = (0.5, 25.0)
"""Beta prior of the chance to part at a word while the draws are the same: 2 % on average."""
_FREE = (2.0, 3.0)
"""Beta prior of the same chance while the draws are independent."""


@dataclass(frozen=True, slots=True)
class AnswerAgreement:
    """How far pairs of answers agree."""

    n_agreed: int
    """Words before the first difference, over all pairs."""
    n_parted: int
    """Pairs with a difference."""
    n_pairs: int

    @property
    def text(self) -> str:
        """Description, such as `agree in 3 words on average`."""
        if not self.n_pairs:
            return "cannot be compared"
        if not self.n_parted:
            return f"agree in all of their {self.n_agreed // self.n_pairs} words"
        return f"part after {self.n_agreed / self.n_pairs:.0f} words on average"

    def log_steady(self) -> float:
        """Log probability of these pairs while the draws are the same."""
        return self._log_probability(*_STEADY)

    def log_free(self) -> float:
        """Log probability of these pairs while the draws are independent."""
        return self._log_probability(*_FREE)

    def __add__(self, other: AnswerAgreement) -> AnswerAgreement:
        """Join two sets of pairs."""
        return AnswerAgreement(
            self.n_agreed + other.n_agreed,
            self.n_parted + other.n_parted,
            self.n_pairs + other.n_pairs,
        )

    def _log_probability(self, a: float, b: float) -> float:
        return _log_beta(a + self.n_parted, b + self.n_agreed) - _log_beta(a, b)


def compare_pairs(pairs: Iterable[tuple[Words, Words]], n_shared: int = 0) -> AnswerAgreement:
    """Compare pairs of answers.

    Args:
        pairs: Words of two answers each.
        n_shared: Words at the beginning that all answers share and that say nothing.
    """
    total = AnswerAgreement(0, 0, 0)
    for first, second in pairs:
        if not first or not second:
            continue
        n_agreed = count_shared([first, second])
        has_parted = n_agreed < min(len(first), len(second))
        total += AnswerAgreement(max(0, n_agreed - n_shared), int(has_parted), 1)
    return total


def count_shared(answers: Sequence[Words]) -> int:
    """Count the words at the beginning that all answers share."""
    rows = zip(*answers, strict=False)
    return sum(1 for _ in takewhile(lambda row: len(set(row)) == 1, rows))


@dataclass(frozen=True, slots=True)
class Weights:
    """Posterior probabilities of three ways to draw; they add up to 1."""

    first_steady: float
    """The first set repeats itself, the second does not."""
    both_free: float
    both_steady: float


def weigh(first: AnswerAgreement, second: AnswerAgreement) -> Weights:
    """Weigh three hypotheses about two sets of pairs, equally likely beforehand.

    Source:
        Beta-binomial marginal likelihoods with the priors above; pairs that share an answer count
        as independent.
    """
    logs = (
        first.log_steady() + second.log_free(),
        (first + second).log_free(),
        (first + second).log_steady(),
    )
    top = max(logs)
    parts = [math.exp(value - top) for value in logs]
    return Weights(*(part / sum(parts) for part in parts))


def probability_free(pairs: AnswerAgreement) -> float:
    """Compute the posterior probability that the draws are independent, 0.0 to 1.0."""
    return 1 / (1 + math.exp(pairs.log_steady() - pairs.log_free()))


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
