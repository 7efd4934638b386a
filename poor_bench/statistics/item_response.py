"""Item response theory: abilities of models, difficulty and discrimination of tests (2PL)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from poor_bench.statistics.intervals import Z_95, Estimate
from poor_bench.statistics.outcomes import PASSED, Outcomes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

LEAST_MODELS = 20
"""Different models below which discrimination cannot be told from chance."""
_LEAST_TESTS = 5
_STEPS = 200
_SPREAD_OF_SLOPES = 0.4
"""Standard deviation of the log discriminations, as of usual item banks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemParameters:
    """A test on the scale of abilities, whose mean is 0 and whose standard deviation is 1."""

    test_id: str
    difficulty: float
    """Ability with which the test is passed half of the time."""
    discrimination: float
    """Slope there, above 0; about 1 is usual, below 0.5 the test tells little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResponse:
    """Fitted abilities and tests."""

    abilities: dict[str, Estimate]
    """Model (digest or LLM id) to ability with its 95 % interval; `n` tests."""
    items: tuple[ItemParameters, ...]
    """In order of first appearance."""


def fit_item_response(outcomes: Outcomes) -> ItemResponse | None:
    """Fit the hierarchical two-parameter logistic model to the passes of all models.

    Args:
        outcomes: Scored trials. Trials and LLMs of one model count as one observation: the share
            of them that pass.

    Returns:
        None for fewer than 20 different models or 5 tests. The fit is a mode of the posterior,
        deterministic, and takes seconds for 50 models and 2,000 tests. Intervals cover 95 % to
        96 % of known abilities in `benchmarks/statistics/items.py`, which also prints how well
        known parameters are recovered.

    Source:
        Birnbaum 1968, in Lord and Novick, "Statistical Theories of Mental Test Scores"; priors
        with estimated moments as in Mislevy 1986, "Bayes modal estimation in item response
        models", Psychometrika 51.
    """
    import numpy as np

    models, test_ids = outcomes.models, outcomes.test_ids
    if len(models) < LEAST_MODELS or len(test_ids) < _LEAST_TESTS:
        return None
    passed = _arrange(outcomes)
    fit = fit_two_parameters(passed)
    counts = (~np.isnan(passed)).sum(axis=0)
    return ItemResponse(
        abilities={
            model: Estimate(
                value=float(fit.ability[place]),
                low=float(fit.ability[place] - Z_95 * fit.error[place]),
                high=float(fit.ability[place] + Z_95 * fit.error[place]),
                n=int(counts[place]),
            )
            for place, model in enumerate(models)
        },
        items=tuple(
            ItemParameters(test_id=test_id, difficulty=float(hard), discrimination=float(slope))
            for test_id, hard, slope in zip(test_ids, fit.difficulty, fit.slope, strict=True)
        ),
    )


def _arrange(outcomes: Outcomes) -> Array:
    """Arrange the share of passed trials: one row per test, one column per model."""
    import numpy as np

    shape = len(outcomes.test_ids), len(outcomes.models)
    cells = outcomes.tests * shape[1] + outcomes.of_models
    n_trials = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
    n_passed = np.bincount(cells[outcomes.endings == PASSED], minlength=n_trials.size)
    shares: Array = np.full(shape, np.nan)
    np.divide(n_passed.reshape(shape), n_trials, out=shares, where=n_trials > 0)
    return shares


@dataclass(frozen=True, slots=True, eq=False)
class TwoParameterFit:
    """Parameters as arrays: abilities and their standard errors by model, the rest by test."""

    ability: Array
    error: Array
    difficulty: Array
    slope: Array


def fit_two_parameters(passed: Array) -> TwoParameterFit:
    """Fit abilities, difficulties and slopes by turns until they stand still.

    Args:
        passed: Share of passed trials, 0.0 to 1.0; one row per test, one column per model; NaN
            where a model has no trial.
    """
    import numpy as np

    seen = ~np.isnan(passed)
    share = np.where(seen, passed, 0.0)
    ability = _start(share, seen)
    none = np.zeros(len(passed))
    state = _Tests(none, none, 0.0, 1.5, (none, none, none))
    for _ in range(_STEPS):
        state = _improve_tests(share, seen, ability, state)
        before, (ability, _) = ability, _improve_abilities(share, seen, ability, state)
        ability = (ability - ability.mean()) / (ability.std() or 1.0)
        if np.abs(ability - before).max() < 1e-4:
            break
    _, error = _improve_abilities(share, seen, ability, state)
    slope = np.exp(state.log_slope)
    return TwoParameterFit(ability, error, -state.intercept / slope, slope)


@dataclass(frozen=True, slots=True, eq=False)
class _Tests:
    """Tests as intercept and log slope: the logit of passing is intercept + slope * ability."""

    intercept: Array
    log_slope: Array
    mean: float
    spread: float
    covariance: tuple[Array, Array, Array]
    """Variance of intercept, covariance of it and log slope, variance of log slope."""


def _start(share: Array, seen: Any) -> Array:
    import numpy as np

    mean = (share.sum(axis=0) + 0.5) / (seen.sum(axis=0) + 1)
    logit = np.log(mean / (1 - mean))
    start: Array = (logit - logit.mean()) / (logit.std() or 1.0)
    return start


def _improve_tests(share: Array, seen: Any, ability: Array, state: _Tests) -> _Tests:
    """Take a Newton step (Fisher scoring) for intercept and log slope of every test."""
    import numpy as np

    slope = np.exp(state.log_slope)
    chance = 1 / (1 + np.exp(-(state.intercept[:, None] + slope[:, None] * ability)))
    weight = np.where(seen, chance * (1 - chance), 0.0)
    rest = np.where(seen, share - chance, 0.0)
    by_slope = slope[:, None] * ability
    centre = float(state.log_slope.mean())
    first = rest.sum(axis=1) - (state.intercept - state.mean) / state.spread**2
    second = (rest * by_slope).sum(axis=1) - (state.log_slope - centre) / _SPREAD_OF_SLOPES**2
    a = weight.sum(axis=1) + 1 / state.spread**2
    b = (weight * by_slope).sum(axis=1)
    c = (weight * by_slope**2).sum(axis=1) + 1 / _SPREAD_OF_SLOPES**2
    determinant = a * c - b * b
    intercept = state.intercept + np.clip((c * first - b * second) / determinant, -1, 1)
    log_slope = state.log_slope + np.clip((a * second - b * first) / determinant, -0.3, 0.3)
    covariance = c / determinant, -b / determinant, a / determinant
    mean = float(intercept.mean())
    spread = float(np.sqrt(((intercept - mean) ** 2 + covariance[0]).mean()))
    return _Tests(intercept, np.clip(log_slope, -3, 3), mean, max(spread, 0.3), covariance)


def _improve_abilities(
    share: Array, seen: Any, ability: Array, state: _Tests
) -> tuple[Array, Array]:
    """Take a Newton step for every ability; also give the standard errors.

    The errors count that tests are estimated too: errors of intercept and slope move the score of
    a model as chance does.
    """
    import numpy as np

    slope = np.exp(state.log_slope)[:, None]
    chance = 1 / (1 + np.exp(-(state.intercept[:, None] + slope * ability)))
    weight = np.where(seen, chance * (1 - chance), 0.0)
    rest = np.where(seen, share - chance, 0.0)
    information = (slope**2 * weight).sum(axis=0) + 1.0
    step = ((slope * rest).sum(axis=0) - ability) / information
    of_intercept, of_both, of_slope = (each[:, None] for each in state.covariance)
    scaled = slope * ability
    of_logit = of_intercept + 2 * of_both * scaled + of_slope * scaled**2
    from_tests = ((slope * weight) ** 2 * of_logit + slope**2 * rest**2 * of_slope).sum(axis=0)
    error = np.sqrt(1 / information + from_tests / information**2)
    return ability + np.clip(step, -1, 1), error
