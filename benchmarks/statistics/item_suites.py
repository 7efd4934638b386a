"""Simulated suites with planted faulty tests, and the best rule that could find them.

A suite has 100 tests of one kind of answer. Twelve are faulty: four have a wrong key, four are
ambiguous (a trial that knows the answer gives another right one half of the time), four are
reversed (the chance to pass is 1 minus what ability and difficulty say).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

Array = NDArray[np.float64]
Answers = NDArray[np.int64]

N_MODELS, N_TESTS, N_EACH = 9, 100, 4
WRONG_KEY, AMBIGUOUS, REVERSED = FAULTS = ("wrong key", "ambiguous", "reversed")
_HABIT = 0.7
"""Share of wrong trials that repeat the usual mistake of the model on the test."""
_SAMPLES = 64
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(11)


@dataclass(frozen=True)
class Kind:
    """Tests with one kind of answer."""

    name: str
    n_answers: int
    is_declared: bool

    @property
    def tempting(self) -> float:
        """Dirichlet parameter of each wrong answer: the lower, the more some are preferred."""
        return 0.5 if self.n_answers < 9 else 0.05


KINDS = (Kind("numbers", 200, False), Kind("four choices", 4, True), Kind("yes/no", 2, True))


@dataclass(frozen=True)
class Suite:
    """Simulated answers: 0 is the stored key, 1 the second or true right answer."""

    kind: Kind
    ability: Array
    answers: Answers
    """Test, model, trial."""

    @property
    def faults(self) -> list[str]:
        """Fault of each test, empty for sound ones."""
        return [
            FAULTS[row // N_EACH] if row < N_EACH * len(FAULTS) else "" for row in range(N_TESTS)
        ]


def spread_evenly(rng: np.random.Generator) -> Array:
    """Draw abilities over four logits: on usual tests models pass with 50 to 98 %."""
    return np.linspace(0.0, 4.0, N_MODELS) + rng.normal(0, 0.3, N_MODELS)


def spread_normally(rng: np.random.Generator) -> Array:
    """Draw abilities as difficulties are drawn: on usual tests models pass with 16 to 84 %."""
    return rng.normal(0.0, 1.0, N_MODELS)


def draw_suite(
    rng: np.random.Generator,
    kind: Kind,
    n_trials: int,
    draw_ability: Callable[[np.random.Generator], Array] = spread_evenly,
) -> Suite:
    """Draw one suite."""
    ability = draw_ability(rng)
    answers = np.zeros((N_TESTS, N_MODELS, n_trials), dtype=np.int64)
    suite = Suite(kind, ability, answers)
    for row, fault in enumerate(suite.faults):
        tempting = rng.dirichlet(np.full(kind.n_answers - 1, kind.tempting))
        chance = 1 / (1 + np.exp(rng.normal() - ability))
        chance = 1 - chance if fault == REVERSED else chance
        shape = (N_MODELS, n_trials)
        habit = rng.choice(kind.n_answers - 1, p=tempting, size=(N_MODELS, 1))
        fresh = rng.choice(kind.n_answers - 1, p=tempting, size=shape)
        drawn = np.where(rng.random(shape) < _HABIT, habit, fresh)
        right = np.full(shape, int(fault == WRONG_KEY))
        if fault == AMBIGUOUS:
            right = (rng.random(shape) < 0.5).astype(int)
        wrong = drawn + (drawn >= right)
        answers[row] = np.where(rng.random(shape) < chance[:, None], right, wrong)
    return suite


def weigh_by_oracle(suite: Suite, rng: np.random.Generator) -> Array:
    """Compute the log odds of each test to be faulty, with all that the simulation knows.

    The oracle is told the ability of each model, how difficulties, mistakes and habits are
    distributed, and the share of each fault; only the difficulty, the fault and the tempting
    answers of the test itself are left to find. No rule has a higher recall at its precision
    (lemma of Neyman and Pearson), save for chance and the error of the integration.
    """
    odds = []
    for answers in suite.answers:
        sound = _integrate(answers, suite, rng, keys={0})
        faulty = [_integrate(answers, suite, rng, keys={0}, is_reversed=True)]
        n_wrong = suite.kind.n_answers - 1
        others = sorted(set(answers.ravel().tolist()) - {0})
        unseen = n_wrong - len(others)
        for other, share in [(other, 1) for other in others] + [(-1, unseen)] * (unseen > 0):
            prior = math.log(share / n_wrong)
            faulty += [
                prior + _integrate(answers, suite, rng, keys=keys) for keys in ({other}, {0, other})
            ]
        n_sound = N_TESTS / N_EACH - len(FAULTS)
        odds.append(float(logsumexp(faulty)) - sound - math.log(n_sound))
    return np.array(odds)


def _integrate(
    answers: Answers,
    suite: Suite,
    rng: np.random.Generator,
    *,
    keys: set[int],
    is_reversed: bool = False,
) -> float:
    """Compute the log likelihood of the answers to a test, over difficulty and temptations."""
    chance = 1 / (1 + np.exp(_NODES - suite.ability[:, None]))
    chance = 1 - chance if is_reversed else chance
    # With two right answers, the one that is not meant is as tempting as the other way round
    merged = min(keys) if len(keys) > 1 else None
    slots = {
        answer: merged if answer in keys else answer
        for answer in set(answers.ravel().tolist())
        if merged is not None or answer not in keys
    }
    places = {slot: place for place, slot in enumerate(sorted(set(slots.values())))}
    given = [{places[slots[a]] for a in trials if a in slots} for trials in answers.tolist()]
    temptation, weights = _sample_temptations(given, places, merged, suite.kind, rng)
    total = np.zeros((len(_NODES), len(weights)))
    for model, trials in enumerate(answers.tolist()):
        knows = chance[model][:, None]
        terms: Any = 0.0
        rest = 1.0 - sum(temptation[:, place] for place in given[model])
        for habit in [*given[model], None]:
            term: Any = rest if habit is None else temptation[:, habit]
            for answer in trials:
                right = 1 / len(keys) if answer in keys else 0.0
                drawn: Any = 0.0
                if answer in slots:
                    place = places[slots[answer]]
                    drawn = (1 - _HABIT) * temptation[:, place] + _HABIT * (place == habit)
                    drawn = drawn / len(keys) if answer in keys else drawn
                term = term * (right * knows + (1 - knows) * drawn)
            terms = terms + term
        total += np.log(np.maximum(terms, 1e-300))
    over_nodes = logsumexp(total + np.log(_WEIGHTS / _WEIGHTS.sum())[:, None], axis=0)
    return float(logsumexp(over_nodes + weights)) - math.log(len(weights))


def _sample_temptations(
    given: list[set[int]],
    places: dict[int, int],
    merged: int | None,
    kind: Kind,
    rng: np.random.Generator,
) -> tuple[Array, Array]:
    """Sample how tempting the wrong answers are; importance sampling by who gave them.

    The slot of two right answers is drawn as before: most who gave one knew it.

    Returns:
        Shares of the slots, and log weights of the samples.
    """
    n_wrong, n_slots = kind.n_answers - 1, len(places)
    if n_wrong == 1:
        return np.ones((1, 1)), np.zeros(1)
    counts = np.array([sum(slot in each for each in given) for slot in range(n_slots)], dtype=float)
    if merged in places:
        counts[places[merged]] = 0.0
    rest = kind.tempting * (n_wrong - n_slots)
    prior = np.append(np.full(n_slots, kind.tempting), rest)[: n_slots + (rest > 0)]
    added = np.append(counts, 0.0)[: len(prior)]
    drawn = rng.dirichlet(prior + added, size=_SAMPLES)
    drawn = np.maximum(drawn, 1e-300)
    constant = _log_beta(prior + added) - _log_beta(prior)
    return drawn, constant - np.log(drawn) @ added


def _log_beta(alpha: Array) -> float:
    return float(gammaln(alpha).sum() - gammaln(alpha.sum()))
