"""Coverage of the intervals of tests in groups, by size, likeness and kind of score.

Each group has an ability of its own from a beta distribution; likeness is the intraclass
correlation of binary scores. "If independent" is what the interval covers that ignores groups.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from simulation import Figure, measure_share, print_figures, read_runs

from poor_bench.statistics.differences import estimate_paired_difference
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.means import mean_score

_SIZES: dict[str, list[int]] = {
    "10 groups of 2": [2] * 10,
    "10 groups of 5": [5] * 10,
    "10 groups of 20": [20] * 10,
    "10 groups of 2 to 20": [2, 3, 3, 4, 5, 6, 8, 10, 14, 20],
    "20 groups of 5": [5] * 20,
}
_LIKENESS = (0.0, 0.1, 0.3, 0.7)
_MEANS = (0.5, 0.8, 0.95)
_TRUTH_DRAWS = 400_000

Scores = NDArray[np.float64]


def _draw_abilities(
    rng: np.random.Generator, shape: tuple[int, int], mean: float, likeness: float
) -> Scores:
    if likeness == 0:
        return np.full(shape, mean)
    total = 1 / likeness - 1
    return rng.beta(mean * total, (1 - mean) * total, shape)


def _draw_scores(rng: np.random.Generator, abilities: Scores, kind: str) -> Scores:
    """Draw a score of each test, given the ability of its group."""
    if kind == "binary":
        return np.asarray((rng.random(abilities.shape) < abilities) * 1.0)
    if kind == "fifths":
        return np.asarray(rng.binomial(5, abilities) / 5)
    return rng.beta(np.maximum(8 * abilities, 1e-3), np.maximum(8 * (1 - abilities), 1e-3))


def _simulate_mean(name: str, kind: str, mean: float, likeness: float, runs: int) -> list[Figure]:
    rng = np.random.default_rng(7)
    sizes = _SIZES[name]
    groups = [str(number) for number, size in enumerate(sizes) for _ in range(size)]
    abilities = _draw_abilities(rng, (runs, len(sizes)), mean, likeness)
    scores = _draw_scores(rng, np.repeat(abilities, sizes, axis=1), kind).tolist()
    many = _draw_abilities(rng, (_TRUTH_DRAWS, 1), mean, likeness)
    truth = mean if kind != "graded" else float(_draw_scores(rng, many, kind).mean())
    found = [mean_score(row, groups) for row in scores]
    alone = [mean_score(row) for row in scores]
    label = f"{name}, {kind}, mean {mean}, likeness {likeness}"
    return [
        measure_share(label, _count_hits(found, truth), runs, at_least=0.93, at_most=0.97),
        measure_share(f"{label}: if independent", _count_hits(alone, truth), runs),
    ]


def _simulate_difference(name: str, kind: str, likeness: float, runs: int) -> Figure:
    """Two models that are equally good on average, each with abilities by group of its own."""
    rng = np.random.default_rng(8)
    sizes = _SIZES[name]
    groups = [str(number) for number, size in enumerate(sizes) for _ in range(size)]
    sides = [
        _draw_scores(
            rng,
            np.repeat(_draw_abilities(rng, (runs, len(sizes)), 0.7, likeness), sizes, axis=1),
            kind,
        )
        for _ in range(2)
    ]
    found = [estimate_paired_difference(row, groups) for row in (sides[0] - sides[1]).tolist()]
    label = f"{name}, {kind}, likeness {likeness}"
    return measure_share(label, _count_hits(found, 0.0), runs, at_least=0.93, at_most=0.97)


def _count_hits(found: Sequence[Estimate], truth: float) -> int:
    return sum(item.low - 1e-9 <= truth <= item.high + 1e-9 for item in found)


def main() -> None:
    """Print coverage of means, and of differences of models that are equally good."""
    runs = read_runs(__doc__ or "", default=2000)
    means = [
        figure
        for name in _SIZES
        for kind in ("binary", "graded", "fifths")
        for mean in _MEANS
        for likeness in _LIKENESS
        for figure in _simulate_mean(name, kind, mean, likeness, runs)
    ]
    differences = [
        _simulate_difference(name, kind, likeness, runs)
        for name in _SIZES
        for kind in ("binary", "graded", "fifths")
        for likeness in _LIKENESS
    ]
    print_figures("Mean score: coverage", means)
    print_figures("Paired difference: coverage", differences)
    figures = [*means, *differences]
    missed = [figure for figure in figures if figure.reached is False]
    low = sum(figure.value < 0.93 for figure in missed)
    print(f"\n{len(missed)} figures miss their goal: {low} are too low, the others too high.")


if __name__ == "__main__":
    main()
