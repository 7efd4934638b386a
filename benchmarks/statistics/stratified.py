"""Coverage and width of a mean over test classes, beside the plain mean of the same tests.

Models are good (pass rates from .9), mixed or bad; classes have few or many tests.
"""

from __future__ import annotations

import numpy as np
from simulation import Figure, measure_share, print_figures, read_runs

from poor_bench.statistics.means import estimate_stratified_mean, mean_score

_CASES: dict[str, tuple[list[float], list[int]]] = {
    "good: 5 classes of 10, .95": ([0.95] * 5, [10] * 5),
    "good: 10 classes of 10, .95": ([0.95] * 10, [10] * 10),
    "good: 10 classes of 5, .9": ([0.9] * 10, [5] * 10),
    "good: 10 classes of 20, .98": ([0.98] * 10, [20] * 10),
    "good: 12 classes of 3, .95": ([0.95] * 12, [3] * 12),
    "good: 12 classes of 2, .9": ([0.9] * 12, [2] * 12),
    "good: 4 classes of 15, .95 to .99": ([0.97, 0.99, 0.95, 0.98], [15] * 4),
    "good: uneven classes": ([0.95, 0.9, 0.95, 0.97], [60, 10, 5, 20]),
    "mixed: .99 to .6": ([0.99, 0.95, 0.9, 0.8, 0.6], [10] * 5),
    "mixed: .9 to .1": ([0.9, 0.7, 0.5, 0.3, 0.1], [10] * 5),
    "mixed: .98, .5, .02": ([0.98, 0.5, 0.02], [20] * 3),
    "mixed: uneven classes": ([0.95, 0.9, 0.7, 0.97], [40, 10, 5, 3]),
    "alike: 5 classes of 10, .5": ([0.5] * 5, [10] * 5),
    "bad: 5 classes of 10, .05": ([0.05] * 5, [10] * 5),
}


def _simulate(name: str, *, binary: bool, alike: bool, runs: int) -> tuple[Figure, Figure]:
    rng = np.random.default_rng(5)
    shares, sizes = _CASES[name]
    weights = {str(n): 1.0 if alike else float(size) for n, size in enumerate(sizes)}
    truth = float(np.average(shares, weights=list(weights.values())))
    columns = [
        rng.binomial(1, share, (runs, size)) * 1.0
        if binary
        else rng.beta(8 * share, 8 * (1 - share), (runs, size))
        for share, size in zip(shares, sizes, strict=True)
    ]
    hits, ratios = 0, []
    for run in range(runs):
        scores = {str(n): column[run].tolist() for n, column in enumerate(columns)}
        found = estimate_stratified_mean(scores, weights)
        hits += found.low <= truth <= found.high
        plain = mean_score([score for own in scores.values() for score in own])
        ratios.append(found.margin / plain.margin)
    label = f"{name}, {'binary' if binary else 'graded'}, classes weigh "
    label += "alike" if alike else "by tests"
    width = Figure(
        label=label,
        value=float(np.mean(ratios)),
        error=float(np.std(ratios, ddof=1) / np.sqrt(runs)),
        percent=False,
    )
    return measure_share(label, hits, runs, at_least=0.93), width


def main() -> None:
    """Print both tables."""
    runs = read_runs(__doc__ or "", default=4000)
    found = [
        _simulate(name, binary=binary, alike=alike, runs=runs)
        for binary in (True, False)
        for name in _CASES
        for alike in (False, True)
        if not (alike and len(set(_CASES[name][1])) == 1)
    ]
    print_figures("Coverage", [coverage for coverage, _ in found])
    print_figures("Width by that of the plain mean", [width for _, width in found])


if __name__ == "__main__":
    main()
