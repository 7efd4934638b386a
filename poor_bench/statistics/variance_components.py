"""Sources of a score's uncertainty: groups, tests, trials of a test, judgements of a trial."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from poor_bench.models.result import Result
from poor_bench.statistics.groups import number_groups

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

_ROUNDING = 0.006
"""Scores and the judge's points are rounded."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Observations:
    """Scores of one LLM by test; all arrays have one entry per test."""

    test_ids: tuple[str, ...]
    mean: Numbers
    """Mean over trials, 0.0 to 1.0."""
    n_trials: Numbers
    """Scored trials, at least 1."""
    squares: Numbers
    """Sum of the squared deviations of trials from their mean."""
    unjudged: Numbers
    """Share of a single judgement's noise that is left in a trial: mean of 1 / judgements of it;
    0.0 where no judge scored."""
    judge_squares: Numbers
    """Sum of the squared deviations of judgements from the mean of their trial."""
    judge_freedom: Numbers
    """Judgements less one per trial."""


def observe(results: Iterable[Result]) -> dict[str, Observations]:
    """Sum up the scored trials and their judgements, by LLM id.

    A judgement counts where the trial's score is the mean of its judgements; that of an evaluator
    with other parts is on a scale of its own.

    Args:
        results: Scored and failed trials in any order; failures are left out.
    """
    trials: dict[str, dict[str, list[tuple[float, list[float]]]]] = {}
    for result in results:
        if result.score is not None:
            of_test = trials.setdefault(result.llm_id, {}).setdefault(result.test_id, [])
            of_test.append((result.score, _read_judgements(result)))
    return {llm_id: _sum_up(of_llm) for llm_id, of_llm in trials.items()}


def _read_judgements(result: Result) -> list[float]:
    """Read the judge's scores of a trial, 0.0 to 1.0; empty if they do not make up its score."""
    samples = (result.judgement or {}).get("samples")
    if not isinstance(samples, list):
        return []
    from poor_bench.scoring.judging import LARGEST_SCORE  # with models that take time to build

    scores = [
        float(sample["overall_score"]) / LARGEST_SCORE
        for sample in samples
        if isinstance(sample, dict)
        and isinstance(sample.get("overall_score"), int | float)
        and not sample.get("is_fallback")
    ]
    if not scores or result.score is None:
        return []
    return scores if abs(sum(scores) / len(scores) - result.score) < _ROUNDING else []


def _sum_up(of_llm: Mapping[str, Sequence[tuple[float, list[float]]]]) -> Observations:
    import numpy as np

    rows = []
    for trials in of_llm.values():
        n = len(trials)
        mean = sum(score for score, _ in trials) / n
        row = [mean, n, sum((score - mean) ** 2 for score, _ in trials), 0.0, 0.0, 0.0]
        for _, judged in trials:
            if judged:
                centre = sum(judged) / len(judged)
                row[3] += 1 / len(judged) / n
                row[4] += sum((score - centre) ** 2 for score in judged)
                row[5] += len(judged) - 1
        rows.append(row)
    mean, n_trials, squares, unjudged, judge_squares, judge_freedom = np.array(rows).T
    return Observations(
        test_ids=tuple(of_llm),
        mean=mean,
        n_trials=n_trials,
        squares=squares,
        unjudged=unjudged,
        judge_squares=judge_squares,
        judge_freedom=judge_freedom,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelComponents:
    """Noise of one LLM's score on a test; arrays have one entry per test."""

    trial: float | None
    """Variance between trials of a test, unbiased, so that it may be below 0.0; None if no test
    of one of the sides has a second trial: then it is part of the variance between tests."""
    judge: float | None
    """Variance between judgements of a trial; None if no trial of one of the judged sides was
    judged twice: then it is part of the variance between trials. 0.0 where no judge scored."""
    n_trials: Numbers
    unjudged: Numbers
    """As in `Observations`."""

    @property
    def is_judged(self) -> bool:
        """True if a judge scored a test."""
        return bool(self.unjudged.any())

    @property
    def kinds(self) -> list[tuple[float, float, float]]:
        """Tests that are run alike: how many, their `n_trials` and `unjudged`."""
        import numpy as np

        pairs = np.column_stack([self.n_trials, self.unjudged])
        found, counts = np.unique(pairs, axis=0, return_counts=True)
        return [(float(n), *pair) for n, pair in zip(counts, found.tolist(), strict=True)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Components:
    """Variances behind the mean score of an LLM, or behind the difference of two."""

    group: float | None
    """Variance between groups of tests; None if no two tests share a group."""
    test: float
    """Variance between tests, of one group where `group` is known. Unbiased, so that it may be
    below 0.0. With unknown trials it holds their variance, too."""
    sides: tuple[ModelComponents, ...]
    """Of the LLM, or of both."""
    n_tests: int
    n_groups: int
    concentration: float
    """Sum of the squared sizes of groups, at least `n_tests`."""

    @property
    def tests_variance(self) -> float:
        """Share of the variance of the mean that comes from the choice of tests, at least 0.0."""
        group = max(0.0, self.group or 0.0) * self.concentration
        return (group + max(0.0, self.test) * self.n_tests) / self.n_tests**2

    @property
    def trials_variance(self) -> float | None:
        """The same of trials; None if not known."""
        if any(side.trial is None for side in self.sides):
            return None
        parts = (max(0.0, side.trial or 0.0) * (1 / side.n_trials).sum() for side in self.sides)
        return float(sum(parts)) / self.n_tests**2

    @property
    def judge_variance(self) -> float | None:
        """The same of judgements; None if not known."""
        if any(side.judge is None for side in self.sides):
            return None
        parts = (
            max(0.0, side.judge or 0.0) * (side.unjudged / side.n_trials).sum()
            for side in self.sides
        )
        return float(sum(parts)) / self.n_tests**2

    @property
    def total_variance(self) -> float:
        """Variance of the mean, at least 0.0; what is not known apart is in another part."""
        parts = (self.tests_variance, self.trials_variance, self.judge_variance)
        return sum(part for part in parts if part is not None)

    @property
    def n_repeats(self) -> int:
        """Trials beyond the first of each test; of two LLMs the smaller number."""
        return min(round(float((side.n_trials - 1).sum())) for side in self.sides)

    @property
    def is_judged(self) -> bool:
        """True if a judge scored a test."""
        return any(side.is_judged for side in self.sides)


def estimate_components(
    observed: Observations,
    against: Observations | None = None,
    groups: Mapping[str, str | None] | None = None,
) -> Components | None:
    """Estimate the variance of groups, tests, trials and judgements by the method of moments.

    Each sum of squares is set equal to its expectation, from judgements upwards. The estimates are
    unbiased for any numbers of judgements, trials and tests per group, as long as these numbers do
    not depend on the scores (`benchmarks/statistics/uncertainty.py`). A judge's error that repeats
    itself is not noise, and in none of them.

    Args:
        observed: An LLM.
        against: Another LLM: components of the difference of both on their common tests.
        groups: Test id to group; tests of one group are not independent.

    Returns:
        The components; None for fewer than two groups of tests.

    Source:
        Searle, Casella and McCulloch 1992, "Variance Components", chapter 3 (ANOVA estimators for
        unbalanced nested data, Henderson's method I).

    Example:
        >>> scores = {"t": (1.0, 0.0), "u": (1.0, 1.0), "v": (0.0, 0.0)}
        >>> found = estimate_components(observe(
        ...     Result(llm_id="a", test_id=test_id, trial=trial, score=score)
        ...     for test_id, of_test in scores.items() for trial, score in enumerate(of_test)
        ... )["a"])
        >>> found.sides[0].trial, found.test
        (0.16666666666666666, 0.16666666666666669)
    """
    import numpy as np

    chosen = [observed] if against is None else _align(observed, against)
    test_ids = chosen[0].test_ids
    units = np.array(number_groups(len(test_ids), [(groups or {}).get(key) for key in test_ids]))
    n_groups = int(units.max()) + 1 if len(units) else 0
    if n_groups < 2:
        return None
    sides = _estimate_sides(chosen)
    values = chosen[0].mean - chosen[1].mean if against is not None else chosen[0].mean
    noise = np.sum([_estimate_unclipped_noise(side) for side in sides], axis=0)
    group, test = _estimate_tests(values, noise, units, n_groups)
    return Components(
        group=group,
        test=test,
        sides=sides,
        n_tests=len(units),
        n_groups=n_groups,
        concentration=float((np.bincount(units) ** 2).sum()),
    )


def _align(one: Observations, other: Observations) -> list[Observations]:
    """Reduce both to their common tests, in one order."""
    places = {test_id: place for place, test_id in enumerate(other.test_ids)}
    common = [test_id for test_id in one.test_ids if test_id in places]
    own = {test_id: place for place, test_id in enumerate(one.test_ids)}
    return [
        _take(one, [own[test_id] for test_id in common]),
        _take(other, [places[test_id] for test_id in common]),
    ]


def _take(observed: Observations, rows: list[int]) -> Observations:
    names = ("mean", "n_trials", "squares", "unjudged", "judge_squares", "judge_freedom")
    return Observations(
        test_ids=tuple(observed.test_ids[row] for row in rows),
        **{name: getattr(observed, name)[rows] for name in names},
    )


def _estimate_sides(chosen: Sequence[Observations]) -> tuple[ModelComponents, ...]:
    """Estimate the noise of each LLM; what is not known of one of them is not told of any."""
    knows_trials = all((each.n_trials > 1).any() for each in chosen)
    knows_judge = all(each.judge_freedom.any() for each in chosen if each.unjudged.any())
    return tuple(
        _estimate_side(each, knows_trials=knows_trials, knows_judge=knows_judge) for each in chosen
    )


def _estimate_side(
    observed: Observations, *, knows_trials: bool, knows_judge: bool
) -> ModelComponents:
    judge = None
    if knows_judge:
        freedom = float(observed.judge_freedom.sum())
        judge = float(observed.judge_squares.sum()) / freedom if freedom else 0.0
    trial = None
    if knows_trials:
        left = observed.n_trials - 1
        judged = (judge or 0.0) * float((left * observed.unjudged).sum())
        trial = (float(observed.squares.sum()) - judged) / float(left.sum())
    return ModelComponents(
        trial=trial, judge=judge, n_trials=observed.n_trials, unjudged=observed.unjudged
    )


def _estimate_unclipped_noise(side: ModelComponents) -> Numbers:
    """Variance of each test's mean, negative estimates included, so that no bias enters."""
    if side.trial is None:
        # The judge's part can be told from the rest even where trials are not.
        return (side.judge or 0.0) * side.unjudged / side.n_trials
    return (side.trial + (side.judge or 0.0) * side.unjudged) / side.n_trials


def _estimate_tests(
    values: Numbers, noise: Numbers, units: NDArray[np.int64], n_groups: int
) -> tuple[float | None, float]:
    """Estimate the variance between groups, None if each has one test, and between tests."""
    import numpy as np

    n = len(values)
    sizes = np.bincount(units)
    noises = np.bincount(units, weights=noise)
    if n == n_groups:
        return None, float(values.var(ddof=1) - noise.mean())
    means = np.bincount(units, weights=values) / sizes
    within = ((values - means[units]) ** 2).sum() - ((1 - 1 / sizes) * noises).sum()
    test = float(within) / (n - n_groups)
    between = (sizes * (means - values.mean()) ** 2).sum()
    between -= test * (n_groups - 1) + ((1 / sizes - 1 / n) * noises).sum()
    return float(between / (n - (sizes**2).sum() / n)), test
