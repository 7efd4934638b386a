"""Item response theory: abilities of models, difficulty and discrimination of tests (2PL)."""

from __future__ import annotations

from collections.abc import Iterator
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
_TESTS_AT_ONCE, _TRIALS_AT_ONCE = 1_000, 1 << 20
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Passes:
    """Scored trials, and those of them that pass: one row per test, one column per model.

    Of ten million cells, shares would take 80 MB: they are computed test by test.
    """

    test_ids: tuple[str, ...]
    models: tuple[str, ...]
    n_trials: NDArray[np.integer[Any]]
    n_passed: NDArray[np.integer[Any]]

    def split(self) -> Iterator[tuple[slice, Array, Any]]:
        """Yield blocks of tests with the shares that pass, and which cells have trials."""
        import numpy as np

        for at in range(0, len(self.n_trials), _TESTS_AT_ONCE):
            some = slice(at, at + _TESTS_AT_ONCE)
            n_trials, n_passed = self.n_trials[some], self.n_passed[some]
            seen = n_trials > 0
            share = np.zeros(seen.shape)
            np.divide(n_passed, n_trials, out=share, where=seen, dtype=np.float64)
            yield some, share, seen


def arrange_passes(outcomes: Outcomes) -> Passes:
    """Arrange the trials by test and model; LLMs of one model count as one."""
    import numpy as np

    shape = len(outcomes.test_ids), len(outcomes.models)
    n_trials = np.zeros(shape[0] * shape[1], dtype=np.int32)
    for _, cells in _find_cells(outcomes):
        np.add.at(n_trials, cells, 1)
    n_trials = n_trials.astype(np.min_scalar_type(n_trials.max(initial=0)))
    n_passed = np.zeros_like(n_trials)
    for some, cells in _find_cells(outcomes):
        np.add.at(n_passed, cells[outcomes.endings[some] == PASSED], 1)
    return Passes(
        test_ids=outcomes.test_ids,
        models=outcomes.models,
        n_trials=n_trials.reshape(shape),
        n_passed=n_passed.reshape(shape),
    )


def _find_cells(outcomes: Outcomes) -> Iterator[tuple[slice, NDArray[np.int64]]]:
    """Yield blocks of trials with the cell of each."""
    import numpy as np

    for at in range(0, len(outcomes.tests), _TRIALS_AT_ONCE):
        some = slice(at, at + _TRIALS_AT_ONCE)
        tests = outcomes.tests[some].astype(np.int64)
        yield some, tests * len(outcomes.models) + outcomes.of_models[some]


def fit_item_response(passes: Passes) -> ItemResponse | None:
    """Fit the hierarchical two-parameter logistic model to the passes of all models.

    Args:
        passes: Trials and LLMs of one model count as one observation: the share of them that pass.

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
    if len(passes.models) < LEAST_MODELS or len(passes.test_ids) < _LEAST_TESTS:
        return None
    fit = fit_two_parameters(passes)
    counts = (passes.n_trials > 0).sum(axis=0)
    return ItemResponse(
        abilities={
            model: Estimate(
                value=float(fit.ability[place]),
                low=float(fit.ability[place] - Z_95 * fit.error[place]),
                high=float(fit.ability[place] + Z_95 * fit.error[place]),
                n=int(counts[place]),
            )
            for place, model in enumerate(passes.models)
        },
        items=tuple(
            ItemParameters(test_id=test_id, difficulty=float(hard), discrimination=float(slope))
            for test_id, hard, slope in zip(passes.test_ids, fit.difficulty, fit.slope, strict=True)
        ),
    )


@dataclass(frozen=True, slots=True, eq=False)
class TwoParameterFit:
    """Parameters as arrays: abilities and their standard errors by model, the rest by test."""

    ability: Array
    error: Array
    difficulty: Array
    slope: Array


def fit_two_parameters(passes: Passes) -> TwoParameterFit:
    """Fit abilities, difficulties and slopes by turns until they stand still."""
    import numpy as np

    ability = _start(passes)
    none = np.zeros(len(passes.n_trials))
    state = _Tests(none, none, 0.0, 1.5, (none, none, none))
    for _ in range(_STEPS):
        state = _improve_tests(passes, ability, state)
        before, (ability, _) = ability, _improve_abilities(passes, ability, state)
        ability = (ability - ability.mean()) / (ability.std() or 1.0)
        if np.abs(ability - before).max() < 1e-4:
            break
    _, error = _improve_abilities(passes, ability, state)
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


def _start(passes: Passes) -> Array:
    import numpy as np

    total = np.zeros(passes.n_trials.shape[1])
    for _, share, _ in passes.split():  # test by test, so that the sums are those of one table
        total = np.vstack([total, share]).sum(axis=0)
    mean = (total + 0.5) / ((passes.n_trials > 0).sum(axis=0) + 1)
    logit = np.log(mean / (1 - mean))
    start: Array = (logit - logit.mean()) / (logit.std() or 1.0)
    return start


def _improve_tests(passes: Passes, ability: Array, state: _Tests) -> _Tests:
    """Take a Newton step (Fisher scoring) for intercept and log slope of every test."""
    import numpy as np

    slope = np.exp(state.log_slope)
    centre = float(state.log_slope.mean())
    sums = (
        _sum_models(share, seen, ability, state.intercept[some], slope[some])
        for some, share, seen in passes.split()
    )
    rest, rest_by_slope, weight, b, weight_by_slope = map(np.concatenate, zip(*sums, strict=True))
    first = rest - (state.intercept - state.mean) / state.spread**2
    second = rest_by_slope - (state.log_slope - centre) / _SPREAD_OF_SLOPES**2
    a = weight + 1 / state.spread**2
    c = weight_by_slope + 1 / _SPREAD_OF_SLOPES**2
    determinant = a * c - b * b
    intercept = state.intercept + np.clip((c * first - b * second) / determinant, -1, 1)
    log_slope = state.log_slope + np.clip((a * second - b * first) / determinant, -0.3, 0.3)
    covariance = c / determinant, -b / determinant, a / determinant
    mean = float(intercept.mean())
    spread = float(np.sqrt(((intercept - mean) ** 2 + covariance[0]).mean()))
    return _Tests(intercept, np.clip(log_slope, -3, 3), mean, max(spread, 0.3), covariance)


def _sum_models(
    share: Array, seen: Any, ability: Array, intercept: Array, slope: Array
) -> tuple[Array, ...]:
    """Sum what the step of each test needs, over the models."""
    import numpy as np

    chance = 1 / (1 + np.exp(-(intercept[:, None] + slope[:, None] * ability)))
    weight = np.where(seen, chance * (1 - chance), 0.0)
    rest = np.where(seen, share - chance, 0.0)
    by_slope = slope[:, None] * ability
    summed = rest, rest * by_slope, weight, weight * by_slope, weight * by_slope**2
    return tuple(each.sum(axis=1) for each in summed)


def _improve_abilities(passes: Passes, ability: Array, state: _Tests) -> tuple[Array, Array]:
    """Take a Newton step for every ability; also give the standard errors.

    The errors count that tests are estimated too: errors of intercept and slope move the score of
    a model as chance does.
    """
    import numpy as np

    total = np.zeros((3, passes.n_trials.shape[1]))
    for some, share, seen in passes.split():
        tests = (state.intercept[some], state.log_slope[some], *(x[some] for x in state.covariance))
        each = _list_steps(share, seen, ability, *tests)
        # Test by test, so that the sums are those of one table.
        total = np.stack(
            [np.vstack([old, new]).sum(axis=0) for old, new in zip(total, each, strict=True)]
        )
    information = total[0] + 1.0
    step = (total[1] - ability) / information
    error = np.sqrt(1 / information + total[2] / information**2)
    return ability + np.clip(step, -1, 1), error


def _list_steps(
    share: Array,
    seen: Any,
    ability: Array,
    intercept: Array,
    log_slope: Array,
    *covariance: Array,
) -> tuple[Array, ...]:
    """List what the step of each ability needs, by test."""
    import numpy as np

    slope = np.exp(log_slope)[:, None]
    chance = 1 / (1 + np.exp(-(intercept[:, None] + slope * ability)))
    weight = np.where(seen, chance * (1 - chance), 0.0)
    rest = np.where(seen, share - chance, 0.0)
    of_intercept, of_both, of_slope = (each[:, None] for each in covariance)
    scaled = slope * ability
    of_logit = of_intercept + 2 * of_both * scaled + of_slope * scaled**2
    from_tests = (slope * weight) ** 2 * of_logit + slope**2 * rest**2 * of_slope
    return slope**2 * weight, slope * rest, from_tests
