"""Votes: what each model, whatever its trials and settings, says to each test of a class."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from poor_bench.extraction.normalise import fold_answer
from poor_bench.models.result import Result
from poor_bench.scoring.older_results import read_cause
from poor_bench.scoring.verdict import MAX_DETAILS, Cause

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEAST_MODELS = 3
"""Different models that a verdict on a test needs."""
PASSED = 0
"""Code of a vote that passes."""
NO_ANSWER = -1
"""Code of a vote that fails without an answer to compare."""
MISSING = -2
"""Code where a model has no scored trial."""

_MOST_TRIALS, _MOST_COLUMNS = 5, 60
"""Single trials that are kept, of each model and of all."""
_FAULTS_OF_MODELS = frozenset({Cause.NO_ANSWER, Cause.TRUNCATED, Cause.WRONG_ANSWER, Cause.SYNTAX})
"""Causes that say nothing about the test."""
_TRACEBACK = re.compile(r"Traceback \(most recent call last\).*", re.DOTALL)
_NAMED = re.compile(r"`[^`\n]{1,200}`|'[^'\n]{1,200}'|\"[^\"\n]{1,200}\"|\d+")


def identify_model(result: Result) -> str:
    """Identify a model: the digest if the server reports it, else the LLM's id.

    LLMs that are one model with other parameters or prompts fail alike, and are no independent
    witnesses against a test.

    Example:
        >>> identify_model(Result(llm_id="a:json", test_id="t", score=1.0, model_digest="sha256:1"))
        'sha256:1'
    """
    return result.model_digest or result.llm_id


@dataclass(frozen=True, slots=True)
class Way:
    """One way of failing."""

    kind: str
    """`answer`, `cause` or `message`."""
    text: str
    """The answer, the cause, or the message without the names that it quotes."""


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


def find_way(result: Result) -> Way | None:
    """Find how a trial failed; None if nothing can be compared.

    A cause or message counts only where it cost the whole score: that several models miss the
    same edge case is not a fault of the test. Messages of evaluators that state no cause are
    compared without names and numbers, which often are the model's own.
    """
    if result.got:
        return Way("answer", fold_answer(result.got))
    if result.score:
        return None
    if result.cause:
        return None if result.cause in _FAULTS_OF_MODELS else Way("cause", result.cause)
    stated, _ = read_cause(result.details)
    if stated is not None:
        return None if stated in _FAULTS_OF_MODELS else Way("cause", stated)
    said = " ".join(_TRACEBACK.sub("", result.details[:MAX_DETAILS]).split())
    text = _NAMED.sub("…", said)[:200]
    return Way("message", text) if text else None


def collect_votes(results: Sequence[Result], *, pass_score: float = 1.0) -> Votes:
    """Collect one vote per model and test from scored trials."""
    import numpy as np

    trials: dict[str, dict[str, list[Way | bool | None]]] = defaultdict(lambda: defaultdict(list))
    models: dict[str, int] = {}
    for result in results:
        model = identify_model(result)
        models.setdefault(model, len(models))
        has_passed = (result.score or 0.0) >= pass_score
        trials[result.test_id][model].append(True if has_passed else find_way(result))
    codes = np.full((len(trials), len(models)), MISSING)
    singles = np.full((*codes.shape, _MOST_TRIALS), MISSING)
    caused = np.zeros_like(codes)
    causes: dict[Way, int] = {}
    answers = []
    for row, votes in enumerate(trials.values()):
        numbers: dict[str, int] = {}
        for model, outcomes in votes.items():
            column, vote = models[model], _most_common(outcomes)
            codes[row, column] = _number(vote, numbers)
            for place, outcome in enumerate(outcomes[:_MOST_TRIALS]):
                singles[row, column, place] = _number(outcome, numbers)
            if isinstance(vote, Way) and vote.kind != "answer":
                caused[row, column] = causes.setdefault(vote, len(causes) + 1)
        answers.append(tuple(numbers))
    most = max((len(each) for votes in trials.values() for each in votes.values()), default=1)
    n_trials = min(most, max(1, _MOST_COLUMNS // max(1, len(models))))
    return Votes(
        test_ids=tuple(trials),
        models=tuple(models),
        codes=codes,
        trials=singles[:, :, :n_trials],
        caused=caused,
        answers=tuple(answers),
        causes=tuple(causes),
    )


def _number(outcome: Way | bool | None, numbers: dict[str, int]) -> int:
    """Give the code of an outcome; new answers get the next number."""
    if outcome is True:
        return PASSED
    if isinstance(outcome, Way) and outcome.kind == "answer":
        return numbers.setdefault(outcome.text, len(numbers) + 1)
    return NO_ANSWER


def _most_common(outcomes: Sequence[Way | bool | None]) -> Way | bool | None:
    counts = Counter(outcomes)
    best = max(counts.values())
    common = [outcome for outcome, count in counts.items() if count == best]
    return True if True in common else common[0]
