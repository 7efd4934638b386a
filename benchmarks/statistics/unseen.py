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

Two tables bound the width of the cells that `intervals.py` calls too wide. An interval that covers
93 % of all distributions of the same shape might be narrow enough in each of the nine: 0.6 to 0.7
times as wide as needed. One that covers rare far values, too, cannot be in four of them: 1.42 to
2.70. `mean_score` and `estimate_paired_difference` are narrower there, because they do not cover
all of these. For the other five the bound is 0.67 to 1.01, which proves nothing; for won and lost
tests `narrowest.py` has a higher one.
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
_N_TILTS, _N_MEANS = 120, 400
_RARELY = 1e-6
"""Chances below this are none."""
_SIZES = (30, 60)

_MISSED = (
    *(("90 % 0, 10 % 0.2", 30), ("90 % 0, 10 % 0.2", 100), ("80 % 0, else beta 1, 9", 30)),
    *(("won 0.05, lost 0", 30), ("won 0.05, lost 0", 100), ("won 0.1, lost 0", 30)),
    *(("90 % +0.1, 10 % -0.9", 30), ("70 % 0, else beta 1, 5", 30)),
    ("85 % 0, else beta 1, 9", 30),
)
"""Cells that are more than 1.15 times as wide as needed in `intervals.py`."""

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
        held.append(float(_accept(weights[::side], chances[::side], np.array(1 - COVERAGE))))
    distance, chance = np.array(ends), np.minimum(held[1:], held[:-1])
    far = max(abs(gap), float(distance[-1]))
    return (
        np.append(distance[:-1], distance[-1]),
        np.append(distance[1:], far),
        np.append(chance, 0.0),
    )


def _accept(null: Chances, other: Chances, levels: Chances) -> Chances:
    """Compute the chance of `other` to pass tests of `null` that reject the first values."""
    below, passed = np.cumsum(null), np.cumsum(other)
    places = np.minimum(np.searchsorted(below, levels), len(null) - 1)
    drawn = np.minimum(1, (levels - (below[places] - null[places])) / null[places])
    return np.asarray(1 - (passed[places] - other[places]) - drawn * other[places])


def bound_missed_width(name: str, n: int, *, with_rare: bool) -> float:
    """Bound the width of a distribution, by that needed, of intervals that cover 93 % of others.

    Each mean is held with the chance of the hardest of these others: exponential tilts, and with
    `with_rare` mixtures of a tilt with the best or worst value, if the distribution itself does not
    have that. A sample misses a share of them with the power of `n`.
    """
    law = (SCORES if name in SCORES else DIFFERENCES)[name]
    width = sum(_sum_held(side, n, with_rare=with_rare) for side in (law, law[::-1]))
    return width / compute_needed_width(law, n)


def _sum_held(law: Chances, n: int, *, with_rare: bool) -> float:
    """Sum the least chances to be held of all means above that of a distribution."""
    totals, chances = sum_draws(law, n)
    mean, deviation = compute_mean(law), float(np.sqrt(np.cov(VALUES, aweights=law)))
    means = mean + (1 - mean) * np.linspace(0, 1, _N_MEANS + 1)[1:] ** 2  # closer where likely
    owns, tilted, mixed = [], [], np.zeros(_N_MEANS)
    for tilt in np.linspace(-3, 5, _N_TILTS + 1) / (deviation * np.sqrt(n)):
        weights = np.exp(np.log(chances) + tilt * (totals - n * mean))
        weights /= weights.sum()
        own = float(weights @ totals) / n
        unseen = (1 - ((means - own) / (1 - own)).clip(0)) ** n
        levels = np.minimum(1, (1 - COVERAGE) / np.maximum(unseen, 1e-9))
        side = -1 if tilt < 0 else 1
        held = _accept(weights[::side], chances[::side], np.append(levels, 1 - COVERAGE))
        mixed = np.maximum(mixed, held[:-1] * (means >= own))
        owns.append(own)
        tilted.append(held[-1])
    held = np.interp(means, owns, tilted, right=0.0)
    if with_rare and law[-1] < _RARELY:
        held = np.maximum(held, mixed)
    return float(np.diff(means, prepend=mean) @ held)


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
    for others, with_rare in (("of the same shape", False), ("and rare far values", True)):
        figures = [
            Figure(
                label=f"{name}; {n} tests",
                value=bound_missed_width(name, n, with_rare=with_rare),
                error=0,
                at_most=WIDTH,
                percent=False,
            )
            for name, n in _MISSED
        ]
        print_figures(f"Cells that miss 1.15: least width, if all {others} are covered", figures)


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
