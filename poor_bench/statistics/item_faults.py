"""Faults of tests, from one vote per model: wrong keys, two right answers, reversed scoring.

For every test the votes are weighed under five hypotheses. A sound test of unknown difficulty is
passed by able models more often, and wrong answers scatter over the answer space, some being more
tempting than others. A wrong key has another answer in the place of the key; an ambiguous test
has two right ones; a reversed test is failed by the able; a broken one is passed by nobody. The
chance that a sound test looks as bad comes from simulated sound tests of the same class, models
and answer space, and the Benjamini-Hochberg procedure limits the share of sound ones among the
flagged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.statistics.answer_space import count_declared_answers, estimate_answer_space
from poor_bench.statistics.item_causes import weigh_causes
from poor_bench.statistics.significance import benjamini_hochberg
from poor_bench.statistics.votes import (
    LEAST_MODELS,
    MISSING,
    NO_ANSWER,
    PASSED,
    Votes,
    Way,
    collect_votes,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Codes = NDArray[np.int64]

FALSE_SHARE = 0.05
"""Level of Benjamini-Hochberg; the precision on planted faults is 93 to 98 %."""
_DRAWN_PER_TEST, _LEAST_DRAWN, _MOST_DRAWN = 20, 2_000, 40_000
"""Simulated sound tests: enough to tell the smallest p-value that counts."""
_NODES = 15
_SHARES = (0.3, 0.5, 0.7)
"""How right votes divide between the two right answers of an ambiguous test."""
_BROKEN_PASS = 0.02
_DOUBTFUL = 0.15
"""Tests with a smaller p-value do not shape the idea of a sound test, the second time."""


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
    results: Sequence[Result],
    tests: Mapping[str, Test],
    *,
    pass_score: float = 1.0,
    seed: int = 0,
) -> dict[str, Suspicion]:
    """Weigh the evidence against every test with votes of at least 3 models.

    Args:
        results: Scored trials of all models.
        tests: By id, for class and declared answers; unknown tests are a class of their own.
        pass_score: From which score on a trial is passed.
        seed: Of the simulated sound tests.

    Returns:
        Test id to the evidence. `benchmarks/statistics/items.py` measures recall and precision on
        planted faults.

    Source:
        Benjamini and Hochberg 1995, "Controlling the false discovery rate", Journal of the Royal
        Statistical Society B 57. Abilities and difficulties: Rasch 1960.
    """
    by_class: dict[str, list[Result]] = {}
    for result in results:
        test = tests.get(result.test_id)
        by_class.setdefault(test.class_id if test else "", []).append(result)
    known = _estimate_abilities(collect_votes(results, pass_score=pass_score))
    found: dict[str, Suspicion] = {}
    for of_class in by_class.values():
        votes = collect_votes(of_class, pass_score=pass_score)
        found |= _weigh_class(votes, known, _count_answers(votes, of_class, tests), seed)
    flags = benjamini_hochberg([each.p_value for each in found.values()], FALSE_SHARE)
    return {
        test_id: Suspicion(
            fault=each.fault,
            p_value=each.p_value,
            is_flagged=is_flagged,
            way=each.way,
            models=each.models,
        )
        for (test_id, each), is_flagged in zip(found.items(), flags, strict=True)
    }


def _count_answers(votes: Votes, results: Sequence[Result], tests: Mapping[str, Test]) -> list[int]:
    estimated = estimate_answer_space(results)
    declared = [count_declared_answers(tests.get(test_id)) for test_id in votes.test_ids]
    most = votes.codes.max(axis=1, initial=0) + 1
    return [max(n or estimated, int(seen), 2) for n, seen in zip(declared, most, strict=True)]


def _estimate_abilities(votes: Votes) -> dict[str, float]:
    """Estimate the ability of each model over all classes, where classes start from."""
    import numpy as np

    everything = np.ones(len(votes.codes), dtype=bool)
    ability = _fit(votes.codes, everything, np.zeros(len(votes.models)), 2.0).ability
    return dict(zip(votes.models, ability.tolist(), strict=True))


def _weigh_class(
    votes: Votes, known: Mapping[str, float], n_answers: list[int], seed: int
) -> dict[str, Suspicion]:
    import numpy as np

    voted = (votes.codes != MISSING).sum(axis=1)
    rows = np.flatnonzero(voted >= LEAST_MODELS)
    if not len(rows):
        return {}
    prior = np.array([known[model] for model in votes.models])
    by_answer = _weigh_answers(votes.codes[rows], prior, np.array(n_answers)[rows], seed)
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
            way, models = Way("answer", votes.answers[row][code - 1]), votes.codes[row] == code
        names = tuple(name for name, is_one in zip(votes.models, models, strict=True) if is_one)
        found[votes.test_ids[row]] = Suspicion(
            fault=fault, p_value=p_value, is_flagged=False, way=way, models=names
        )
    return found


def _weigh_answers(
    codes: Codes, prior: Array, n_answers: Codes, seed: int
) -> list[tuple[Fault, int, float]]:
    """Give for each test the likeliest fault, the code of the shared answer, and the p-value."""
    import numpy as np

    keep = np.ones(len(codes), dtype=bool)
    for _ in range(2):  # the second time without the influence of what the first one found
        model = _fit(codes, keep, prior, 1.0)
        found: list[Any] = [None] * len(codes)
        p_values = np.ones(len(codes))
        for n in np.unique(n_answers):
            rows = np.flatnonzero(n_answers == n)
            tempting = _estimate_concentration(codes[rows][keep[rows]], int(n))
            ratios, faults, shared = _weigh(codes[rows], model, int(n), tempting)
            p_values[rows] = _simulate_p(ratios, codes[rows], model, int(n), tempting, seed)
            for row, fault, code in zip(rows, faults, shared, strict=True):
                found[row] = fault, int(code)
        keep = p_values > _DOUBTFUL
        if keep.all():
            break
    return [(fault, code, float(p)) for (fault, code), p in zip(found, p_values, strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class _Sound:
    """Sound tests of a class: log chances to pass and fail, at nodes of the difficulty."""

    passing: Array
    """One row per model, one column per node."""
    failing: Array
    weights: Array
    """Log weights of the nodes."""
    ability: Array


def _fit(codes: Codes, keep: NDArray[np.bool_], prior: Array, deviation: float) -> _Sound:
    """Fit abilities and the spread of difficulties (Rasch) to the tests that count.

    Args:
        codes: Votes.
        keep: Tests that count.
        prior: Abilities by what else is known, in logits.
        deviation: Standard deviation of abilities around `prior`.
    """
    import numpy as np

    seen = (codes != MISSING) & keep[:, None]
    right = (codes == PASSED) & seen
    ability, difficulty = prior.copy(), np.zeros(codes.shape[0])
    mean, spread = 0.0, 1.5
    for _ in range(40):
        chance = 1 / (1 + np.exp(difficulty[:, None] - ability))
        slope, rest = (
            np.where(seen, chance * (1 - chance), 0.0),
            np.where(seen, right - chance, 0.0),
        )
        ability = ability + (rest.sum(axis=0) - (ability - prior) / deviation**2) / (
            slope.sum(axis=0) + 1 / deviation**2
        )
        precision = slope.sum(axis=1) + 1 / spread**2
        gain = rest.sum(axis=1) + (difficulty - mean) / spread**2
        difficulty = difficulty - gain / precision
        mean = float(difficulty[keep].mean()) if keep.any() else 0.0
        second = (difficulty - mean) ** 2 + 1 / precision
        spread = float(np.clip(np.sqrt(second[keep].mean()) if keep.any() else 1.5, 0.7, 3.0))
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    scale = ability[:, None] - (mean + spread * nodes)
    return _Sound(
        -np.logaddexp(0, -scale),
        -np.logaddexp(0, scale),
        np.log(weights / weights.sum()),
        ability,
    )


def _estimate_concentration(codes: Codes, n_answers: int) -> float:
    """Estimate how evenly wrong answers scatter: the Dirichlet parameter of each wrong answer.

    Every test counts once, by the share of pairs of its wrong votes that agree; two tests with a
    share of 0.3 are added, since wrong answers are seldom drawn blindly.
    """
    shares = [0.3, 0.3]
    for row in codes:
        wrong = row[row > 0]
        if len(wrong) > 1:
            counts = [(wrong == code).sum() for code in set(wrong.tolist())]
            pairs = len(wrong) * (len(wrong) - 1)
            shares.append(float(sum(n * (n - 1) for n in counts)) / pairs)
    share, least = sum(shares) / len(shares), 1 / max(1, n_answers - 1)
    if share >= 0.95 or n_answers <= 2:
        return 0.05
    excess = share * (n_answers - 1) - 1
    return 50.0 if share <= least * 1.01 else min(50.0, (1 - share) / excess)


def _weigh(
    codes: Codes, sound: _Sound, n_answers: int, tempting: float
) -> tuple[Array, list[Fault], Codes]:
    """Weigh the faults of each test against its being sound.

    Returns:
        Log likelihood ratio of fault to sound, the likeliest fault, and the code of the answer
        that it rests on; 0 where there is none.
    """
    import numpy as np
    from scipy.special import logsumexp

    is_pass, wrong = codes == PASSED, codes > 0
    fails = (codes != PASSED) & (codes != MISSING)
    scattered = _scatter(codes, wrong, n_answers, tempting)
    as_sound = _integrate(is_pass, fails, sound) + scattered
    scores = {
        Fault.REVERSED: _integrate(fails, is_pass, sound) + scattered,
        Fault.BROKEN: is_pass.sum(axis=1) * math.log(_BROKEN_PASS)
        + fails.sum(axis=1) * math.log(1 - _BROKEN_PASS)
        + scattered,
    }
    shared = np.zeros((2, len(codes)), dtype=np.int64)
    by_place: dict[Fault, list[Array]] = {Fault.WRONG_KEY: [], Fault.AMBIGUOUS: []}
    for place in range(2):
        code, count = _find_common(codes, shared[:place])
        shared[place] = code
        is_shared = (codes == code[:, None]) & wrong
        none = np.where(count >= LEAST_MODELS, 0.0, -np.inf) - math.log(n_answers - 1)
        others = _scatter(codes, (is_pass | wrong) & ~is_shared, n_answers, tempting)
        keyed = _integrate(is_shared, (fails | is_pass) & ~is_shared, sound) + others
        by_place[Fault.WRONG_KEY].append(keyed + none)
        left = _scatter(codes, wrong & ~is_shared, n_answers, tempting)
        double = _integrate_double(is_pass, is_shared, fails & ~is_shared, sound, n_answers)
        by_place[Fault.AMBIGUOUS].append(double + left + none)
    best_place = {fault: np.argmax(values, axis=0) for fault, values in by_place.items()}
    scores |= {fault: logsumexp(values, axis=0) for fault, values in by_place.items()}
    weighted = np.stack([scores[fault] + math.log(weight) for fault, weight in _WEIGHTS.items()])
    names = [list(_WEIGHTS)[index] for index in np.argmax(weighted, axis=0)]
    code = np.array(
        [
            shared[best_place[name][row], row] if name in best_place else 0
            for row, name in enumerate(names)
        ]
    )
    return logsumexp(weighted, axis=0) - as_sound, names, code


def _integrate(right: Any, wrong: Any, sound: _Sound) -> Array:
    from scipy.special import logsumexp

    nodes = right.astype(float) @ sound.passing + wrong.astype(float) @ sound.failing
    mean: Array = logsumexp(nodes + sound.weights, axis=1)
    return mean


def _integrate_double(
    is_key: Any, is_other: Any, wrong: Any, sound: _Sound, n_answers: int
) -> Array:
    import numpy as np
    from scipy.special import logsumexp

    parts = []
    guessed = sound.failing - math.log(n_answers)
    for share in _SHARES:
        key = np.logaddexp(sound.passing + math.log(share), guessed)
        other = np.logaddexp(sound.passing + math.log(1 - share), guessed)
        nodes = (
            is_key.astype(float) @ key
            + is_other.astype(float) @ other
            + wrong.astype(float) @ sound.failing
        )
        parts.append(logsumexp(nodes + sound.weights, axis=1) - math.log(len(_SHARES)))
    mean: Array = logsumexp(parts, axis=0)
    return mean


def _scatter(codes: Codes, counted: Any, n_answers: int, tempting: float) -> Array:
    """Compute the log chance of the counted answers, drawn one after the other from an urn."""
    import numpy as np

    total = tempting * (n_answers - 1)
    chance, drawn = np.zeros(len(codes)), np.zeros(len(codes))
    for column in range(codes.shape[1]):
        now = counted[:, column]
        before = codes[:, :column] == codes[:, column, None]
        equal = (before & counted[:, :column]).sum(axis=1)
        chance += np.where(now, np.log(tempting + equal) - np.log(total + drawn), 0.0)
        drawn += now
    return chance


def _find_common(codes: Codes, without: Codes) -> tuple[Codes, Codes]:
    """Find the most common wrong answer of each test but for those of `without`."""
    import numpy as np

    best, most = np.zeros(len(codes), dtype=np.int64), np.zeros(len(codes), dtype=np.int64)
    for column in range(codes.shape[1]):
        code = codes[:, column]
        allowed = (code > 0) & ~(without == code).any(axis=0)
        count = np.where(allowed, (codes == code[:, None]).sum(axis=1), 0)
        best = np.where(count > most, code, best)
        most = np.maximum(most, count)
    return best, most


def _simulate_p(
    ratios: Array, codes: Codes, sound: _Sound, n_answers: int, tempting: float, seed: int
) -> Array:
    """Compute how often simulated sound tests look at least as bad."""
    import numpy as np

    rng = np.random.default_rng(seed)
    size = min(max(_LEAST_DRAWN, _DRAWN_PER_TEST * len(codes)), _MOST_DRAWN)
    drawn = codes[rng.integers(len(codes), size=size)]
    nodes = rng.choice(_NODES, size=size, p=np.exp(sound.weights))
    passes = np.log(rng.random(drawn.shape)) < sound.passing.T[nodes]
    answers = _draw_answers(rng, drawn.shape, n_answers, tempting)
    fresh = np.where(passes, PASSED, np.where(drawn == NO_ANSWER, NO_ANSWER, answers))
    fresh = np.where(drawn == MISSING, MISSING, fresh)
    null = np.sort(_weigh(fresh, sound, n_answers, tempting)[0])
    above = size - np.searchsorted(null, ratios - 1e-9)
    p_values: Array = (above + 1) / (size + 1)
    return p_values


def _draw_answers(
    rng: np.random.Generator, shape: tuple[int, int], n_answers: int, tempting: float
) -> Codes:
    """Draw wrong answers: new ones from the answer space, or the one of an earlier model."""
    import numpy as np

    rows, n_models = shape
    total = tempting * (n_answers - 1)
    answers = rng.integers(1, n_answers, size=shape)
    for column in range(1, n_models):
        repeats = rng.random(rows) < column / (total + column)
        earlier = rng.integers(column, size=rows)
        answers[:, column] = np.where(
            repeats, answers[np.arange(rows), earlier], answers[:, column]
        )
    return answers
