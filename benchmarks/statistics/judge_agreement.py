"""How often a judge is blessed: unrelated judges, biased ones, and judges as good as a reader.

Items have a true quality; readers see it with noise and give whole scores from 0 to 10. Judges:
`unrelated` gives scores of the same spread, `hedging` scores near the mean, `lenient` is as good as
a reader but 2.5 points too kind, `reader` is as good as a reader, `better` has half the noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from simulation import Figure, measure_share, print_figures, read_runs

from poor_bench.judge.agreement import Trust, decide_trust
from poor_bench.statistics.agreement import measure_rater_agreement, run_annotator_test
from poor_bench.statistics.correlations import correlate_grouped, correlate_ranks
from poor_bench.statistics.intervals import Estimate

Scores = NDArray[np.float64]
_SPREAD = 2.0
_NOISES = (0.0, 0.7, 1.3, 2.0)
"""Noise of a reader, in points: people who are unanimous, agree (alpha .88), hardly (.69), little
(.49)."""
_READERS = (1, 2, 3, 5, 10)
_ITEMS = (30, 60, 120, 200)


def draw(
    rng: np.random.Generator, kind: str, n: int, readers: int, noise: float
) -> tuple[Scores, Scores]:
    """Draw scores of a judge, and of readers by item."""
    quality = rng.normal(5.5, _SPREAD, n)

    def see(noise: float, shift: float = 0.0) -> Scores:
        return np.clip(np.round(quality + shift + rng.normal(0, noise, n)), 0, 10)

    people = np.stack([see(noise) for _ in range(readers)], axis=1)
    judge = {
        "unrelated": lambda: np.clip(
            np.round(rng.normal(5.5, math.hypot(_SPREAD, noise), n)), 0, 10
        ),
        "hedging": lambda: np.clip(np.round(rng.normal(5.5, 0.7, n)), 0, 10),
        "lenient": lambda: see(noise, 2.5),
        "reader": lambda: see(noise),
        "better": lambda: see(noise / 2),
    }[kind]()
    return judge, people


def count_trusted(kind: str, n: int, readers: int, noises: tuple[float, ...], runs: int) -> int:
    """Count runs in which the judge is said to be reliable."""
    rng = np.random.default_rng([n, readers, len(kind)])
    trusted = 0
    for run in range(runs):
        judge, people = draw(rng, kind, n, readers, noises[run % len(noises)])
        agreement = measure_rater_agreement(judge, people, resamples=300)
        said = decide_trust(n, agreement.judge, run_annotator_test(judge, people))
        trusted += said is Trust.YES
    return trusted


def false_blessings(runs: int) -> Iterator[Figure]:
    """Yield how often judges that are not related to quality are blessed."""
    for kind in ("unrelated", "hedging"):
        for readers in _READERS:
            for n in _ITEMS:
                trusted = count_trusted(kind, n, readers, _NOISES, runs)
                label = f"{kind} judge blessed, {readers} readers, {n} items"
                yield measure_share(label, trusted, runs, at_most=0.05)


def power(runs: int) -> Iterator[Figure]:
    """Yield how often a judge as good as a reader is recognised, and a lenient one is not."""
    for kind, noise in (("reader", 0.7), ("reader", 1.3), ("better", 1.3), ("lenient", 0.7)):
        for readers in _READERS:
            for n in _ITEMS:
                trusted = count_trusted(kind, n, readers, (noise,), runs)
                label = f"{kind} (noise {noise}) blessed, {readers} readers, {n} items"
                is_enough = kind == "reader" and noise == 0.7 and n == 200
                goals = {"at_least": 0.8} if is_enough else {}
                if kind == "lenient":
                    goals = {"at_most": 0.05}
                yield measure_share(label, trusted, runs, **goals)


def coverage(runs: int) -> Iterator[Figure]:
    """Yield the coverage of the intervals of the kappas."""
    for readers, n, noise in (
        (1, 30, 1.0),
        (2, 30, 1.0),
        (5, 30, 2.0),
        (3, 60, 1.0),
        (5, 200, 1.0),
    ):
        others = max(1, readers - 1)
        shared = _SPREAD**2
        truth = 2 * shared / (2 * shared + noise**2 + noise**2 / others)
        rng = np.random.default_rng([n, readers])
        hits = 0
        for _ in range(runs):
            quality = rng.normal(5.5, _SPREAD, n)
            people = quality[:, None] + rng.normal(0, noise, (n, readers))
            judge = quality + rng.normal(0, noise, n)
            found = measure_rater_agreement(judge, people, resamples=300).judge
            hits += found is not None and found.low <= truth <= found.high
        label = f"coverage of kappa {truth:.2f}, {readers} readers, {n} items"
        yield measure_share(label, hits, runs, at_least=0.92, at_most=0.98)


def grouped(runs: int) -> Iterator[Figure]:
    """Yield the coverage for items in groups of 5, with and without their groups.

    Items of one group are alike in quality, and the judge is wrong about them alike.
    """
    judge_square = _SPREAD**2 + 2 * _GROUP_ERROR**2
    people_square = _SPREAD**2 + 1
    pearson = _SPREAD**2 / math.sqrt(judge_square * people_square)
    truths = {
        "kappa": 2 * _SPREAD**2 / (judge_square + people_square),
        "Pearson's": pearson,
        "Spearman's": 6 / math.pi * math.asin(pearson / 2),
    }
    for n_groups in (10, 20, 40):
        rng = np.random.default_rng([n_groups, 5])
        groups = [str(place // 5) for place in range(5 * n_groups)]
        hits = {(name, own): 0 for name in truths for own in (True, False)}
        for _ in range(runs):
            judge, person = _draw_grouped(rng, n_groups)
            for own in (True, False):
                found = _measure_all(judge, person, groups if own else None)
                for (name, truth), item in zip(truths.items(), found, strict=True):
                    hits[name, own] += item is not None and item.low <= truth <= item.high
        for (name, own), count in hits.items():
            label = f"{name}, {n_groups} groups of 5" if own else f"  if independent: {name}"
            goals = {"at_least": 0.93, "at_most": 0.97} if own else {}
            yield measure_share(label, count, runs, **goals)


_GROUP_ERROR = 0.7


def _draw_grouped(rng: np.random.Generator, n_groups: int) -> tuple[Scores, Scores]:
    def draw_shared(deviation: float, share: float) -> Scores:
        common = np.repeat(rng.normal(0, math.sqrt(share), n_groups), 5)
        return deviation * (common + rng.normal(0, math.sqrt(1 - share), 5 * n_groups))

    quality = draw_shared(_SPREAD, 0.5)
    judge = quality + draw_shared(_GROUP_ERROR * math.sqrt(2), 0.5)
    return judge, quality + rng.normal(0, 1, len(quality))


def _measure_all(
    judge: Scores, person: Scores, groups: list[str] | None
) -> tuple[Estimate | None, ...]:
    return (
        measure_rater_agreement(judge, person, groups, resamples=300).judge,
        correlate_grouped(judge, person, groups),
        correlate_ranks(judge, person, groups),
    )


def main() -> None:
    """Print all figures."""
    runs = read_runs(__doc__.splitlines()[0], default=200)
    print_figures("False blessings", list(false_blessings(runs)))
    print_figures("Power", list(power(runs)))
    print_figures("Intervals", list(coverage(4 * runs)))
    print_figures("Items in groups", list(grouped(4 * runs)))


if __name__ == "__main__":
    main()
