"""Faults of tests, from what models answer: wrong keys, two right answers, reversed scoring.

For every test the trials are weighed under five hypotheses. Trials of one model count as several
only as far as trials of a model differ on sound tests. A sound test of unknown difficulty is
passed by able models more often, and wrong answers scatter over the answer space, some being more
tempting than others. A wrong key has another answer in the place of the key; an ambiguous test
has two right ones; a reversed test is failed by the able; a broken one is passed by nobody. The
chance that a sound test looks as bad comes from simulated sound tests of the same class, models
and answer space, and the Benjamini-Hochberg procedure limits the share of sound ones among the
flagged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from poor_bench.models.test import Test
from poor_bench.statistics.outcomes import PASSED, Outcomes, Way
from poor_bench.statistics.significance import benjamini_hochberg, select_findings
from poor_bench.statistics.sound_tests import (
    AnswerSpace,
    Pattern,
    SoundTests,
    add_log_chances,
    count_declared_answers,
    draw_sound_tests,
    estimate_answer_space,
    estimate_n_answers,
    find_patterns,
    fit_counts,
    fit_sound_tests,
    integrate_chance,
    number_answers,
    scatter_answers,
)
from poor_bench.statistics.trials import order_codes
from poor_bench.statistics.votes import (
    LEAST_MODELS,
    MISSING,
    Votes,
    collect_votes,
    count_first_passes,
    split_rows,
    weigh_causes,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Codes = NDArray[np.int64]

T = TypeVar("T")
R = TypeVar("R")

_LEVEL_OF_SEVERAL, _LEAST_LEVEL, _MOST_LEVEL, _LEVEL_PER_SHARE = 0.07, 0.05, 0.15, 1.7
"""Levels of Benjamini-Hochberg with several trials per model, and with one.

Set by `benchmarks/statistics/items.py` for a precision above 90 %. Of single trials the level rises
with the share of tests that are flagged at the least one. It limits the expected share of sound
ones among the flagged of a suite, and suites without any flagged test count as free of errors:
where few faults are found, a higher share of all that is flagged is sound.
"""
_DRAWN_PER_TEST, _LEAST_DRAWN, _MOST_DRAWN = 20, 2_000, 40_000
"""Simulated sound tests: enough to tell the smallest p-value that counts."""
_LEAST_SHARED = 3
"""Models that give an answer which may be right."""
_SHARES = (0.3, 0.5, 0.7)
"""How right votes divide between the two right answers of an ambiguous test."""
_NEITHER = 0.05
"""Least chance to give neither of two right answers, where no other is possible: no answer."""
_BROKEN_PASS = 0.02
_PASSES = 3


class Share(Protocol):
    """Does some work for each task, as `map` does it, or in other processes."""

    def __call__(self, work: Callable[[T], R], tasks: Iterable[T], /) -> Iterable[R]:
        """Yield what comes of the tasks, in their order."""


class Fault(StrEnum):
    """What may be wrong with a test."""

    WRONG_KEY = "wrong_key"
    AMBIGUOUS = "ambiguous"
    REVERSED = "reversed"
    BROKEN = "broken"
    """Nobody passes, beyond what its class's difficulty explains."""
    ONE_CAUSE = "one_cause"
    """Models fail for one cause that lies between prompt and evaluator."""


_WEIGHTS = {Fault.WRONG_KEY: 0.4, Fault.AMBIGUOUS: 0.25, Fault.REVERSED: 0.25, Fault.BROKEN: 0.1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """Evidence against one test."""

    fault: Fault
    """The most probable fault, if it is one."""
    p_value: float
    """Chance that a sound test of its class looks at least as bad."""
    is_flagged: bool
    way: Way | None
    """Shared wrong answer or cause; None for reversed and broken tests."""
    models: tuple[str, ...]
    """Models that vote that way."""


def find_faults(
    outcomes: Outcomes, tests: Mapping[str, Test], share: Share = map
) -> dict[str, Suspicion]:
    """Weigh the evidence against every test with votes of at least 3 models.

    Args:
        outcomes: Scored trials of all models.
        tests: By id, for class and declared answers; unknown tests are a class of their own.
        share: Does the work of each class, as `map`; others do it elsewhere.

    Returns:
        Test id to the evidence. `benchmarks/statistics/items.py` measures recall and precision on
        planted faults, beside those of an oracle that knows how faults were planted. With one
        trial and at most four possible answers, ambiguous tests look like hard ones: even the
        oracle finds only 60 % of them, this function 45 %; with three trials it finds 85 % to 90 %.

    Source:
        Benjamini and Hochberg 1995, "Controlling the false discovery rate", Journal of the Royal
        Statistical Society B 57. Abilities and difficulties: Rasch 1960.
    """
    known, n_trials = _estimate_abilities(outcomes)
    found: dict[str, Suspicion] = {}
    # By `map`, which keeps no trials of a class once their votes are collected.
    classes = map(partial(_collect_class, tests), _split_by_class(outcomes, tests))
    for of_class in share(partial(_weigh_class, known), classes):
        found |= of_class
    flags = _choose_flagged([each.p_value for each in found.values()], n_trials)
    return {
        test_id: replace(each, is_flagged=is_flagged)
        for (test_id, each), is_flagged in zip(found.items(), flags, strict=True)
    }


def _choose_flagged(p_values: Sequence[float], n_trials: int) -> list[bool]:
    if n_trials > 1:
        return benjamini_hochberg(p_values, _LEVEL_OF_SEVERAL)
    return select_findings(p_values, _LEAST_LEVEL, _MOST_LEVEL, _LEVEL_PER_SHARE)


def _split_by_class(outcomes: Outcomes, tests: Mapping[str, Test]) -> Iterator[Outcomes]:
    """Yield the trials of each class, in order of first appearance."""
    import numpy as np

    names = [test.class_id if (test := tests.get(name)) else "" for name in outcomes.test_ids]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    kind = np.min_scalar_type(-1 - len(numbers))  # of one byte as a rule: one for each trial
    class_of = np.array([numbers[name] for name in names], dtype=kind)
    for number in order_codes(class_of[outcomes.tests]):
        picked = [outcomes.pick(np.flatnonzero((class_of == number)[outcomes.tests]))]
        outcomes.release()
        yield picked.pop()


def _collect_class(tests: Mapping[str, Test], outcomes: Outcomes) -> tuple[Votes, list[int]]:
    votes = collect_votes(outcomes)
    return votes, _count_answers(votes, outcomes, tests)


def _count_answers(votes: Votes, outcomes: Outcomes, tests: Mapping[str, Test]) -> list[int]:
    estimated = estimate_n_answers(outcomes.given, outcomes.keys)
    declared = [count_declared_answers(tests.get(test_id)) for test_id in votes.test_ids]
    most = votes.trials.max(axis=(1, 2), initial=0) + 1
    return [max(n or estimated, int(seen), 2) for n, seen in zip(declared, most, strict=True)]


def _estimate_abilities(outcomes: Outcomes) -> tuple[dict[str, float], int]:
    """Estimate the ability of each model over all classes, where classes start from.

    Returns:
        Abilities, and how many trials of a test are looked at.
    """
    import numpy as np

    counts = count_first_passes(outcomes)
    outcomes.release()
    sound = fit_counts(
        counts.n_trials,
        counts.n_right,
        np.ones(len(counts.n_trials)),
        np.zeros(len(counts.models)),
        2.0,
    )
    return dict(zip(counts.models, sound.ability.tolist(), strict=True)), counts.most


def _weigh_class(
    known: Mapping[str, float], of_class: tuple[Votes, list[int]]
) -> dict[str, Suspicion]:
    import numpy as np

    votes, n_answers = of_class
    voted = (votes.codes != MISSING).sum(axis=1)
    rows = np.flatnonzero(voted >= LEAST_MODELS)
    if not len(rows):
        return {}
    prior = np.array([known[model] for model in votes.models])
    by_answer = _weigh_answers(
        votes.trials[rows].astype(np.int64), prior, np.array(n_answers)[rows]
    )
    by_cause = weigh_causes(votes, rows)
    found = {}
    for place, row in enumerate(rows):
        fault, code, p_answer = by_answer[place]
        cause, p_cause = by_cause[place]
        p_value = min(1.0, (2 if votes.causes else 1) * min(p_answer, p_cause))
        way, models = None, np.zeros(len(votes.models), dtype=bool)
        if p_cause < p_answer:
            fault, way = Fault.ONE_CAUSE, votes.causes[cause - 1]
            models = votes.caused[row] == cause
        elif code:
            way = Way("answer", votes.answers[row][code - 1])
            models = (votes.trials[row] == code).any(axis=1)
        names = tuple(name for name, is_one in zip(votes.models, models, strict=True) if is_one)
        found[votes.test_ids[row]] = Suspicion(
            fault=fault, p_value=p_value, is_flagged=False, way=way, models=names
        )
    return found


def _weigh_answers(trials: Codes, prior: Array, n_answers: Codes) -> list[tuple[Fault, int, float]]:
    """Give for each test the likeliest fault, the code of the shared answer, and the p-value."""
    import numpy as np

    soundness = np.ones(len(trials))
    for turn in range(_PASSES):  # later ones without the influence of what earlier ones found
        sound = fit_sound_tests(trials, soundness, prior, 1.0)
        found: list[Any] = [None] * len(trials)
        ratios, p_values = np.zeros(len(trials)), np.ones(len(trials))
        for n in np.unique(n_answers):
            rows = np.flatnonzero(n_answers == n)
            space = estimate_answer_space(trials[rows][soundness[rows] > 0.5], int(n))
            ratios[rows], faults, shared = _weigh(trials[rows], sound, space)
            if turn == _PASSES - 1:
                p_values[rows] = _simulate_p(ratios[rows], trials[rows], sound, space)
            for row, fault, code in zip(rows, faults, shared, strict=True):
                found[row] = fault, int(code)
        soundness = _estimate_soundness(ratios)
    return [(fault, code, float(p)) for (fault, code), p in zip(found, p_values, strict=True)]


def _estimate_soundness(ratios: Array) -> Array:
    """Estimate the probability of each test to be sound, from all likelihood ratios (EM)."""
    import numpy as np

    share = 0.1
    for _ in range(20):
        faulty = 1 / (1 + np.exp(-(ratios + math.log(share / (1 - share)))))
        share = float(np.clip(faulty.mean(), 0.005, 0.5))
    soundness: Array = 1 - faulty
    return soundness


def _weigh(
    trials: Codes, sound: SoundTests, space: AnswerSpace
) -> tuple[Array, list[Fault], Codes]:
    """Weigh the faults of each test against its being sound, some tests at a time.

    Returns:
        Log likelihood ratio of fault to sound, the likeliest fault, and the code of the answer
        that it rests on; 0 where there is none.
    """
    import numpy as np

    blocks = [
        _weigh_some(trials[some], sound, space) for some in split_rows(len(trials), trials[:1].size)
    ]
    ratios, faults, codes = zip(*blocks, strict=True)
    return np.concatenate(ratios), [*chain.from_iterable(faults)], np.concatenate(codes)


def _weigh_some(
    trials: Codes, sound: SoundTests, space: AnswerSpace
) -> tuple[Array, list[Fault], Codes]:
    import numpy as np

    is_pass, wrong = trials == PASSED, trials > 0
    fails = (trials != PASSED) & (trials != MISSING)
    answers = number_answers(trials)
    scattered = scatter_answers(answers, wrong, space)
    passing = np.stack([sound.passing, sound.failing])
    with_key = find_patterns(is_pass, fails)
    as_sound = integrate_chance(with_key, passing, sound) + scattered
    broken = np.log([[[_BROKEN_PASS]], [[1 - _BROKEN_PASS]]]) + np.zeros_like(passing)
    scores = {
        Fault.REVERSED: integrate_chance(find_patterns(fails, is_pass), passing, sound) + scattered,
        Fault.BROKEN: integrate_chance(with_key, broken, sound) + scattered,
    }
    shared = np.zeros((2, len(trials)), dtype=np.int64)
    by_place: dict[Fault, list[Array]] = {Fault.WRONG_KEY: [], Fault.AMBIGUOUS: []}
    n_models = _count_models(answers, trials.shape[2])
    for place in range(2):
        code, count = _find_common(trials, n_models, shared[:place])
        shared[place] = code
        is_shared = (trials == code[:, None, None]) & wrong
        none = np.where(count >= _LEAST_SHARED, 0.0, -np.inf) - math.log(space.n_answers - 1)
        others = scatter_answers(answers, (is_pass | wrong) & ~is_shared, space)
        as_key = find_patterns(is_shared, fails & ~is_shared | is_pass)
        keyed = integrate_chance(as_key, passing, sound)
        by_place[Fault.WRONG_KEY].append(keyed + others + none)
        left = scatter_answers(answers, wrong & ~is_shared, space)
        with_both = find_patterns(is_pass, is_shared, fails & ~is_shared)
        by_place[Fault.AMBIGUOUS].append(
            _integrate_double(with_both, sound, space.n_answers) + left + none
        )
    best_place = {fault: np.argmax(values, axis=0) for fault, values in by_place.items()}
    scores |= {fault: add_log_chances(values, axis=0) for fault, values in by_place.items()}
    weighted = np.stack([scores[fault] + math.log(weight) for fault, weight in _WEIGHTS.items()])
    names = [list(_WEIGHTS)[index] for index in np.argmax(weighted, axis=0)]
    code = np.array(
        [
            shared[best_place[name][row], row] if name in best_place else 0
            for row, name in enumerate(names)
        ]
    )
    return add_log_chances(weighted, axis=0) - as_sound, names, code


def _integrate_double(patterns: Sequence[Pattern], sound: SoundTests, n_answers: int) -> Array:
    """Integrate over how right trials divide between two right answers and other outcomes."""
    import numpy as np

    # Who knows neither answer draws one of the others; one of these is the second right answer
    drawn = 1 / (n_answers - 1)
    guessed = sound.failing + math.log(drawn / 2)
    failing = sound.failing + math.log(max(1 - drawn, _NEITHER))
    parts = []
    for share in _SHARES:
        key = np.logaddexp(sound.passing + math.log(share), guessed)
        other = np.logaddexp(sound.passing + math.log(1 - share), guessed)
        chances = np.stack([key, other, failing])
        parts.append(integrate_chance(patterns, chances, sound) - math.log(len(_SHARES)))
    mean: Array = add_log_chances(parts, axis=0)
    return mean


def _count_models(answers: Codes, n_trials: int) -> Codes:
    """Count, for each trial, the models with its answer in some trial."""
    import numpy as np

    rows = np.arange(len(answers))
    counts = np.zeros_like(answers)
    for column in range(answers.shape[1]):
        answer, start = answers[:, column], column - column % n_trials
        is_new = np.ones(len(answers), dtype=np.bool_)
        if column > start:
            is_new = ~(answers[:, start:column] == answer[:, None]).any(axis=1)
        counts[rows, answer] += is_new
    of_trials: Codes = np.take_along_axis(counts, answers, axis=1)
    return of_trials


def _find_common(trials: Codes, n_models: Codes, without: Codes) -> tuple[Codes, Codes]:
    """Find the wrong answer that most models give to each test, but for those of `without`."""
    import numpy as np

    codes = trials.reshape(len(trials), -1)
    allowed = codes > 0
    for excluded in without:
        allowed &= codes != excluded[:, None]
    counts = np.where(allowed, n_models, 0)
    place = counts.argmax(axis=1)[:, None]
    most = np.take_along_axis(counts, place, axis=1)[:, 0]
    best = np.where(most > 0, np.take_along_axis(codes, place, axis=1)[:, 0], 0)
    return best, most


def _simulate_p(ratios: Array, trials: Codes, sound: SoundTests, space: AnswerSpace) -> Array:
    """Compute how often simulated sound tests look at least as bad."""
    import numpy as np

    rng = np.random.default_rng(0)
    size = min(max(_LEAST_DRAWN, _DRAWN_PER_TEST * len(trials)), _MOST_DRAWN)
    # Which code an answer has does not matter here: a byte for each trial is enough.
    like = np.minimum(trials, PASSED).astype(np.int8)[rng.integers(len(trials), size=size)]
    fresh = draw_sound_tests(rng, like, sound, space)
    null = np.sort(_weigh(fresh, sound, space)[0])
    above = size - np.searchsorted(null, ratios - 1e-9)
    p_values: Array = (above + 1) / (size + 1)
    return p_values
