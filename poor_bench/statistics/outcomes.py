"""Outcomes: how each scored trial ended, read once from the results and kept in columns."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from poor_bench.extraction.normalise import fold_answer
from poor_bench.models.result import Result
from poor_bench.scoring.older_results import read_cause
from poor_bench.scoring.verdict import MAX_DETAILS, Cause

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]

PASSED = 0
"""Code of an outcome that passes."""
NO_ANSWER = -1
"""Code of an outcome that fails without an answer to compare."""

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcomes:
    """Scored trials in columns, in the order in which they were read."""

    llm_ids: tuple[str, ...]
    test_ids: tuple[str, ...]
    models: tuple[str, ...]
    """See `identify_model`."""
    ways: tuple[Way, ...]
    llms: Codes
    """Number of the LLM of each trial in `llm_ids`."""
    tests: Codes
    """The same in `test_ids`."""
    of_models: Codes
    """The same in `models`."""
    scores: NDArray[np.float64]
    endings: Codes
    """`PASSED`, `NO_ANSWER`, or from 1 the number of the way of failing in `ways`."""
    given: Codes
    """Number of the folded answer of each trial; -1 where none was found."""
    keys: Codes
    """Number of the folded expected answer, the same for equal texts; -1 where there is none."""

    def pick(self, entries: Codes) -> Outcomes:
        """Select trials by their numbers."""
        columns = ("llms", "tests", "of_models", "scores", "endings", "given", "keys")
        return replace(self, **{name: getattr(self, name)[entries] for name in columns})


class _Numbers(dict[str, int]):
    """Numbers texts from 0 on, in order of first appearance."""

    def __missing__(self, text: str) -> int:
        self[text] = number = len(self)
        return number


class _FoldedNumbers(dict[str, int]):
    """Numbers texts by their folded form; an empty text has -1."""

    def __init__(self) -> None:
        self._folded = _Numbers()
        self[""] = -1

    def __missing__(self, text: str) -> int:
        self[text] = number = self._folded[fold_answer(text)]
        return number


def collect_outcomes(results: Iterable[Result], *, pass_score: float = 1.0) -> Outcomes:
    """Read the scored trials among some results, which are not kept.

    Args:
        results: Scored and failed trials in any order; failures are left out.
        pass_score: From which score on a trial is passed.
    """
    import numpy as np

    llms, tests, models, folded = _Numbers(), _Numbers(), _Numbers(), _FoldedNumbers()
    ways: dict[Way, int] = {}
    codes, scores = array("q"), array("d")
    for result in results:
        if result.score is None:
            continue
        way = None if result.score >= pass_score else find_way(result)
        ending = NO_ANSWER if way is None else ways.setdefault(way, len(ways) + 1)
        scores.append(result.score)
        codes.append(llms[result.llm_id])
        codes.append(tests[result.test_id])
        codes.append(models[identify_model(result)])
        codes.append(PASSED if result.score >= pass_score else ending)
        codes.append(folded[result.got])
        codes.append(folded[result.expected])
    columns = np.array(codes, dtype=np.int64).reshape(-1, 6).T.copy()
    return Outcomes(
        llm_ids=tuple(llms),
        test_ids=tuple(tests),
        models=tuple(models),
        ways=tuple(ways),
        llms=columns[0],
        tests=columns[1],
        of_models=columns[2],
        scores=np.array(scores, dtype=np.float64),
        endings=columns[3],
        given=columns[4],
        keys=columns[5],
    )


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
