"""Votes: what each model, whatever its trials and settings, says to each test of a class.

Beside them: causes of failing that models share on one test, beyond the usual share of each model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from poor_bench.scoring.verdict import Cause
from poor_bench.statistics.outcomes import NO_ANSWER, PASSED, Outcomes, Way
from poor_bench.statistics.trials import number_codes, order_codes

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
    codes: NDArray[np.int32]
    trials: NDArray[np.int32]
    """Codes of the first trials, up to 5: test, model, trial; `MISSING` where there are fewer."""
    caused: NDArray[np.int32]
    answers: tuple[tuple[str, ...], ...]
    """For each test the wrong answer of each code, from 1."""
    causes: tuple[Way, ...]
    """The way of each number in `caused`, from 1."""


_TESTS_AT_ONCE = 1_000


class _Ballots(NamedTuple):
    """Trials by test and model: tests in order, the models of each as they first appear."""

    rows: Codes
    """Number of the test of each ballot."""
    columns: Codes
    """Number of its model."""
    endings: NDArray[np.int32]
    """Codes of the vote and of up to 5 first trials; `MISSING` where there are fewer."""
    most_trials: int


def collect_votes(outcomes: Outcomes) -> Votes:
    """Collect one vote per model and test from scored trials."""
    import numpy as np

    tests, rows = number_codes(outcomes.tests, is_short=True)
    models, columns = number_codes(outcomes.of_models, is_short=True)
    shape = len(tests), len(models)
    most = _choose_most(shape[1])
    votes, trials = (np.full(each, MISSING, dtype=np.int32) for each in (shape, (*shape, most)))
    caused = np.zeros(shape, dtype=np.int32)
    answers: list[tuple[str, ...]] = []
    causes = _Causes(outcomes.ways)
    most_trials = 1
    for places, ballots in _split_ballots(rows, columns, outcomes.endings):
        n_tests = min(_TESTS_AT_ONCE, len(tests) - len(answers))
        codes, said = _number_answers(ballots, outcomes.ways, n_tests)
        answers += said
        most_trials = max(most_trials, ballots.most_trials)
        votes[places] = codes[:, 0]
        n_trials = min(most, codes.shape[1] - 1)
        trials[(*places, slice(n_trials))] = codes[:, 1 : n_trials + 1]
        caused[places] = causes.number(ballots.endings[:, 0])
    return Votes(
        test_ids=tuple(outcomes.test_ids[number] for number in tests),
        models=tuple(outcomes.models[number] for number in models),
        codes=votes,
        trials=trials[:, :, :most_trials],
        caused=caused,
        answers=tuple(answers),
        causes=tuple(outcomes.ways[ending - 1] for ending in causes.numbers),
    )


class FirstPasses(NamedTuple):
    """Trials that are kept of each test and model, and those of them that pass."""

    models: tuple[str, ...]
    n_trials: Array
    n_right: Array
    most: int
    """Trials of a test and model at most."""


def count_first_passes(outcomes: Outcomes) -> FirstPasses:
    """Count what `collect_votes` keeps, without votes: those of all classes fill memory."""
    import numpy as np

    tests, rows = number_codes(outcomes.tests, is_short=True)
    models, columns = number_codes(outcomes.of_models, is_short=True)
    most, most_trials = _choose_most(len(models)), 1
    n_trials, n_right = (np.zeros((len(tests), len(models)), dtype=np.uint8) for _ in range(2))
    for places, ballots in _split_ballots(rows, columns, outcomes.endings):
        cast = ballots.endings[:, 1 : most + 1]
        n_trials[places] = (cast != MISSING).sum(axis=1)
        n_right[places] = (cast == PASSED).sum(axis=1)
        most_trials = max(most_trials, ballots.most_trials)
    return FirstPasses(
        models=tuple(outcomes.models[number] for number in models),
        n_trials=n_trials.astype(np.float64),
        n_right=n_right.astype(np.float64),
        most=min(most, most_trials),
    )


def _choose_most(n_models: int) -> int:
    """Choose how many single trials of a model are kept."""
    return max(1, min(_MOST_COLUMNS // max(1, n_models), _MOST_TRIALS))


def count_passes(trials: NDArray[np.integer[Any]]) -> tuple[Array, Array]:
    """Count the trials of each test and model, and those of them that pass."""
    import numpy as np

    n_trials, n_right = (
        has.sum(axis=2, dtype=np.float64) for has in (trials != MISSING, trials == PASSED)
    )
    return n_trials, n_right


class _Causes:
    """Numbers causes of votes from 1 on, in order of first appearance."""

    def __init__(self, ways: tuple[Way, ...]) -> None:
        self._is_cause = ~_find_answers(ways)
        self.numbers: dict[int, int] = {}
        """By their codes."""

    def number(self, endings: NDArray[np.int32]) -> NDArray[np.int32]:
        """Give the number of each vote's cause; 0 where there is none."""
        import numpy as np

        is_caused = (endings > 0) & self._is_cause[endings]
        for ending in order_codes(endings[is_caused]):
            self.numbers.setdefault(ending, len(self.numbers) + 1)
        number_of = np.zeros(len(self._is_cause), dtype=np.int32)
        number_of[[*self.numbers]] = [*self.numbers.values()]
        return np.where(is_caused, number_of[endings], np.int32(0))


def _split_ballots(
    rows: NDArray[np.int32], columns: NDArray[np.int32], endings: NDArray[np.int32]
) -> Iterator[tuple[tuple[Codes, Codes], _Ballots]]:
    """Yield the ballots of some tests at a time, with row and column of each among all."""
    import numpy as np

    order = np.argsort(rows, kind="stable")
    ends = [0, *np.bincount(rows).cumsum().tolist()]
    for first in range(0, len(ends) - 1, _TESTS_AT_ONCE):
        some = order[ends[first] : ends[min(first + _TESTS_AT_ONCE, len(ends) - 1)]]
        ballots = _collect_ballots(rows[some] - first, columns[some], endings[some])
        yield (ballots.rows + first, ballots.columns), ballots


def _collect_ballots(
    rows: NDArray[np.int32], columns: NDArray[np.int32], trials: NDArray[np.int32]
) -> _Ballots:
    """Collect the ballots of trials that are in the order of their tests."""
    import numpy as np

    cells = rows * (columns.max(initial=0) + np.int64(1)) + columns
    order = np.argsort(cells, kind="stable")
    starts = np.flatnonzero(np.diff(cells[order], prepend=-1))
    firsts, counts = order[starts], np.diff(starts, append=len(order))
    most_trials = int(counts.max(initial=1))
    shape = len(starts), min(most_trials, _MOST_TRIALS) + 1
    endings = np.full(shape, MISSING, dtype=np.int32)
    for place in range(shape[1] - 1):
        has_trial = counts > place
        endings[has_trial, place + 1] = trials[order[starts[has_trial] + place]]
    endings[:, 0] = endings[:, 1]
    for cell in np.flatnonzero(counts > 1):
        cast = trials[order[starts[cell] : starts[cell] + counts[cell]]]
        endings[cell, 0] = _count_most_common(cast.tolist())
    shown = np.argsort(firsts)
    return _Ballots(
        rows=rows[firsts][shown].astype(np.int64),
        columns=columns[firsts][shown].astype(np.int64),
        endings=endings[shown],
        most_trials=most_trials,
    )


def _number_answers(
    ballots: _Ballots, ways: tuple[Way, ...], n_tests: int
) -> tuple[NDArray[np.int32], list[tuple[str, ...]]]:
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
    n_before = np.searchsorted(rows[shown], np.arange(n_tests + 1))
    number_of = np.searchsorted(shown, firsts) - n_before[rows[firsts]] + 1
    codes.ravel()[places] = number_of[inverse]
    texts = [ways[ending - 1].text for ending in endings[shown].tolist()]
    answers = [tuple(texts[start:end]) for start, end in pairwise(n_before.tolist())]
    return codes, answers


def _find_answers(ways: tuple[Way, ...]) -> NDArray[np.bool_]:
    """Mark the codes of endings that are answers."""
    import numpy as np

    return np.array([False, *(way.kind == "answer" for way in ways)])


def _count_most_common(endings: list[int]) -> int:
    counts = Counter(endings)
    best = max(counts.values())
    common = [ending for ending, count in counts.items() if count == best]
    return PASSED if PASSED in common else common[0]


_CELLS_AT_ONCE = 1 << 21


def split_rows(n_rows: int, n_cells: int) -> Iterator[slice]:
    """Yield blocks of rows: of hundreds of models, tables of all rows take gigabytes.

    Args:
        n_rows: Rows of all blocks.
        n_cells: Numbers that each row takes in a table.
    """
    step = max(1, _CELLS_AT_ONCE // max(1, n_cells))
    return (slice(start, start + step) for start in range(0, max(1, n_rows), step))


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
    blocks = split_rows(len(least), int(weights.sum()) + 1)
    return np.concatenate([_sum_some(chances[some], least[some], weights) for some in blocks])


def _sum_some(chances: Array, least: Codes, weights: Codes) -> Array:
    import numpy as np

    sums = np.zeros((len(chances), weights.sum() + 1))
    sums[:, 0] = 1.0
    for chance, weight in zip(chances.T[:, :, None], weights, strict=True):
        hit = sums * chance
        sums -= hit
        sums[:, weight:] += hit[:, : sums.shape[1] - weight]
    reached = np.arange(sums.shape[1]) >= least[:, None]
    tail: Array = np.where(reached, sums, 0.0).sum(axis=1)
    return tail
