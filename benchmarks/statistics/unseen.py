"""What no interval can cover: far scores that are so rare that a sample misses them.

Without its rare values a sample of such a distribution is one of the other values alone. An
interval that is at most 1.15 times as wide as needed for those covers the mean with the rare ones
too seldom; one that covers it in 93 % is too wide for those. Both bounds hold for every interval
that covers 93 % of the other values alone, whatever their mean (exponential tilts of their
distribution): the chance that it holds a mean is at least that of the most powerful test (Neyman
and Pearson) not to reject it, and its mean width is the sum of these chances over all means (Pratt
1961, "Length of confidence intervals", Journal of the American Statistical Association 56). It
holds both means in at least 1 minus the sum of both misses, and then all between them.

For "95 % beta 20, 2, 5 % 0" the first two bounds prove nothing. The third is for steady intervals:
their limits do not fall where the mean of the sample rises, and they cover 93 % also where the
other scores have another mean, with the rare ones and without (tilts again, of which the sum of a
sample tells all). The sums with which they hold a mean lie side by side, and the least likely ones
are chosen for each mean. At 30 tests such intervals are 1.50 times as wide as needed, 1.68 for
beta 1, 30 and 1.97 for small differences: both goals exclude each other in these three cells.

The choice that remains is printed last: intervals with room for unseen scores (as for a sample
whose scores are all alike), however many tests there are, beside those of `mean_score` and
`estimate_paired_difference`. They cover rare far scores, and are two to six times as wide as needed
for scores without any. The other choice is to say "too few tests". Samples that missed something do
not differ from harmless ones, so even if only those were left out whose interval misses, 62 % to
80 % of the harmless samples of 30 tests (beta 1, 30, beta 20, 2, small differences) would get none.

Two tables bound the width of steady intervals in the cells that `intervals.py` calls too wide. To
cover 93 % of all distributions of the same shape takes 0.73 to 0.87 times what is needed in each of
the nine, which proves nothing. To cover rare far values, too, takes 1.22 to 3.44 in five of them.
`mean_score` and `estimate_paired_difference` are narrower in these five, because they do not
cover all of that. For the other four, won and lost tests, it takes 0.87 to 1.13; `narrowest.py` has
a higher bound for one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from distributions import (
    DIFFERENCES,
    RARE,
    SCORES,
    STEPS,
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
_N_TILTS, _N_MEANS, _N_STEADY = 120, 400, 361
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
Demand = tuple[Chances, float]
"""The chances of sums up to each, and the share of them that must hold a mean."""


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


def bound_steady_width(name: str, n: int) -> float:
    """Bound the width without rare values as `bound_width` does, of intervals with steady limits.

    They hold a mean for all sums between two. Of all means that tilts of the distribution have,
    with rare values and without, those sums are chosen that are least likely without a tilt.
    """
    usual, (gap, needed) = _find_law(WITHOUT_RARE[name]), _measure_gap(name, n)
    usual = usual[::-1] if gap < 0 else usual
    rare = RARE[name]
    far = compute_mean(usual) + abs(gap) / rare
    share = max(0.0, 1 - (1 - COVERAGE) / (1 - rare) ** n)
    means, laws = _tilt_sums(usual, n)
    own = np.cumsum(sum_draws(usual, n)[1])
    held = []
    for mean, law in zip(means, laws, strict=True):
        demands: list[Demand] = [(law, COVERAGE)]
        other = (mean - rare * far) / (1 - rare)
        if means[0] <= other <= means[-1]:
            demands.append((laws[int(np.argmin(abs(means - other)))], share))
        held.append(_choose_sums(own, demands))
    return float(np.trapezoid(held, means) / needed)


def _find_law(name: str) -> Chances:
    return (SCORES if name in SCORES else DIFFERENCES)[name]


def _tilt_sums(law: Chances, n: int) -> tuple[Chances, list[Chances]]:
    """List the means of the tilts of a distribution, and the chances of sums up to each."""
    totals, chances = sum_draws(law, n)
    mean, deviation = compute_mean(law), float(np.sqrt(np.cov(VALUES, aweights=law)))
    means, laws = [], []
    for tilt in np.linspace(-9, 9, _N_STEADY) / (deviation * np.sqrt(n)):
        logs = np.log(chances) + tilt * (totals - n * mean)
        weights = np.exp(logs - logs.max())
        means.append(float(weights @ totals / weights.sum()) / n)
        laws.append(np.cumsum(weights) / weights.sum())
    return np.array(means), laws


def _choose_sums(own: Chances, demands: Sequence[Demand]) -> float:
    """Find the least chance of sums side by side that hold a share of each law."""
    last = min(int(np.searchsorted(law, 1 - share)) for law, share in demands)
    starts = np.unique(np.linspace(0, last, 300).astype(int))
    ends = np.zeros(len(starts), dtype=int)
    for law, share in demands:
        before = np.where(starts > 0, law[starts - 1], 0)
        ends = np.maximum(ends, np.searchsorted(law, np.minimum(before + share, law[-1])))
    ends = np.minimum(ends, len(own) - 1)
    return float((own[ends] - np.where(starts > 0, own[starts - 1], 0)).min())


def bound_missed_width(name: str, n: int, *, with_rare: bool) -> float:
    """Bound the width of a distribution, by that needed, of steady intervals that cover others.

    Others are its tilts, and with `with_rare` mixtures of a tilt with the best or the worst value,
    if the distribution itself does not have that. A sample misses a share of them with the power
    of `n`.
    """
    law = _find_law(name)
    means, laws = _tilt_sums(law, n)
    own, mean = np.cumsum(sum_draws(law, n)[1]), compute_mean(law)
    steps = np.linspace(0, 1, _N_MEANS + 1) ** 2  # closer where likely
    grid = np.concatenate([mean - mean * steps[:0:-1], mean + (1 - mean) * steps])
    held = []
    for value in grid:
        demands = _demand_tilt(value, means, laws)
        for far in (0, 1):
            if with_rare and law[far * STEPS] < _RARELY:
                demands += _demand_mixtures(value, far, n, means, laws)
        held.append(_choose_sums(own, demands) if demands else 0.0)
    return float(np.trapezoid(held, grid) / compute_needed_width(law, n))


def _demand_tilt(value: float, means: Chances, laws: Sequence[Chances]) -> list[Demand]:
    """Demand that the tilt with a mean is covered."""
    is_known = means[0] <= value <= means[-1]
    return [(laws[int(np.argmin(abs(means - value)))], COVERAGE)] if is_known else []


def _demand_mixtures(
    value: float, far: int, n: int, means: Chances, laws: Sequence[Chances]
) -> Iterator[Demand]:
    """Demand that mixtures of a tilt and a far value that have a mean together are covered."""
    for place in range(0, len(means), _N_STEADY // 60):
        rare = (value - means[place]) / (far - means[place])
        share = 1 - (1 - COVERAGE) / (1 - rare) ** n if 0 < rare < 1 else 0
        if share > 0:
            yield laws[place], share


def _print_bounds() -> None:
    coverage, widths, steady = [], [], []
    for name in WITHOUT_RARE:
        for n in _SIZES:
            label = f"{name}; {n} tests"
            best = bound_coverage(name, n)
            coverage.append(Figure(label=label, value=best, error=0, at_least=COVERAGE))
            label = f"{WITHOUT_RARE[name]}; {n} tests, if 93 % of {name} are covered"
            least = bound_width(name, n)
            widths.append(Figure(label=label, value=least, error=0, at_most=WIDTH, percent=False))
            least = bound_steady_width(name, n)
            steady.append(Figure(label=label, value=least, error=0, at_most=WIDTH, percent=False))
    print_figures("Most coverage of intervals that are narrow enough without rare values", coverage)
    print_figures("Least width, by that needed, of intervals that cover rare values", widths)
    print_figures("The same with steady limits, whatever the mean of the other values", steady)
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
                    if law == name and n == _SIZES[0] and not kind:
                        yield _measure_silence(label, 1 - hits / runs, (1 - RARE[name]) ** n, runs)
                    if law != name:
                        needed = scale * _measure_gap(name, n)[1]
                        ratios = [(high - low) / needed for low, high in limits]
                        yield measure_mean(f"{label}: width by that needed", ratios)


def _measure_silence(label: str, missed: float, unseen: float, runs: int) -> Figure:
    """Compute the share of harmless samples that get no interval if 93 % of the told ones cover."""
    share = max(0.0, missed - (1 - COVERAGE)) / COVERAGE / unseen
    error = float(np.sqrt(missed * (1 - missed) / runs)) / COVERAGE / unseen
    return Figure(
        label=f'{label}: harmless samples that say "too few tests"', value=share, error=error
    )


def main() -> None:
    """Print the bounds, and what room for unseen scores costs."""
    runs = read_runs(__doc__ or "", default=1000)
    _print_bounds()
    print_figures("Room for unseen scores", list(_simulate_room(runs)))


if __name__ == "__main__":
    main()
