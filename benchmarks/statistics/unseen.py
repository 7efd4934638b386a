"""What no interval can cover: far scores that are so rare that a sample misses them.

Without its rare values a sample of such a distribution is one of the other values alone. An
interval that is at most 1.15 times as wide as needed for those covers the mean with the rare ones
too seldom; one that covers it in 93 % is too wide for those. Both bounds hold for every interval
that covers 93 % of the other values alone, whatever their mean (exponential tilts of their
distribution): the chance that it holds a mean is at least that of the most powerful test (Neyman
and Pearson) not to reject it, and its mean width is the sum of these chances over all means (Pratt
1961, "Length of confidence intervals", Journal of the American Statistical Association 56). It
holds both means in at least 1 minus the sum of both misses, and then all between them.

The second table is the choice that remains: intervals with room for unseen scores (as for a
sample whose scores are all alike), however many tests there are, beside those of `mean_score` and
`estimate_paired_difference`. They cover rare far scores, and are two to six times as wide as needed
for scores without any. To say "too few tests" instead would leave all of these samples
without an interval, because they do not differ from those that missed something.

Of "95 % beta 20, 2, 5 % 0" no such bound is known: one interval might reach both goals.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
from distributions import (
    DIFFERENCES,
    RARE,
    SCORES,
    VALUES,
    WITHOUT_RARE,
    Chances,
    compute_mean,
    compute_needed_width,
    draw,
    sum_draws,
)
from simulation import Figure, measure_mean, measure_share, print_figures, read_runs

from poor_bench.statistics.differences import estimate_paired_difference
from poor_bench.statistics.intervals import guard_against_unseen
from poor_bench.statistics.means import mean_score

COVERAGE, WIDTH = 0.93, 1.15
_N_TILTS = 120
_SIZES = (30, 60)

Segments = tuple[Chances, Chances, Chances]


def bound_coverage(name: str, n: int) -> float:
    """Bound the coverage of intervals at most 1.15 times as wide as needed without rare values."""
    _, needed = _measure_gap(name, n)
    unseen = (1 - RARE[name]) ** n
    shares = np.linspace(0, 1, 1001)
    fitting = [share for share in shares if _sum_width(name, n, share) <= WIDTH * needed]
    return float(1 - unseen + unseen * max(fitting, default=0.0))


def bound_width(name: str, n: int) -> float:
    """Bound the width without rare values, by that needed, of intervals that cover 93 %."""
    unseen = (1 - RARE[name]) ** n
    share = max(0.0, 1 - (1 - COVERAGE) / unseen)
    return _sum_width(name, n, share) / _measure_gap(name, n)[1]


@cache
def _measure_gap(name: str, n: int) -> tuple[float, float]:
    """Compute how far the rare values move the mean, and the width needed without them."""
    laws = SCORES if name in SCORES else DIFFERENCES
    usual = laws[WITHOUT_RARE[name]]
    return compute_mean(laws[name]) - compute_mean(usual), compute_needed_width(usual, n)


def _sum_width(name: str, n: int, share: float) -> float:
    """Compute the least mean width if `share` of the intervals hold the mean with rare values."""
    gap, _ = _measure_gap(name, n)
    starts, ends, chances = _hold_means(name, n)
    between = np.clip(ends, 0, abs(gap)) - np.clip(starts, 0, abs(gap))
    both = max(0.0, share - (1 - COVERAGE))
    return float(((ends - starts) * chances + between * np.maximum(0, both - chances)).sum())


@cache
def _hold_means(name: str, n: int) -> Segments:
    """List means from the usual one on, towards the rare values, and the least chance to be held.

    Chances fall with the distance, so that of a segment is the lower one of its two ends.
    """
    laws = SCORES if name in SCORES else DIFFERENCES
    usual, gap = laws[WITHOUT_RARE[name]], _measure_gap(name, n)[0]
    if gap < 0:
        usual = usual[::-1]
    totals, chances = sum_draws(usual, n)
    mean, deviation = compute_mean(usual), float(np.sqrt(np.cov(VALUES, aweights=usual)))
    tilts = np.linspace(-5, 5, _N_TILTS + 1) / (deviation * np.sqrt(n))
    ends, held = [], []
    for tilt in tilts:
        weights = np.exp(np.log(chances) + tilt * (totals - n * mean))
        weights /= weights.sum()
        ends.append(float(weights @ totals / n) - mean)
        side = -1 if tilt < 0 else 1
        held.append(_accept(weights[::side], chances[::side]))
    distance, chance = np.array(ends), np.minimum(held[1:], held[:-1])
    far = max(abs(gap), float(distance[-1]))
    return (
        np.append(distance[:-1], distance[-1]),
        np.append(distance[1:], far),
        np.append(chance, 0.0),
    )


def _accept(null: Chances, other: Chances) -> float:
    """Compute the chance of `other` to pass the test of `null` that rejects the first values."""
    below = np.cumsum(null)
    place = int(np.searchsorted(below, 1 - COVERAGE))
    drawn = (1 - COVERAGE - (below[place] - null[place])) / null[place]
    return float(1 - other[:place].sum() - drawn * other[place])


def _print_bounds() -> None:
    coverage, widths = [], []
    for name in WITHOUT_RARE:
        for n in _SIZES:
            label = f"{name}; {n} tests"
            best = bound_coverage(name, n)
            coverage.append(Figure(label=label, value=best, error=0, at_least=COVERAGE))
            label = f"{WITHOUT_RARE[name]}; {n} tests, if 93 % of {name} are covered"
            least = bound_width(name, n)
            widths.append(Figure(label=label, value=least, error=0, at_most=WIDTH, percent=False))
    print_figures("Most coverage of intervals that are narrow enough without rare values", coverage)
    print_figures("Least width, by that needed, of intervals that cover rare values", widths)


def _simulate_room(runs: int) -> Iterator[Figure]:
    """Simulate intervals with and without room for unseen scores."""
    for name in (name for name in WITHOUT_RARE if RARE[name] <= 0.05):
        scale = 1 if name in SCORES else 2
        laws, estimate = (
            (SCORES, mean_score) if scale == 1 else (DIFFERENCES, estimate_paired_difference)
        )
        for n in _SIZES:
            for law in (name, WITHOUT_RARE[name]):
                rng = np.random.default_rng(15)
                truth = scale * compute_mean(laws[law]) - (scale - 1)
                samples = (scale * draw(rng, laws[law], (runs, n)) - (scale - 1)).clip(-1, 1)
                found = [estimate(sample) for sample in samples.tolist()]
                plain = [(item.low, item.high) for item in found]
                roomy = [
                    guard_against_unseen(
                        limits, item.value, n, bounds=(1.0 - scale, 1.0), all_alike=True
                    )
                    for limits, item in zip(plain, found, strict=True)
                ]
                for kind, limits in (("", plain), (", with room", roomy)):
                    label = f"{law}; {n} tests{kind}"
                    hits = sum(low - 1e-9 <= truth <= high + 1e-9 for low, high in limits)
                    yield measure_share(f"{label}: covers", hits, runs)
                    if law != name:
                        needed = scale * _measure_gap(name, n)[1]
                        ratios = [(high - low) / needed for low, high in limits]
                        yield measure_mean(f"{label}: width by that needed", ratios)


def main() -> None:
    """Print the bounds, and what room for unseen scores costs."""
    runs = read_runs(__doc__ or "", default=1000)
    _print_bounds()
    print_figures("Room for unseen scores", list(_simulate_room(runs)))


if __name__ == "__main__":
    main()
