"""Coverage and width of the intervals of mean scores and of paired differences.

Width is compared with that of whoever knows the shape of the distribution (`distributions.py`).
Some goals cannot both be reached: in 30 tests of "95 % beta 1, 30, 5 % 1" no test scores 1 in 21 %
of samples, which then look like those of "beta 1, 30".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain

import numpy as np
from distributions import DIFFERENCES, SCORES, VALUES, Chances, compute_needed_width, draw
from simulation import Figure, measure_share, print_figures, read_runs

from poor_bench.statistics.differences import estimate_paired_difference
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.means import mean_score

_SIZES = (5, 10, 20, 30, 60, 100)
_FROM = 10
_WIDTH_FROM = 30
_WIDTHS = (30, 100)

Estimator = Callable[[Sequence[float]], Estimate]


def _simulate(
    distributions: Mapping[str, Chances], estimate: Estimator, runs: int, scale: int
) -> tuple[list[Figure], list[Figure]]:
    """Simulate coverage and width of each distribution; differences have the scale 2."""
    rng = np.random.default_rng(15)
    coverage, widths = [], []
    for name, chances in distributions.items():
        truth = scale * float(chances @ VALUES / chances.sum()) - (scale - 1)
        for n in _SIZES:
            samples = (scale * draw(rng, chances, (runs, n)) - (scale - 1)).clip(-1, 1)
            found = [estimate(sample) for sample in samples.tolist()]
            hits = sum(item.low - 1e-9 <= truth <= item.high + 1e-9 for item in found)
            goal = 0.93 if n >= _FROM else None
            coverage.append(measure_share(f"{name}; {n} tests", hits, runs, at_least=goal))
            if n in _WIDTHS:
                needed = scale * compute_needed_width(chances, n)
                widths.append(_measure_width(f"{name}; {n} tests", found, needed))
    return coverage, widths


def _measure_width(label: str, found: Sequence[Estimate], needed: float) -> Figure:
    ratios = np.array([item.high - item.low for item in found]) / needed
    return Figure(
        label=label,
        value=float(ratios.mean()),
        error=float(ratios.std(ddof=1) / np.sqrt(len(ratios))),
        at_most=1.15,
        percent=False,
    )


def main() -> None:
    """Print the tables, and how many figures miss their goals."""
    runs = read_runs(__doc__ or "", default=1000)
    tables = [
        *zip(
            ("Mean score: coverage", "Mean score: width by that needed"),
            _simulate(SCORES, mean_score, runs, 1),
            strict=True,
        ),
        *zip(
            ("Paired difference: coverage", "Paired difference: width by that needed"),
            _simulate(DIFFERENCES, estimate_paired_difference, runs, 2),
            strict=True,
        ),
    ]
    for title, figures in tables:
        print_figures(title, figures)
    verdicts = [figure.reached for figure in chain.from_iterable(rows for _, rows in tables)]
    print(f"\n{verdicts.count(True)} figures reach their goal, {verdicts.count(False)} miss it.")


if __name__ == "__main__":
    main()
