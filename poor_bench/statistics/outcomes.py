"""Outcomes: how each scored trial ended, read once from the results and kept in columns."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from poor_bench.extraction.normalise import fold_answer
from poor_bench.models.result import Result
from poor_bench.scoring.older_results import read_cause
from poor_bench.scoring.verdict import MAX_DETAILS, Cause
from poor_bench.statistics.trials import (
    TextCodes,
    TextColumns,
    TextReader,
    TrialColumns,
    collect_columns,
    number_codes,
    order_codes,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Codes = NDArray[np.int32]

PASSED = 0
"""Code of an outcome that passes."""
NO_ANSWER = -1
"""Code of an outcome that fails without an answer to compare."""
_TRIALS_AT_ONCE = 1 << 20

_FAULTS_OF_MODELS = frozenset({Cause.NO_ANSWER, Cause.TRUNCATED, Cause.WRONG_ANSWER, Cause.SYNTAX})
"""Causes that say nothing about the test."""
_TRACEBACK = re.compile(r"Traceback \(most recent call last\).*", re.DOTALL)
_NAMED = re.compile(r"`[^`\n]{1,200}`|'[^'\n]{1,200}'|\"[^\"\n]{1,200}\"|\d+")


def identify_model(result: Result) -> str:
    """Identify a model: the digest if the server reports it, else the LLM's id.

    LLMs that are one model with other parameters or prompts fail alike, and are not independent
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
    """Number of the LLM of each trial in `llm_ids`; of 32 bits, as a million trials are many."""
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
    release: Callable[[], None] = lambda: None
    """Gives back what was read of columns that are in files."""

    def pick(self, entries: NDArray[np.int64]) -> Outcomes:
        """Select trials by their numbers."""
        columns = ("llms", "tests", "of_models", "scores", "endings", "given", "keys")
        return replace(self, **{name: getattr(self, name)[entries] for name in columns})

    def average_scores(self) -> NDArray[np.float64]:
        """Average the trials of each LLM and test: a row per test, NaN without a trial."""
        import numpy as np

        shape = len(self.test_ids), len(self.llm_ids)
        means = np.zeros(shape[0] * shape[1])
        n_trials = np.zeros(len(means), dtype=np.int32)
        for some in _split(len(self.scores)):
            cells = self.tests[some].astype(np.int64) * shape[1] + self.llms[some]
            np.add.at(n_trials, cells, 1)
            np.add.at(means, cells, self.scores[some])
        self.release()
        means[n_trials == 0] = np.nan
        means /= np.maximum(n_trials, 1, out=n_trials)
        return means.reshape(shape)


def collect_outcomes(results: Iterable[Result], *, pass_score: float = 1.0) -> Outcomes:
    """Read the scored trials among some results.

    Args:
        results: Scored and failed trials in any order; failures are left out.
        pass_score: From which score on a trial is passed.
    """
    known = [*results]
    return build_outcomes(collect_columns(known), _read_texts(known), pass_score=pass_score)


def _read_texts(results: Iterable[Result]) -> TextColumns:
    """Read answers and ways of failing; those of failures are of no use."""
    import numpy as np

    models, ways, folded = TextCodes(), TextCodes(), _FoldedCodes()
    codes = array("q")
    for result in results:
        way = None if result.score in {None, 1.0} else find_way(result)
        codes.append(models[result.model_digest] if result.model_digest else -1)
        codes.append(-1 if way is None else ways[f"{way.kind}{_SEPARATOR}{way.text}"])
        codes.append(folded[result.got])
        codes.append(folded[result.expected])
    columns = np.array(codes, dtype=np.int64).reshape(-1, 4).T.copy()
    return TextColumns(
        columns=dict(zip(("model", "way", "given", "key"), columns, strict=True)),
        values={
            "model": tuple(models),
            "way": tuple(ways),
            "given": tuple(folded.texts),
            "key": tuple(folded.texts),
        },
    )


_SEPARATOR = "\n"


class _FoldedCodes(dict[str, int]):
    """Codes of texts by their folded form; an empty text has -1."""

    def __init__(self) -> None:
        self.texts = TextCodes()
        self[""] = -1

    def __missing__(self, text: str) -> int:
        self[text] = code = self.texts[fold_answer(text)]
        return code


OUTCOME_READER = TextReader(
    name="outcomes",
    read=_read_texts,
    texts=("got", "expected", "cause", "details", "model_digest"),
    fields=("llm_id", "test_id", "trial", "score"),
    is_shared=True,
)


def build_outcomes(
    trials: TrialColumns, texts: TextColumns, *, pass_score: float = 1.0
) -> Outcomes:
    """Arrange the scored trials of some columns.

    Args:
        trials: Scored and failed trials; failures are left out.
        texts: What `OUTCOME_READER` made of the same trials.
        pass_score: From which score on a trial is passed.
    """
    import numpy as np

    is_scored = trials.is_scored
    scored = slice(None) if is_scored.all() else np.flatnonzero(is_scored)
    texts = texts if isinstance(scored, slice) else texts.pick(scored)
    # All columns of a million trials would take 200 MB.
    scores, llms, tests = (trials.columns[name][scored] for name in ("score", "llm_id", "test_id"))
    used_llms, of_llms = number_codes(llms, is_short=True)
    used_tests, of_tests = number_codes(tests, is_short=True)
    llm_ids = tuple(trials.values["llm_id"][code] for code in used_llms)
    models, of_models = _number_models(llm_ids, of_llms, texts)
    ways, endings = _number_ways(texts, is_passed=scores >= pass_score)
    given, keys = _number_answers(texts)
    return Outcomes(
        llm_ids=llm_ids,
        test_ids=tuple(trials.values["test_id"][code] for code in used_tests),
        models=models,
        ways=ways,
        llms=of_llms,
        tests=of_tests,
        of_models=of_models,
        scores=scores,
        endings=endings,
        given=given,
        keys=keys,
    )


def _number_models(
    llm_ids: Sequence[str], llms: Codes, texts: TextColumns
) -> tuple[tuple[str, ...], Codes]:
    """Number models in order of first appearance, as `identify_model` names them."""
    import numpy as np

    known, names = TextCodes(), (*llm_ids, *texts.values["model"])
    codes = np.array([known[name] for name in names], dtype=np.int32)
    digests = texts.columns["model"]
    named = np.empty(len(llms), dtype=np.int32)
    for some in _split(len(llms)):
        told = digests[some]
        named[some] = codes[np.where(told < 0, llms[some], len(llm_ids) + told)]
    used, numbers = number_codes(named, is_short=True)
    of_code = tuple(known)
    return tuple(of_code[code] for code in used), numbers


def _number_ways(
    texts: TextColumns, *, is_passed: NDArray[np.bool_]
) -> tuple[tuple[Way, ...], Codes]:
    import numpy as np

    codes = texts.columns["way"]
    is_told = ~is_passed & (codes >= 0)
    used, numbers = number_codes(codes[is_told], is_short=True)
    endings = np.where(is_passed, PASSED, NO_ANSWER).astype(np.int32)
    endings[is_told] = numbers + 1
    told = (texts.values["way"][code].partition(_SEPARATOR) for code in used)
    return tuple(Way(kind, text) for kind, _, text in told), endings


def _number_answers(texts: TextColumns) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Number given and expected answers alike, in order of first appearance."""
    import numpy as np

    known = TextCodes()
    answers = np.empty((len(texts.columns["given"]), 2), dtype=np.int32)
    for place, name in enumerate(("given", "key")):  # 0 stands for no answer
        codes = np.array([*(known[text] + 1 for text in texts.values[name]), 0], dtype=np.int32)
        for some in _split(len(answers)):
            answers[some, place] = codes[texts.columns[name][some]]
    used = [code for code in order_codes(answers.ravel()) if code]
    numbers = np.full(max(used, default=0) + 1, -1, dtype=np.int32)
    numbers[used] = np.arange(len(used), dtype=np.int32)
    for some in _split(len(answers)):
        answers[some] = numbers[answers[some]]
    return answers[:, 0], answers[:, 1]


def _split(n_trials: int) -> Iterator[slice]:
    """Yield blocks of trials: indices of all would be copied where values are looked up."""
    return (slice(at, at + _TRIALS_AT_ONCE) for at in range(0, n_trials, _TRIALS_AT_ONCE))


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
