"""Votes: what each model, whatever its trials and settings, says to each test of a class.

Beside them: causes of failing that models share on one test, beyond the usual share of each model.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from poor_bench.scoring.verdict import Cause
from poor_bench.statistics.outcomes import NO_ANSWER, PASSED, Outcomes, Way
from poor_bench.statistics.trials import number_codes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
    Array = NDArray[np.float64]
    Bits = NDArray[np.bool_]


LEAST_MODELS = 3
"""Different models that a verdict on a test needs."""
MISSING = -2
"""Code where a model has no scored trial."""

_MOST_TRIALS, _MOST_COLUMNS = 5, 60
"""Single trials that are kept, of each model and of all."""


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """One vote per model and test: the most common of its trials, a pass if that is one of them.

    `codes` has one row per test and one column per model: `PASSED`, `NO_ANSWER`, `MISSING`, or a
    number from 1 for each different wrong answer to the test. `caused` holds the cause of a vote
    without an answer, as a number from 1 over all tests; 0 where there is none.
    """

    test_ids: tuple[str, ...]
    models: tuple[str, ...]
    codes: NDArray[np.int64]
    trials: NDArray[np.int64]
    """Codes of the first trials, up to 5: test, model, trial; `MISSING` where there are fewer."""
    caused: NDArray[np.int64]
    answers: tuple[tuple[str, ...], ...]
    """For each test the wrong answer of each code, from 1."""
    causes: tuple[Way, ...]
    """The way of each number in `caused`, from 1."""


class _Ballots(NamedTuple):
    """Trials by test and model: tests in order, the models of each as they first appear."""

    test_ids: tuple[str, ...]
    models: tuple[str, ...]
    rows: Codes
    """Number of the test of each ballot."""
    columns: Codes
    """Number of its model."""
    endings: Codes
    """Codes of the vote and of the first 5 trials; `MISSING` where there are fewer."""
    most_trials: int


def collect_votes(outcomes: Outcomes) -> Votes:
    """Collect one vote per model and test from scored trials."""
    import numpy as np

    ballots = _collect_ballots(outcomes)
    rows, columns = ballots.rows, ballots.columns
    codes, answers = _number_answers(ballots, outcomes.ways)
    shape = len(ballots.test_ids), len(ballots.models)
    n_trials = min(ballots.most_trials, max(1, _MOST_COLUMNS // max(1, shape[1])), _MOST_TRIALS)
    votes, trials = np.full(shape, MISSING), np.full((*shape, n_trials), MISSING)
    votes[rows, columns] = codes[:, 0]
    trials[rows, columns] = codes[:, 1 : n_trials + 1]
    is_answer = _find_answers(outcomes.ways)
    cast = ballots.endings[:, 0]
    is_caused = (cast > 0) & ~is_answer[cast]
    used, numbers = number_codes(cast[is_caused])
    caused = np.zeros(shape, dtype=np.int64)
    caused[rows[is_caused], columns[is_caused]] = numbers + 1
    return Votes(
        test_ids=ballots.test_ids,
        models=ballots.models,
        codes=votes,
        trials=trials,
        caused=caused,
        answers=answers,
        causes=tuple(outcomes.ways[ending - 1] for ending in used),
    )


def _collect_ballots(outcomes: Outcomes) -> _Ballots:
    import numpy as np

    tests, rows = number_codes(outcomes.tests)
    models, columns = number_codes(outcomes.of_models)
    cells, firsts, inverse, counts = np.unique(
        rows * max(1, len(models)) + columns,
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    order = np.argsort(inverse, kind="stable")
    starts = counts.cumsum() - counts
    places = np.arange(len(order)) - np.repeat(starts, counts)
    endings = np.full((len(cells), _MOST_TRIALS + 1), MISSING)
    is_kept = places < _MOST_TRIALS
    endings[inverse[order][is_kept], places[is_kept] + 1] = outcomes.endings[order][is_kept]
    endings[:, 0] = endings[:, 1]
    for cell in np.flatnonzero(counts > 1):
        cast = outcomes.endings[order[starts[cell] : starts[cell] + counts[cell]]]
        endings[cell, 0] = _count_most_common(cast.tolist())
    shown = np.lexsort((firsts, rows[firsts]))
    return _Ballots(
        test_ids=tuple(outcomes.test_ids[number] for number in tests),
        models=tuple(outcomes.models[number] for number in models),
        rows=rows[firsts][shown],
        columns=columns[firsts][shown],
        endings=endings[shown],
        most_trials=int(counts.max(initial=1)),
    )


def _number_answers(
    ballots: _Ballots, ways: tuple[Way, ...]
) -> tuple[Codes, tuple[tuple[str, ...], ...]]:
    """Number the wrong answers to each test from 1 on, as they first appear.

    Returns:
        Codes of the vote and the first trials of each ballot, and the answers of each test.
    """
    import numpy as np

    codes = np.minimum(ballots.endings, PASSED)
    codes[ballots.endings > 0] = NO_ANSWER
    places = np.flatnonzero(_find_answers(ways)[np.maximum(ballots.endings, 0)])
    rows = ballots.rows[places // codes.shape[1]]
    endings = ballots.endings.ravel()[places]
    _, firsts, inverse = np.unique(
        rows * (len(ways) + 1) + endings, return_index=True, return_inverse=True
    )
    shown = np.sort(firsts)
    n_before = np.searchsorted(rows[shown], np.arange(len(ballots.test_ids) + 1))
    number_of = np.searchsorted(shown, firsts) - n_before[rows[firsts]] + 1
    codes.ravel()[places] = number_of[inverse]
    texts = [ways[ending - 1].text for ending in endings[shown].tolist()]
    answers = [tuple(texts[start:end]) for start, end in pairwise(n_before.tolist())]
    return codes, tuple(answers)


def _find_answers(ways: tuple[Way, ...]) -> NDArray[np.bool_]:
    """Mark the codes of endings that are answers."""
    import numpy as np

    return np.array([False, *(way.kind == "answer" for way in ways)])


def _count_most_common(endings: list[int]) -> int:
    counts = Counter(endings)
    best = max(counts.values())
    common = [ending for ending, count in counts.items() if count == best]
    return PASSED if PASSED in common else common[0]


_SHRINKING = 8.0
"""Votes by which the usual share of a model is drawn to that of models that have it seldom."""
_STEPS_OF_WEIGHT = 4
"""Steps of one unit of log likelihood, to which weights are rounded."""
_OF_PROMPTS = frozenset({Cause.MISSING_FUNCTION, Cause.ARGUMENTS, Cause.MISSING_MODULE})
"""Causes that a sound test has seldom: its prompt says what the evaluator wants."""


def weigh_causes(votes: Votes, rows: Codes) -> list[tuple[int, float]]:
    """Find for each test the cause that most exceeds its usual share, with its p-value.

    Causes that lie between prompt and evaluator are counted among all models; others, such as a
    crash or a message, among those that fail: hard tests have more of them.
    """
    import numpy as np

    voted, fails = votes.codes != MISSING, (votes.codes != MISSING) & (votes.codes != PASSED)
    every = [votes.caused == cause for cause in range(1, len(votes.causes) + 1)]
    shared = [n for n, has in enumerate(every) if (has[rows].sum(axis=1) >= LEAST_MODELS).any()]
    best = [(0, 1.0)] * len(rows)
    for cause in shared:
        has, is_of_prompt = every[cause], votes.causes[cause].text in _OF_PROMPTS
        count = has.sum(axis=1)
        if is_of_prompt:
            tails = _compute_tails(has, voted, 3 * count < voted.sum(axis=1))
        else:
            tails = _compute_tails(has, fails, fails.any(axis=1))
        p_values = np.where(count >= LEAST_MODELS, tails * len(shared), 1.0)[rows]
        best = [
            (cause + 1, float(p)) if p < old[1] else old
            for p, old in zip(p_values, best, strict=True)
        ]
    return best


def _compute_tails(has: Bits, among: Bits, usual: Bits) -> Array:
    """Compute the chance that models with so much weight have a cause, each at its usual share.

    The weight of a model is its log likelihood ratio for a cause that strikes every second model:
    one whose code is never found has the cause everywhere and is not a witness. Usual shares leave
    out tests that exceed them, found by repetition: a class of prompts that do not say what the
    evaluator wants must not become the standard.

    Args:
        has: Which models have the cause; one row per test, one column per model.
        among: Which votes count.
        usual: Tests to start from.
    """
    import numpy as np

    for _ in range(5):
        n_with = (has & among & usual[:, None]).sum(axis=0)
        n_of = (among & usual[:, None]).sum(axis=0)
        seldom = 2 * n_with <= n_of
        overall = (n_with[seldom].sum() + 0.5) / (n_of[seldom].sum() + 10)
        share = (n_with + _SHRINKING * overall) / (n_of + _SHRINKING)
        weights = np.rint(_STEPS_OF_WEIGHT * np.maximum(0.0, np.log((1 - share) / share)))
        tails = _sum_upper_tail(np.where(among, share, 0.0), has & among, weights.astype(int))
        usual = usual & (tails > 0.05)
    return tails


def _sum_upper_tail(chances: Array, has: Bits, weights: Codes) -> Array:
    """Compute the chance of at least the weight of `has`, each column with its own chance."""
    import numpy as np

    least = (has * weights).sum(axis=1)
    sums = np.zeros((len(chances), weights.sum() + 1))
    sums[:, 0] = 1.0
    for chance, weight in zip(chances.T[:, :, None], weights, strict=True):
        hit = sums * chance
        sums -= hit
        sums[:, weight:] += hit[:, : sums.shape[1] - weight]
    reached = np.arange(sums.shape[1]) >= least[:, None]
    tail: Array = np.where(reached, sums, 0.0).sum(axis=1)
    return tail
