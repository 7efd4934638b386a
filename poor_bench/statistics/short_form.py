"""A short form of the tests: a few of them that predict the score on all."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from poor_bench.models.test import Test
from poor_bench.statistics.groups import number_groups
from poor_bench.statistics.intervals import Estimate, t_quantile_95
from poor_bench.statistics.means import mean_score
from poor_bench.statistics.ranking import COMPARABLE_SHARE
from poor_bench.statistics.scores import ScoreTable
from poor_bench.statistics.unit_choice import TestUnits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Places = NDArray[np.int64]

LEAST_MODELS = 5
"""Different models below which nothing is learnt from their scores."""
SHORT_TAG = "short"
"""Tag of the tests of the short form."""
_OBSERVED_WEIGHT = 0.5
"""Weight of the observed covariance of tests beside that of their classes."""
_ANY_LEVEL = 10.0
"""Standard deviation of how good a model is, in scores: so large that nothing is assumed."""
_SLOPE = 0.3
"""Standard deviation of the slope between the scores on chosen and on all tests, before data."""
_LEAST_VARIANCE = 0.05
"""Added to p (1 - p), so that a score near 0 or 1 does not promise to be predicted exactly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortForm:
    """Tests that stand for all."""

    test_ids: tuple[str, ...]
    """In the order of the tests."""
    n_tests: int
    """All tests."""
    n_models: int
    """Different models with scores for at least 90 % of the tests."""
    is_learnt: bool
    """False for a random choice, stratified by class and level: there were too few models."""
    margin: float | None
    """Expected half width of the 95 % interval of the predicted full score; None where no model
    tells."""
    random_margin: float | None
    """The same of the mean over as many tests chosen at random."""


class FullScores:
    """Scores of the models that ran nearly all tests: what short forms are learnt from."""

    def __init__(
        self,
        table: ScoreTable,
        tests: Mapping[str, Test],
        families: Mapping[str, str] | None = None,
    ) -> None:
        """Take the models with scores for at least 90 % of the tests; few gaps are filled.

        Args:
            table: Scores by test and LLM.
            tests: All tests that the full score is about, by id, at least one.
            families: LLM id to what is the same model with other settings: such LLMs are held out
                together, and count as one.
        """
        import numpy as np

        self.tests = tests
        self.places = {test_id: place for place, test_id in enumerate(tests)}
        rows = {test_id: row for row, test_id in enumerate(table.test_ids)}
        scores = np.full((len(tests), len(table.llm_ids)), np.nan)
        for test_id, place in self.places.items():
            if test_id in rows:
                scores[place] = table.scores[rows[test_id]]
        is_full = (~np.isnan(scores)).mean(axis=0) >= COMPARABLE_SHARE
        self.llm_ids = tuple(np.array(table.llm_ids, dtype=object)[is_full])
        self.scores = _fill(scores[:, is_full]) if is_full.any() else scores[:, is_full]
        names = [(families or {}).get(llm_id, llm_id) for llm_id in self.llm_ids]
        self.families = np.array(number_groups(len(names), names), dtype=np.int64)
        classes = [test.class_id for test in tests.values()]
        levels = [f"{test.class_id}\0{test.level}" for test in tests.values()]
        self.classes = np.array(number_groups(len(tests), classes))
        self.strata = np.array(number_groups(len(tests), levels))
        self.units = np.array(number_groups(len(tests), [test.group for test in tests.values()]))
        self._errors: dict[tuple[int, int], list[tuple[float, float]]] = {}

    @property
    def n_models(self) -> int:
        """Different models."""
        return len(set(self.families.tolist()))

    def hold_out(self, n: int, seed: int) -> list[tuple[float, float]]:
        """Predict each model by a choice of `n` tests that was learnt without it.

        Returns:
            Predicted score and its error, for each model; empty for fewer than 5 different models.
        """
        if (n, seed) not in self._errors:
            is_enough = self.n_models >= LEAST_MODELS
            self._errors[n, seed] = list(_hold_out(self, n, seed)) if is_enough else []
        return self._errors[n, seed]


def _fill(scores: Numbers) -> Numbers:
    """Fill gaps by the test's mean and how much better the model is than the others."""
    import numpy as np

    is_known = ~np.isnan(scores)
    counts = is_known.sum(axis=1, keepdims=True)
    sums = np.nansum(scores, axis=1, keepdims=True)
    overall = float(np.nanmean(scores))
    of_test = np.where(counts > 0, sums / np.maximum(counts, 1), overall)
    of_model = np.nanmean(scores - of_test, axis=0, keepdims=True)
    return np.where(is_known, scores, np.clip(of_test + of_model, 0.0, 1.0))


def select_short_form(full: FullScores, share: float, *, seed: int = 0) -> ShortForm:
    """Choose the tests that predict the full score of a new model best.

    The choice has as many tests of each class and level as their share demands, and keeps groups
    of tests together. From a random one it swaps tests as long as the mean over the chosen tests
    follows the full scores of the known models better; the noise of single tests counts against
    them, so that it does not follow by chance.

    Args:
        full: Scores of the known models.
        share: Tests to keep, above 0.0 to 1.0.
        seed: Of the random choice.

    Returns:
        The short form; a random choice for fewer than 5 different models.

    Raises:
        ValueError: If the share is out of range.

    Source:
        Benchmarks in few examples: Vivek et al. 2024, "Anchor Points", EACL; Polo et al. 2024,
        "tinyBenchmarks", ICML. The weight of noise is ours, and rests on the simulation.
    """
    if not 0 < share <= 1:
        raise ValueError(f"share must be above 0 and at most 1, not {share}")
    n = max(1, round(share * len(full.tests)))
    chosen = _choose(full, full.scores, n, seed)
    test_ids = list(full.tests)
    return ShortForm(
        test_ids=tuple(test_ids[place] for place in chosen.tolist()),
        n_tests=len(full.tests),
        n_models=full.n_models,
        is_learnt=full.n_models >= LEAST_MODELS,
        margin=_expect_margin(full, len(chosen), seed),
        random_margin=_expect_random_margin(full, len(chosen)),
    )


def predict_full_score(
    full: FullScores, scores: Mapping[str, float], *, seed: int = 0
) -> Estimate | None:
    """Predict the score on all tests of a model that ran only some.

    The scores that are known count as they are. The others are predicted by the best linear
    predictor from the known models: tests vary together as their classes and the known models do.
    The interval comes from predicting each known model by a choice of as many tests that was
    learnt without it: Student's quantile of the errors, which are larger for middle scores than
    for those near 0 and 1, and more for a model far from all known ones. In simulation
    (`benchmarks/statistics/short_form.py`) it covers 93 % to 99 % with 5 to 18 models. With 18
    published models on 61 tests it covers 94 % to 99 % where each is predicted by all others, and
    89 % at worst where the weaker half is predicted by the stronger one. Where tests of 0 and 1
    follow nothing but the ability of the model, it is hardly narrower than that of a random
    choice, and with fewer than about 10 models wider.

    Args:
        full: Scores of the known models, without the one to predict.
        scores: Test id to score, 0.0 to 1.0, of tests of `full`.
        seed: As in `select_short_form`.

    Returns:
        The predicted score; with fewer than 5 different models the mean of the scores, with an
        interval for a random choice from finitely many tests. None without a score.

    Source:
        Goldberger 1962, "Best linear unbiased prediction in the generalized linear regression
        model", Journal of the American Statistical Association 57; shrinkage of covariances:
        Ledoit and Wolf 2004, Journal of Portfolio Management 30; finite population: Cochran 1977,
        "Sampling Techniques", 2.6.
    """
    import numpy as np

    known = {
        full.places[test_id]: score for test_id, score in scores.items() if test_id in full.places
    }
    if not known:
        return None
    chosen, own = np.array(list(known), dtype=np.int64), np.array(list(known.values()))
    if full.n_models < LEAST_MODELS:
        return _scale_to_rest(own, full, chosen)
    value = _predict(full.scores, full.classes, chosen, own)
    errors = full.hold_out(len(chosen), seed)
    half = _compute_half_width(
        errors, value, full.n_models, _compute_doubt_slope(full, errors, chosen, own)
    )
    return Estimate(
        value=value, low=max(0.0, value - half), high=min(1.0, value + half), n=len(chosen)
    )


def has_short_form(tests: Mapping[str, Test]) -> bool:
    """True if some tests, but not all, have the tag `short`."""
    n_short = sum(SHORT_TAG in test.tags for test in tests.values())
    return 0 < n_short < len(tests)


def predict_short_forms(
    table: ScoreTable, tests: Mapping[str, Test], families: Mapping[str, str] | None = None
) -> dict[str, Estimate]:
    """Predict the full score of each LLM that ran the tests tagged `short`, and no others.

    Args:
        table: Scores by test and LLM.
        tests: All tests that the full score is about, by id.
        families: As in `FullScores`.

    Returns:
        LLM id to predicted score, for LLMs with scores for at least 90 % of the short form.
    """
    if not has_short_form(tests):
        return {}
    short = {test_id for test_id, test in tests.items() if SHORT_TAG in test.tags}
    found = {}
    full = FullScores(table, tests, families)
    for column, llm_id in enumerate(table.llm_ids):
        own = table.scores[:, column].tolist()
        known = {
            test_id: score
            for test_id, score in zip(table.test_ids, own, strict=True)
            if not math.isnan(score) and test_id in tests
        }
        is_short = known.keys() <= short and len(known) >= COMPARABLE_SHARE * len(short)
        if is_short and llm_id not in full.llm_ids:
            estimate = predict_full_score(full, known)
            if estimate is not None:
                found[llm_id] = estimate
    return found


def _scale_to_rest(own: Numbers, full: FullScores, chosen: Places) -> Estimate:
    """Estimate the full mean from a random choice: what is known of it is not uncertain."""
    groups = [test.group for test in full.tests.values()]
    found = mean_score(own.tolist(), [groups[place] for place in chosen.tolist()])
    factor = math.sqrt(max(0.0, 1 - len(chosen) / len(full.tests)))
    return Estimate(
        value=found.value,
        low=found.value - factor * (found.value - found.low),
        high=found.value + factor * (found.high - found.value),
        n=len(chosen),
    )


def _choose(full: FullScores, scores: Numbers, n: int, seed: int) -> Places:
    """Choose about `n` tests by the scores of some models; at random where they are few."""
    units = TestUnits(full.units, full.strata, full.classes)
    return units.choose(n, scores if full.n_models >= LEAST_MODELS else None, seed)


def _predict(scores: Numbers, classes: Places, chosen: Places, own: Numbers) -> float:
    """Predict the mean over all tests by the best linear predictor.

    The covariance of tests is U U' + d I: factors U are the known models' deviations, the classes,
    and one for all tests. Nothing is assumed of the last one: a model that is far better or worse
    than all known ones is not drawn towards them.
    """
    import numpy as np

    means = scores.mean(axis=1)
    factors, rest = _factorise(scores - means[:, None], classes)
    is_left = np.ones(len(means), dtype=bool)
    is_left[chosen] = False
    inside = factors[chosen]
    equations = inside.T @ inside + rest * np.eye(inside.shape[1])
    pull = np.linalg.lstsq(equations, inside.T @ (own - means[chosen]), rcond=None)[0]
    of_rest = float(np.clip(means[is_left] + factors[is_left] @ pull, 0.0, 1.0).sum())
    return (float(own.sum()) + of_rest) / len(means)


def _factorise(centred: Numbers, classes: Places) -> tuple[Numbers, float]:
    """Shrink the covariance of tests to one with a variance, and one covariance in each class."""
    import numpy as np

    n_models = centred.shape[1]
    variance = float((centred**2).sum()) / (n_models - 1) / len(centred)
    sums = np.zeros((int(classes.max()) + 1, n_models))
    np.add.at(sums, classes, centred)
    sizes = np.bincount(classes).astype(np.float64)
    squares = float((centred**2).sum())
    inner = float((sums**2).sum())
    n_within = float((sizes * (sizes - 1)).sum())
    n_between = len(centred) ** 2 - float((sizes**2).sum())
    outer = float((sums.sum(axis=0) ** 2).sum())
    between = (outer - inner) / (n_models - 1) / n_between if n_between else 0.0
    within = (inner - squares) / (n_models - 1) / n_within if n_within else between
    within = min(max(within, 0.0), 0.95 * variance)
    between = min(max(between, 0.0), within)
    own = 1 - _OBSERVED_WEIGHT
    one_hot = np.eye(len(sizes))[classes]
    factors = np.hstack(
        [
            centred * math.sqrt(_OBSERVED_WEIGHT / (n_models - 1)),
            one_hot * math.sqrt(own * (within - between)),
            np.full((len(centred), 1), _ANY_LEVEL),
        ]
    )
    return factors, max(1e-9, own * (variance - within))


def _hold_out(full: FullScores, n: int, seed: int) -> Iterator[tuple[float, float]]:
    import numpy as np

    for family in range(int(full.families.max()) + 1):
        is_out = full.families == family
        kept = full.scores[:, ~is_out]
        chosen = _choose(full, kept, n, seed)
        for model in np.flatnonzero(is_out).tolist():
            own = full.scores[:, model]
            value = _predict(kept, full.classes, chosen, own[chosen])
            yield value, value - float(own.mean())


def _compute_variance_of_score(value: float) -> float:
    return max(0.0, value * (1 - value)) + _LEAST_VARIANCE


def _compute_half_width(
    errors: Sequence[tuple[float, float]], value: float, n_models: int, doubt: float = 0.0
) -> float:
    """Compute the half width of the interval around a predicted score."""
    squares = math.fsum(error**2 / _compute_variance_of_score(guess) for guess, error in errors)
    variance = squares / len(errors) * _compute_variance_of_score(value)
    return t_quantile_95(n_models - 1) * math.sqrt(variance * (1 + 1 / n_models) + doubt)


def _compute_doubt_slope(
    full: FullScores, errors: Sequence[tuple[float, float]], chosen: Places, own: Numbers
) -> float:
    """Compute the variance that a model far from all known ones adds to its prediction.

    The full score may grow faster or slower than the score on the chosen tests. The known models
    tell that slope the better, the more they differ; without them it is 1 ± `_SLOPE`.
    """
    known = full.scores[chosen].mean(axis=0)
    spread = float(((known - known.mean()) ** 2).sum())
    noise = math.fsum(error**2 for _, error in errors) / len(errors)
    variance = 1 / (spread / max(noise, 1e-9) + 1 / _SLOPE**2)
    return variance * (float(own.mean()) - float(known.mean())) ** 2


def _expect_margin(full: FullScores, n: int, seed: int) -> float | None:
    """Compute the half width that a model like the known ones will get on average."""
    errors = full.hold_out(n, seed)
    if not errors:
        return _expect_random_margin(full, n)
    halves = [_compute_half_width(errors, value, full.n_models) for value, _ in errors]
    return math.fsum(halves) / len(halves)


def _expect_random_margin(full: FullScores, n: int) -> float | None:
    """Compute the same of a random choice that predicts by its mean; None without models."""
    import numpy as np

    if not full.llm_ids:
        return None
    chosen = np.random.default_rng(0).permutation(len(full.tests))[:n]
    rows = [_scale_to_rest(own[chosen], full, chosen) for own in full.scores.T]
    return math.fsum(row.margin for row in rows) / len(rows)
