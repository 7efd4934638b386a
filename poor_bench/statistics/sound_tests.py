"""Sound tests of one class: how models pass them, and how their wrong answers scatter.

Able models pass a test of unknown difficulty more often (Rasch). The trials of a model are partly
one trial repeated: at temperature 0 they all are. Wrong answers are drawn from an urn: some are
more tempting than others, and a model repeats its own. How many answers there could be is declared
by the test, or estimated from those seen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from poor_bench.models.test import Test
from poor_bench.statistics.outcomes import NO_ANSWER, PASSED
from poor_bench.statistics.votes import MISSING, count_passes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]
    Codes = NDArray[np.int64]
    Bits = NDArray[np.bool_]
    Trials = NDArray[np.integer[Any]]


_NODES, _ROUNDS = 15, 40
_PRIOR_SPREAD, _PRIOR_TESTS = 1.5, 10
"""Usual standard deviation of difficulties in logits, and how many tests it counts for."""


@dataclass(frozen=True, slots=True, eq=False)
class SoundTests:
    """Log chances to pass and fail a sound test, at nodes of the difficulty."""

    passing: Array
    """One row per model, one column per node."""
    failing: Array
    weights: Array
    """Log weights of the nodes."""
    ability: Array
    sticky: float
    """Share of the trials of a model on a test that are one trial repeated, 0.0 to 1.0."""


@dataclass(frozen=True, slots=True)
class AnswerSpace:
    """How the wrong answers to a test scatter."""

    n_answers: int
    """Different answers that could be given, at least 2."""
    tempting: float
    """Dirichlet parameter of each wrong answer: the lower, the more some are preferred."""
    repeating: float
    """Chance that a model which fails twice gives the same wrong answer, 0.0 to 1.0."""

    @property
    def habit(self) -> float:
        """Chance that it repeats its answer on purpose: the part that is not two equal draws."""
        by_chance = min(0.99, (1 + self.tempting) / (1 + self.tempting * (self.n_answers - 1)))
        return max(0.0, (self.repeating - by_chance) / (1 - by_chance))


def fit_sound_tests(trials: Trials, soundness: Array, prior: Array, deviation: float) -> SoundTests:
    """Fit abilities and the spread of difficulties (Rasch) to tests that are probably sound.

    Args:
        trials: Codes of test, model, trial; see `Votes`.
        soundness: Probability of each test to be sound, 0.0 to 1.0: how much it counts.
        prior: Abilities by what else is known, in logits.
        deviation: Standard deviation of abilities around `prior`.
    """
    return fit_counts(*count_passes(trials), soundness, prior, deviation)


def fit_counts(
    n_trials: Array, n_right: Array, soundness: Array, prior: Array, deviation: float
) -> SoundTests:
    """Fit the same to counts of trials, without their codes."""
    import numpy as np

    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    ability, mean, spread, sticky = prior.copy(), 0.0, _PRIOR_SPREAD, 0.0
    has_repeats = bool((n_trials > 1).any())
    n_worth, right = n_trials, n_right
    for _ in range(_ROUNDS):
        difficulty = mean + spread * nodes
        passing, failing = _compute_log_chances(ability[:, None] - difficulty)
        chance = np.exp(passing)
        if has_repeats:
            worth = 1 / (1 + np.maximum(n_trials - 1, 0) * sticky)
            n_worth, right = worth * n_trials, worth * n_right
        n_worth -= right  # in place and back: another table of very many trials fills memory
        likely = right @ passing + n_worth @ failing + np.log(weights)
        if has_repeats:
            n_worth = worth * n_trials
        else:
            n_worth += right
        of_nodes = np.exp(likely - likely.max(axis=1, keepdims=True))
        of_nodes *= (soundness / of_nodes.sum(axis=1))[:, None]
        counts = n_worth.T @ of_nodes
        rest = right.T @ soundness - (counts * chance).sum(axis=1)
        slope = (counts * chance * (1 - chance)).sum(axis=1)
        ability = ability + (rest - (ability - prior) / deviation**2) / (slope + 1 / deviation**2)
        per_node = of_nodes.sum(axis=0)
        total = max(float(per_node.sum()), 1e-9)
        mean = float(per_node @ difficulty) / total
        squares = float(per_node @ (difficulty - mean) ** 2)
        variance = (squares + _PRIOR_TESTS * _PRIOR_SPREAD**2) / (total + _PRIOR_TESTS)
        spread = min(3.0, math.sqrt(variance))
        if has_repeats:
            sticky = _estimate_sticky(n_right, n_trials, chance, of_nodes)
    passing, failing = _compute_log_chances(ability[:, None] - (mean + spread * nodes))
    return SoundTests(passing, failing, np.log(weights / weights.sum()), ability, sticky)


def _compute_log_chances(logit: Array) -> tuple[Array, Array]:
    """Compute the log chances to pass and to fail."""
    import numpy as np

    return -np.logaddexp(0, -logit), -np.logaddexp(0, logit)


def _estimate_sticky(n_right: Array, n_trials: Array, chance: Array, of_nodes: Array) -> float:
    """Estimate which share of trials is repeated, by how seldom trials of a model disagree.

    The lower limit (2 standard errors) is taken: too high a share would make sound tests whose
    trials disagree look faulty.
    """
    import numpy as np

    mixed = float(of_nodes.sum(axis=1) @ ((n_right > 0) & (n_right < n_trials)).sum(axis=1))
    expected = 0.0
    for n in range(2, int(n_trials.max(initial=0)) + 1):
        disagree = 1 - chance**n - (1 - chance) ** n
        expected += float((((n_trials == n).T @ of_nodes) * disagree).sum())
    if not expected:
        return 0.0
    return float(np.clip(1 - (mixed + 2 * math.sqrt(mixed + 0.5)) / (expected + 0.5), 0.0, 0.999))


def estimate_answer_space(trials: Codes, n_answers: int) -> AnswerSpace:
    """Estimate how wrong answers scatter among models, and repeat within one.

    Every test counts once, by the share of pairs of models whose first wrong answers agree; two
    tests with a share of 0.3 are added, since wrong answers are seldom drawn blindly.
    """
    import numpy as np

    answered = trials > 0
    first = np.take_along_axis(trials, answered.argmax(axis=2)[:, :, None], axis=2)
    has_wrong = answered.any(axis=2)
    n_wrong = has_wrong.sum(axis=1)
    n_pairs = (n_wrong * (n_wrong - 1))[n_wrong > 1]
    n_alike = _count_pairs(np.where(has_wrong, first[:, :, 0], 0))[n_wrong > 1]
    shares = [0.3, 0.3, *(2 * n_alike / n_pairs).tolist()]
    later = answered & (answered.cumsum(axis=2) > 1)
    pairs_of_model = 2.0 + int(later.sum())
    same = 1.0 + int((later & (trials == first)).sum())
    repeating = min(0.99, float(same / pairs_of_model))
    share, least = sum(shares) / len(shares), 1 / max(1, n_answers - 1)
    if share >= 0.95 or n_answers <= 2:
        return AnswerSpace(n_answers, 0.05, repeating)
    excess = share * (n_answers - 1) - 1
    tempting = 50.0 if share <= least * 1.01 else min(50.0, (1 - share) / excess)
    return AnswerSpace(n_answers, tempting, repeating)


def _count_pairs(codes: Codes) -> Codes:
    """Count the pairs of equal codes in each row; those of 0 do not count."""
    import numpy as np

    ordered = np.sort(codes, axis=1).T
    run, n_pairs = np.zeros(len(codes), dtype=np.int64), np.zeros(len(codes), dtype=np.int64)
    for before, code in pairwise(ordered):
        run = (run + 1) * ((code == before) & (code > 0))
        n_pairs += run
    return n_pairs


def draw_sound_tests(
    rng: np.random.Generator, like: Trials, sound: SoundTests, space: AnswerSpace
) -> Codes:
    """Draw trials of sound tests, with those missing that are missing in `like`."""
    import numpy as np

    size, n_models, _ = like.shape
    nodes = rng.choice(len(sound.weights), size=size, p=np.exp(sound.weights))
    is_stuck = rng.random((size, n_models, 1)) < sound.sticky
    luck = rng.random(like.shape)
    if like.shape[2] > 1:
        luck = np.where(is_stuck, luck[:, :, :1], luck)
    # In place, and freed: each table of many models takes hundreds of megabytes.
    passes = np.log(luck, out=luck) < sound.passing.T[nodes][:, :, None]
    del luck
    answers = _draw_answers(rng, passes.shape, is_stuck[:, :, 0], space)
    answers[like == NO_ANSWER] = NO_ANSWER
    answers[passes] = PASSED
    answers[like == MISSING] = MISSING
    return answers


def _draw_answers(
    rng: np.random.Generator, shape: tuple[int, ...], is_stuck: Bits, space: AnswerSpace
) -> Codes:
    """Draw wrong answers: an own one again, that of an earlier model, or a new one."""
    import numpy as np

    size, n_models, n_trials = shape
    total = space.tempting * (space.n_answers - 1)
    answers = rng.integers(1, space.n_answers, size=shape)
    first = answers[:, :, 0]
    for model in range(1, n_models):
        repeats = rng.random(size) < model / (total + model)
        earlier = first[np.arange(size), rng.integers(model, size=size)]
        first[:, model] = np.where(repeats, earlier, first[:, model])
    for trial in range(1, n_trials):
        own = is_stuck | (rng.random((size, n_models)) < space.habit)
        others = rng.random((size, n_models)) < n_models / (total + n_models)
        of_others = first[np.arange(size)[:, None], rng.integers(n_models, size=(size, n_models))]
        again = np.where(others, of_others, answers[:, :, trial])
        answers[:, :, trial] = np.where(own, first, again)
    return answers


class Pattern(NamedTuple):
    """One combination of outcomes of the trials of a model on a test."""

    times: tuple[int, ...]
    """How often each outcome occurs."""
    has: Array
    """1 where a model (column) has it on a test (row), else 0."""


def find_patterns(*outcomes: Bits) -> list[Pattern]:
    """Find the combinations of outcomes that occur.

    Args:
        outcomes: For each outcome, which trials of test and model have it.
    """
    import numpy as np

    n_trials = outcomes[0].shape[2]
    base = n_trials + 1
    combined = np.zeros(outcomes[0].shape[:2], dtype=np.min_scalar_type(base ** len(outcomes)))
    for place, outcome in enumerate(outcomes):
        for trial in range(n_trials):
            combined += outcome[:, :, trial] * combined.dtype.type(base**place)
    codes = np.flatnonzero(np.bincount(combined.ravel()))
    return [
        Pattern(
            tuple(int(code) // base**place % base for place in range(len(outcomes))),
            (combined == code).astype(np.float64),
        )
        for code in codes
        if code
    ]


def integrate_chance(patterns: Sequence[Pattern], chances: Array, sound: SoundTests) -> Array:
    """Compute the log chance of what models did, over the difficulties.

    Args:
        patterns: Which outcomes the models have, at least one of them.
        chances: Log chances of outcome, model and node.
        sound: Weights of the nodes, and how sticky trials are.
    """
    import numpy as np

    total = 0.0
    for times, has in patterns:
        each = sum(n * chance for n, chance in zip(times, chances, strict=True))
        if sum(times) > 1 and sound.sticky:
            each = each + np.log(1 - sound.sticky)
            if max(times) == sum(times):
                once = chances[int(np.argmax(times))] + np.log(sound.sticky)
                each = np.logaddexp(each, once)
        total = total + has @ each
    mean: Array = add_log_chances(total + sound.weights, axis=1)
    return mean


def number_answers(trials: Codes) -> Codes:
    """Number the codes of each test anew, from 0 on, so that few numbers are needed.

    Returns:
        One row per test, one column per trial, those of a model side by side; equal codes of a
        test have equal numbers.
    """
    import numpy as np

    codes = trials.reshape(len(trials), -1)
    order = np.argsort(codes, axis=1, kind="stable")
    ordered = np.take_along_axis(codes, order, axis=1)
    numbers = np.zeros_like(codes)
    numbers[:, 1:] = (ordered[:, 1:] != ordered[:, :-1]).cumsum(axis=1)
    restored = np.empty_like(numbers)
    np.put_along_axis(restored, order, numbers, axis=1)
    return restored


def scatter_answers(answers: Codes, counted: Bits, space: AnswerSpace) -> Array:
    """Compute the log chance of the counted answers, drawn one after the other from an urn.

    Args:
        answers: See `number_answers`.
        counted: Which trials of test and model count.
        space: How answers scatter.
    """
    import numpy as np

    size, n_columns = answers.shape
    n_trials, is_counted = counted.shape[2], counted.reshape(size, -1)
    total = space.tempting * (space.n_answers - 1)
    seen = np.zeros(size * n_columns)  # how often each answer of each test came from the urn
    chance, drawn = np.zeros(size), np.zeros(size)
    for column in range(n_columns):
        rows, start = np.flatnonzero(is_counted[:, column]), column - column % n_trials
        answer = answers[rows, column]
        places = rows * n_columns + answer
        each = (space.tempting + seen[places]) / (total + drawn[rows])
        if column > start:
            earlier = is_counted[rows, start:column]
            is_own = ((answers[rows, start:column] == answer[:, None]) & earlier).any(axis=1)
            each *= np.where(earlier.any(axis=1), 1 - space.habit, 1.0)
            each += np.where(is_own, space.habit, 0.0)
            places, new = places[~is_own], rows[~is_own]
        else:
            new = rows
        chance[rows] += np.log(each)
        seen[places] += 1
        drawn[new] += 1
    return chance


def add_log_chances(values: ArrayLike, axis: int) -> NDArray[np.float64]:
    """Add chances that are given as logarithms; minus infinity is a chance of 0.

    The same as `scipy.special.logsumexp`, whose import takes a quarter of a second and whose calls
    cost more than the sums of a hundred tests.
    """
    import numpy as np

    logs = np.asarray(values, dtype=np.float64)
    top = logs.max(axis=axis, keepdims=True)
    top = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        sums = np.log(np.exp(logs - top).sum(axis=axis))
    total: NDArray[np.float64] = sums + top.squeeze(axis)
    return total


_TRUTHS = {"true", "false"}, {"yes", "no"}


def count_declared_answers(test: Test | None) -> int | None:
    """Count the answers that a test declares itself; None where it declares none.

    Read are `labels` and `choices` of its evaluator, and keys that are one of two truth values.

    Example:
        >>> from poor_bench.models.test import EvaluatorSpec
        >>> spec = EvaluatorSpec("choice", {"choices": ["red", "green", "blue"], "expected": "A"})
        >>> count_declared_answers(Test(test_id="t", class_id="c", level=1, evaluator=spec))
        3
    """
    if test is None or test.evaluator is None:
        return None
    parameters = test.evaluator.parameters
    for name in ("labels", "choices"):
        declared: Any = parameters.get(name)
        if isinstance(declared, list | tuple) and len(declared) > 1:
            return len(declared)
    key = str(parameters.get("expected", "")).casefold()
    return 2 if any(key in truths for truths in _TRUTHS) else None


def estimate_n_answers(given: NDArray[np.int32], keys: NDArray[np.int32]) -> int:
    """Estimate how many different answers the tests of one class could get.

    Args:
        given: Number of the answer of each trial, -1 for none; see `Outcomes`.
        keys: Number of the expected answer of each trial; both keys and answers count as seen.

    Returns:
        At least 2. The lower bound of Chao 1984, "Nonparametric estimation of the number of
        classes in a population", Scandinavian Journal of Statistics 11: where nearly every answer
        is seen once, the space is much larger than what was seen.
    """
    import numpy as np

    counts = np.bincount(given[given >= 0])
    once, twice = int((counts == 1).sum()), int((counts == 2).sum())
    unseen = once * (once - 1) / (2 * (twice + 1))
    seen = np.unique(np.concatenate([given, keys]))
    return max(2, int((seen >= 0).sum()) + round(unseen))
