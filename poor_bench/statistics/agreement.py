"""Agreement of a judge with people, each person left out in turn, and the annotator test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from poor_bench.statistics.groups import measure_spread, number_groups, sum_values
from poor_bench.statistics.intervals import Estimate, estimate_by_groups, t_quantile_95
from poor_bench.statistics.significance import benjamini_hochberg

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Scores = NDArray[np.float64]

_LEAST_UNITS = 5
_RESAMPLES = 1000
_SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterAgreement:
    """Agreement with the consensus of people, of a judge and of the people themselves."""

    judge: Estimate | None
    """Weighted kappa of the judge and the people; None where it is undefined."""
    person: Estimate | None
    """The same of one person and the other people; None without two scores of one item."""


def measure_rater_agreement(
    judge: ArrayLike,
    people: ArrayLike,
    groups: Sequence[str | None] | None = None,
    *,
    resamples: int = _RESAMPLES,
) -> RaterAgreement:
    """Compute the quadratically weighted kappa of a judge, and of a person, with the others.

    Each person is left out in turn. Judge and person are then held against the mean of the same
    other people, so that neither has an easier consensus. The figures are means over the people,
    weighted by their items. A single person is the consensus. The 95 % interval is a bootstrap
    over groups of items: Student's t on the scale of Fisher's z. In simulation
    (`benchmarks/statistics/judge_agreement.py`) it covers the truth of normal scores in 92 % to
    97 % with 30 to 200 items, and in 93 % to 94 % with 10 to 40 groups of 5 items.

    Args:
        judge: Scores of n items.
        people: Scores by item and person, n by m; NaN where a person did not score.
        groups: Group of each item, as in `number_groups`; items of one group are not independent.
        resamples: Bootstrap resamples, at least 2.

    Returns:
        Estimates from -1.0 to 1.0; None for fewer than 5 groups, or where no score varies.

    Source:
        Cohen 1968, "Weighted kappa", Psychological Bulletin 70; Efron and Tibshirani 1993, "An
        Introduction to the Bootstrap".
    """
    import numpy as np

    scores, table = np.asarray(judge, dtype=float), _as_table(people)
    known = ~np.isnan(table)
    total, count = np.where(known, table, 0.0).sum(axis=1), known.sum(axis=1)
    judged, among = [], []
    for person in range(table.shape[1]):
        others = count - known[:, person]
        with np.errstate(invalid="ignore", divide="ignore"):
            rest = (total - np.where(known[:, person], table[:, person], 0.0)) / others
        judged.append((scores, rest, others > 0))
        among.append((table[:, person], rest, (others > 0) & known[:, person]))
    if table.shape[1] == 1:
        judged = [(scores, table[:, 0], known[:, 0])]
    units = np.array(number_groups(len(scores), groups))
    return RaterAgreement(
        judge=_estimate_kappa(judged, units, resamples),
        person=_estimate_kappa(among, units, resamples),
    )


def _as_table(people: ArrayLike) -> Scores:
    import numpy as np

    table = np.asarray(people, dtype=float)
    return table.reshape(len(table), -1)


def _estimate_kappa(
    raters: Sequence[tuple[Scores, Scores, NDArray[np.bool_]]],
    units: NDArray[np.int64],
    resamples: int,
) -> Estimate | None:
    """Compute the mean kappa of pairs of raters with its bootstrap interval."""
    import numpy as np

    used = np.logical_or.reduce([kept for _, _, kept in raters])
    kinds, places = np.unique(units[used], return_inverse=True)
    if len(kinds) < _LEAST_UNITS:
        return None
    weights = _draw_resamples(len(kinds), resamples)[:, places]
    kappas = _mean_kappa([(x[used], y[used], kept[used]) for x, y, kept in raters], weights)
    value = float(kappas[0])
    if math.isnan(value):
        return None
    limits = (value, value)
    if abs(value) <= 1 - 1e-12:
        limits = _find_limits(value, kappas[1:], len(kinds))
    return estimate_by_groups(value, limits, n_groups=len(kinds), n_tests=len(places))


def _find_limits(value: float, drawn: Scores, n: int) -> tuple[float, float]:
    import numpy as np

    z = np.arctanh(np.clip(drawn[~np.isnan(drawn)], -0.999, 0.999))
    half = t_quantile_95(n - 1) * float(z.std(ddof=1)) * math.sqrt(n / (n - 1))
    centre = math.atanh(value)
    return math.tanh(centre - half), math.tanh(centre + half)


@lru_cache(maxsize=8)
def _draw_resamples(n: int, resamples: int) -> Scores:
    """Draw how often each unit is in each resample; the first row is the sample itself."""
    import numpy as np

    rng = np.random.default_rng(_SEED)
    drawn = rng.integers(n, size=(resamples, n)) + n * np.arange(resamples)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=resamples * n).reshape(resamples, n)
    return np.vstack([np.ones(n), counts]).astype(float)


def _mean_kappa(
    raters: Sequence[tuple[Scores, Scores, NDArray[np.bool_]]], weights: Scores
) -> Scores:
    """Compute the mean kappa of pairs of raters for each row of weights; NaN where undefined."""
    import numpy as np

    kappas, sizes = [], []
    for x, y, kept in raters:
        if kept.sum() < 2:
            continue
        first, second = np.where(kept, x, 0.0), np.where(kept, y, 0.0)
        # Moments about the sample's own means: sums of large squares would cancel.
        first, second = first - first[kept].mean(), second - second[kept].mean()
        moments = np.stack([np.ones_like(x), first, second, first**2 + second**2, first * second])
        n, sx, sy, squares, product = (weights @ (moments * kept).T).T
        shift = x[kept].mean() - y[kept].mean()
        with np.errstate(invalid="ignore", divide="ignore"):
            mx, my = sx / n, sy / n
            expected = squares / n - mx**2 - my**2 + (mx - my + shift) ** 2
            kappas.append(
                2 * (product / n - mx * my) / np.where(expected > 1e-12, expected, np.nan)
            )
        sizes.append(int(kept.sum()))
    if not kappas:
        return np.full(len(weights), np.nan)
    stacked, shares = np.array(kappas), np.array(sizes, dtype=float)[:, None]
    present = ~np.isnan(stacked)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean: Scores = np.where(present, stacked * shares, 0).sum(0) / (present * shares).sum(0)
    return mean


EPSILON = 0.2
"""Advantage of a judge for its price, as share of items; proposed for experts as annotators."""
_ALPHA = 0.05
LEAST_SHARED = 20
"""Items that a person must share with others to be held against the judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorTest:
    """Result of the alternative annotator test."""

    winning_rate: float
    """Omega: share of the people whom the judge may replace (significant), 0.0 to 1.0."""
    losing_rate: float
    """Share of the people for whom it is significant that the judge may not, 0.0 to 1.0."""
    n_people: int
    """People with enough shared items."""
    n: int
    """Items with scores of two people or more."""


def run_annotator_test(
    judge: ArrayLike, people: ArrayLike, groups: Sequence[str | None] | None = None
) -> AnnotatorTest | None:
    """Test by item whether a judge may replace a person (alternative annotator test).

    For each person, the judge and the person are compared by their distance to the other people
    (root mean square). The judge may replace a person if it is significantly closer, or at most
    `EPSILON` of the items worse: one-sided t test, corrected over the people (Benjamini and
    Yekutieli, 5 %). A winning rate of 0.5 passes the test.

    Args:
        judge: Scores of n items.
        people: Scores by item and person, n by m; NaN where a person did not score.
        groups: Group of each item, as in `number_groups`; items of one group are not independent.

    Returns:
        None where no person shares 20 items with others.

    Source:
        Calderon, Reichart and Dror 2025, "The Alternative Annotator Test for LLM-as-a-Judge",
        Proceedings of ACL; correction: Benjamini and Yekutieli 2001, Annals of Statistics 29.
    """
    import numpy as np

    scores, table = np.asarray(judge, dtype=float), _as_table(people)
    known = ~np.isnan(table)
    count, units = known.sum(axis=1), np.array(number_groups(len(scores), groups))
    to_judge = np.where(known, (table - scores[:, None]) ** 2, 0.0)
    better = []
    for person in range(table.shape[1]):
        shared = known[:, person] & (count > 1)
        if shared.sum() < LEAST_SHARED:
            continue
        own = table[shared, person][:, None]
        of_person = np.where(known[shared], (table[shared] - own) ** 2, 0.0).sum(axis=1)
        of_judge = to_judge[shared].sum(axis=1) - to_judge[shared, person]
        # 1 where only the person is as close as the other, -1 where only the judge is.
        margin = np.sign(np.round(of_judge - of_person, 9))
        better.append(_compute_p_below(margin, units[shared], EPSILON))
    if not better:
        return None
    worse, n_people = [1 - p for p in better], len(better)
    return AnnotatorTest(
        winning_rate=_count_rejected(better) / n_people,
        losing_rate=_count_rejected(worse) / n_people,
        n_people=n_people,
        n=int((count > 1).sum()),
    )


def _compute_p_below(margins: Scores, units: NDArray[np.int64], epsilon: float) -> float:
    """Compute the one-sided p-value of a t test by groups that the mean is below `epsilon`."""
    from scipy import special

    spread = measure_spread(sum_values(margins.tolist(), [str(unit) for unit in units]))
    distance = spread.mean - epsilon
    if spread.n_groups < 2:
        return 1.0
    if spread.variance == 0:
        return 0.0 if distance < 0 else 1.0
    return float(special.stdtr(spread.freedom, distance / math.sqrt(spread.variance)))


def _count_rejected(p_values: Sequence[float]) -> int:
    """Count the hypotheses that Benjamini and Yekutieli's procedure rejects at 5 %."""
    harmonic = math.fsum(1 / rank for rank in range(1, len(p_values) + 1))
    return sum(benjamini_hochberg(p_values, _ALPHA / harmonic))
