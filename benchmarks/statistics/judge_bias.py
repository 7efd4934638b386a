"""How often an unbiased judge is accused of liking long answers or a position, and a biased one.

Length: quality is correlated with the logarithm of the length; readers and judge see quality with
noise; the judge may use less of the scale. Position: a judge that draws its answer anew at each
request is inconsistent, not biased.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray
from simulation import Figure, measure_share, print_figures, read_runs

from poor_bench.judge.pairwise_results import PairComparison, PairwiseTally, Position
from poor_bench.statistics.partial_effect import estimate_partial_effect

Numbers = NDArray[np.float64]
_SPREAD = 2.0
_WORLDS = ((0.7, 0.0), (0.7, 0.6), (1.5, 0.3), (1.5, 0.6), (2.5, 0.6))
"""Noise of readers in points, and correlation of quality and length."""
_POSITIONS = (
    (0.0, 0.5, 0.0), (0.5, 0.5, 0.0), (0.8, 0.5, 0.0), (1.0, 0.5, 0.0),
    (0.5, 0.8, 0.0), (0.8, 1.0, 0.0), (0.5, 0.5, 0.5),
)  # fmt: skip
"""Share of answers decided by quality, share of guesses for the first position, and how much that
differs between pairs."""


def draw_scores(
    rng: np.random.Generator,
    n: int,
    *,
    readers: int,
    noise: float,
    correlation: float,
    effect: float,
    slope: float = 1.0,
    offsets: bool = False,
) -> tuple[Numbers, Numbers, Numbers]:
    """Draw the judge's scores, log2 of the lengths (sd 1), and readers' scores by item."""
    length = rng.normal(0, 1, n)
    quality = _SPREAD * (correlation * length + np.sqrt(1 - correlation**2) * rng.normal(0, 1, n))
    people = 5.5 + quality[:, None] + rng.normal(0, noise, (n, readers))
    if offsets:
        people += np.linspace(-1, 1, readers)
        missing = rng.random((n, readers)) < 0.3
        missing[np.arange(n), rng.integers(readers, size=n)] = False
    judge = 5.5 + slope * quality + effect * length + rng.normal(0, 0.7, n)
    judge, people = np.clip(np.round(judge), 0, 10), np.clip(np.round(people), 0, 10)
    if offsets:
        people[missing] = np.nan
    return judge, length, people


def count_accused(rng: np.random.Generator, runs: int, n: int, **world: float) -> tuple[int, int]:
    """Count runs with an interval above 0, and runs with one below."""
    above = below = 0
    for _ in range(runs):
        found = estimate_partial_effect(*draw_scores(rng, n, **world))
        above += found is not None and found.low > 0
        below += found is not None and found.high < 0
    return above, below


def accuse_unbiased(runs: int) -> Iterator[Figure]:
    """Yield accusations of unbiased judges, over all worlds and in the worst one, drawn anew."""
    rng = np.random.default_rng(1)
    worst: dict[str, float] = {}
    most = -1
    for readers, n in product((1, 2, 3), (30, 60, 150)):
        total = 0
        for (noise, correlation), slope in product(_WORLDS, (1.0, 0.6)):
            world = {"readers": readers, "noise": noise, "correlation": correlation, "slope": slope}
            found = sum(count_accused(rng, runs, n, effect=0.0, **world))
            total += found
            if found > most:
                most, worst = found, {"n": n, **world}
        label = f"unbiased judge accused, {readers} readers, {n} items"
        yield measure_share(label, total, 2 * len(_WORLDS) * runs, at_most=0.05)
    again = sum(count_accused(rng, 10 * runs, effect=0.0, **worst))
    yield measure_share(f"worst of these worlds: {worst}", again, 10 * runs, at_most=0.05)
    for n in (60, 150):
        world = {"readers": 3, "noise": 1.5, "correlation": 0.6, "effect": 0.0}
        found = sum(count_accused(rng, 5 * runs, n, offsets=True, **world))
        label = f"3 readers of different strictness, 20 % of their scores missing, {n} items"
        yield measure_share(label, found, 5 * runs, at_most=0.05)


def accuse_in_groups(runs: int) -> Iterator[Figure]:
    """Yield accusations where answers of a group are alike in length and in the judge's error."""
    rng = np.random.default_rng(4)
    for readers, n_groups in product((1, 3), (10, 20, 40)):
        groups = [str(place // 5) for place in range(5 * n_groups)]
        accused = alone = 0
        for _ in range(runs):
            length, shared = (np.repeat(rng.normal(0, 1, n_groups), 5) for _ in range(2))
            noise = {"readers": readers, "noise": 1.5, "correlation": 0.0, "effect": 0.0}
            judge, own, people = draw_scores(rng, len(groups), **noise)
            length, judge = length + 0.5 * own, np.clip(judge + np.round(shared), 0, 10)
            for named in (True, False):
                found = estimate_partial_effect(judge, length, people, groups if named else None)
                is_accused = found is not None and not found.low <= 0 <= found.high
                accused += named and is_accused
                alone += not named and is_accused
        label = f"{readers} readers, {n_groups} groups of 5"
        yield measure_share(f"unbiased judge accused, {label}", accused, runs, at_most=0.05)
        yield measure_share(f"  if independent: {label}", alone, runs)


def find_biased(runs: int) -> Iterator[Figure]:
    """Yield how often a judge that adds points to long answers is found out."""
    rng = np.random.default_rng(2)
    for readers, n, effect in product((1, 2, 3), (30, 60, 150), (0.5, 1.0)):
        world = {"readers": readers, "noise": 1.0, "correlation": 0.3}
        found, _ = count_accused(rng, runs, n, effect=effect, **world)
        label = f"+{effect} points per doubling found, {readers} readers, {n} items"
        yield measure_share(label, found, runs)


def draw_pairs(
    rng: np.random.Generator, n: int, n_again: int, *, decided: float, first: float, mixed: float
) -> list[PairComparison]:
    """Draw comparisons of A and B.

    Args:
        rng: Source of randomness.
        n: Pairs.
        n_again: Pairs that are asked about twice in each order.
        decided: Share of the answers in which the judge follows the quality; else it guesses.
        first: Share of the guesses that go to the first position; 0.5 is no bias.
        mixed: Added to `first` in half of the pairs, subtracted in the others: a bias whose side
            depends on the pair.
    """
    pairs = []
    for pair in range(n):
        a_is_better = rng.random() < 0.5
        share = first + (mixed if rng.random() < 0.5 else -mixed)
        answers = []
        for a_first in (True, False, True, False)[: 4 if pair < n_again else 2]:
            follows = rng.random() < decided
            is_first = a_is_better == a_first if follows else rng.random() < share
            answers.append(Position.FIRST if is_first else Position.SECOND)
        a_again, b_again = answers[2:] or (None, None)
        pairs.append(
            PairComparison(
                case_id=str(pair),
                judge="j",
                a_first=answers[0],
                b_first=answers[1],
                a_first_again=a_again,
                b_first_again=b_again,
            )
        )
    return pairs


def position_figures(runs: int) -> Iterator[Figure]:
    """Yield how often a position bias is told, by either sentence of the report."""
    rng = np.random.default_rng(3)
    for n, n_again in ((20, 20), (60, 30), (150, 50)):
        for decided, first, mixed in _POSITIONS:
            preferred = beyond = either = 0
            for _ in range(runs):
                pairs = draw_pairs(rng, n, n_again, decided=decided, first=first, mixed=mixed)
                tally = PairwiseTally(pairs)
                found = tally.order_significance
                assert found is not None
                preferred += found.prefers_position
                beyond += found.depends_on_order
                either += found.prefers_position or found.depends_on_order
            limit = 0.05 if first == 0.5 and not mixed else None
            label = f"{n} pairs, {n_again} again, decided {decided}, first {first} ± {mixed}: "
            yield measure_share(label + "preference", preferred, runs, at_most=limit)
            yield measure_share(label + "beyond inconsistency", beyond, runs, at_most=limit)
            yield measure_share(label + "either", either, runs, at_most=limit)


def main() -> None:
    """Print all figures."""
    runs = read_runs(__doc__.splitlines()[0], default=400)
    print_figures("Unbiased judges and length", list(accuse_unbiased(runs)))
    print_figures("Unbiased judges, answers in groups", list(accuse_in_groups(6 * runs)))
    print_figures("Judges that like long answers", list(find_biased(runs)))
    print_figures("Position", list(position_figures(runs)))


if __name__ == "__main__":
    main()
