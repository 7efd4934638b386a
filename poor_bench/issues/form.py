"""Answers in another format than requested, whether right or wrong, and the score that it costs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from poor_bench.extraction.found import Extracted, Found
from poor_bench.issues.detector import (
    Trial,
    TrialTable,
    build_detectors,
    shorten_quote,
)
from poor_bench.scoring.verdict import AnswerFormat
from poor_bench.statistics.trials import TrialColumns, number_codes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_LOOKS_LIKE_JSON = re.compile(r"^\s*(?:`{3,}+[\w`]*\s*)?[\[{]")
_NO_WORDS = re.compile(r"[\W_]*")
_BETWEEN_VALUES = re.compile(r"[,;\n]")
_LONGEST_VALUE = 3
"""Words; more of them in one piece make a sentence."""
_Read = Callable[[Any, Trial], "FormFault | None"]


class FormFault(StrEnum):
    """Format fault of an answer; the first that applies."""

    ALMOST_JSON = "almost_json"
    OBJECT_FOR_LIST = "object_for_list"
    WRONG_TYPE = "wrong_type"
    WRONG_COUNT = "wrong_count"
    WRAPPED_IN_FENCE = "wrapped_in_fence"
    WRAPPED_IN_PROSE = "wrapped_in_prose"
    WRAPPED_IN_JSON = "wrapped_in_json"
    ANSWER_NOT_FOUND = "answer_not_found"


def form_fault(trial: Trial) -> FormFault | None:
    """Find the format fault of a trial's answer, or None.

    Where the evaluator says that a rule about form was broken, what it says decides. Otherwise
    only responses that scored nothing are judged: a rule that was not applied is not a fault. An
    answer that was cut off has that cause, and its form says nothing more.
    """
    if trial.is_zero and trial.is_cut_off:
        return None
    read = _READERS.get(trial.facts.wanted) if trial.facts.wanted else None
    if trial.result.strict_score is not None:
        return _describe_fault(trial, read)
    if not trial.is_zero:
        return None
    if trial.result.found == Found.MISSING:
        return _missing_fault(trial, read)
    return _read_fault(trial, read) if read else None


def does_form_cost_score(trial: Trial) -> bool:
    """True if the format of the answer caused the lost score.

    It is not where the evaluator found the answer in spite of its form and scored what it says:
    then a full score shows that form was forgiven, and a lower one that the answer is wrong. Where
    the evaluator tells nothing about form, nobody knows if what stood around the answer did it.
    """
    if trial.result.strict_score is None:
        return bool(trial.result.found) or trial.once(form_fault) not in _WRAPPINGS.values()
    return trial.is_zero and bool(trial.result.got) and trial.result.got == trial.result.expected


def _describe_fault(trial: Trial, read: _Read | None) -> FormFault | None:
    found = trial.result.found
    if found == Found.REPAIRED:
        return FormFault.ALMOST_JSON
    if trial.json is not None and trial.json.found is Found.BARE:
        fault = read(trial.json.value, trial) if read else None
        return fault or FormFault.WRONG_TYPE
    if found != Found.BARE:
        return _WRAPPINGS.get(found)
    return FormFault.WRAPPED_IN_PROSE if _has_sentence(trial.answer) else FormFault.WRONG_TYPE


def _missing_fault(trial: Trial, read: _Read | None) -> FormFault | None:
    if not trial.answer.strip():
        return None
    fault = _read_fault(trial, read) if read else None
    return fault or FormFault.ANSWER_NOT_FOUND


def _read_fault(trial: Trial, read: _Read) -> FormFault | None:
    if trial.json is None:
        return FormFault.ALMOST_JSON if _LOOKS_LIKE_JSON.match(trial.answer) else None
    if trial.json.found is Found.REPAIRED or _is_piece_of_json(trial.json, trial.answer):
        return FormFault.ALMOST_JSON
    wrapping = None if trial.result.found else _WRAPPINGS.get(trial.json.found)
    return read(trial.json.value, trial) or wrapping


def _has_sentence(answer: str) -> bool:
    """True if an answer is more than a list of words."""
    return any(len(piece.split()) > _LONGEST_VALUE for piece in _BETWEEN_VALUES.split(answer))


def _is_piece_of_json(extracted: Extracted[Any], answer: str) -> bool:
    """True if only brackets and the like surround the value."""
    around = answer.replace(extracted.text, "", 1)
    return extracted.found is Found.IN_PROSE and _NO_WORDS.fullmatch(around) is not None


def _object_fault(value: Any, _: Trial) -> FormFault | None:
    return None if isinstance(value, dict) else FormFault.WRONG_TYPE


def _list_fault(value: Any, trial: Trial) -> FormFault | None:
    if isinstance(value, dict):
        return FormFault.OBJECT_FOR_LIST
    if not isinstance(value, list):
        return FormFault.WRONG_TYPE
    if value and all(isinstance(item, dict) for item in value):
        return FormFault.OBJECT_FOR_LIST
    if any(isinstance(item, list | dict) for item in value):
        return FormFault.WRONG_TYPE
    return None if trial.facts.n_items in {None, len(value)} else FormFault.WRONG_COUNT


_READERS = {
    AnswerFormat.JSON_OBJECT: _object_fault,
    AnswerFormat.JSON_LIST: _list_fault,
    AnswerFormat.LIST: _list_fault,
}
_WRAPPINGS: dict[str, FormFault] = {
    Found.FENCED: FormFault.WRAPPED_IN_FENCE,
    Found.IN_PROSE: FormFault.WRAPPED_IN_PROSE,
    Found.ANNOUNCED: FormFault.WRAPPED_IN_PROSE,
    Found.STATED: FormFault.WRAPPED_IN_PROSE,
    Found.BOXED: FormFault.WRAPPED_IN_PROSE,
    Found.ENVELOPED: FormFault.WRAPPED_IN_JSON,
}


def _quote_answer(trial: Trial) -> str:
    return shorten_quote(trial.answer, 160)


_TEXTS = {
    FormFault.ALMOST_JSON: (
        "Almost JSON",
        "The answer should be JSON but does not parse (comments, quotes, brackets).",
        "Use structured output (a JSON schema).",
    ),
    FormFault.OBJECT_FOR_LIST: (
        "Objects instead of values",
        "The list holds objects that wrap the requested values.",
        "Show an example list in the prompt, or use structured output.",
    ),
    FormFault.WRONG_TYPE: (
        "Wrong JSON type",
        "The JSON value has the wrong type, such as a number instead of an object.",
        "State the format at the end of the prompt, or use structured output.",
    ),
    FormFault.WRONG_COUNT: (
        "Wrong number of items",
        "The list has more or fewer items than requested.",
        "State the number of items in the prompt, and number them.",
    ),
    FormFault.WRAPPED_IN_FENCE: (
        "Answer in a code fence",
        "The answer is in a fenced code block; the bare value was requested.",
        "Rescore with an evaluator that unwraps fences, or ask for plain text.",
    ),
    FormFault.WRAPPED_IN_PROSE: (
        "Answer in prose",
        "The answer is surrounded by text; the bare value was requested.",
        "Ask for the value only, or use structured output.",
    ),
    FormFault.WRAPPED_IN_JSON: (
        "Answer in another JSON value",
        "The answer is within an object, a list or a text that was not requested.",
        "Show the requested JSON in the prompt, or use structured output.",
    ),
    FormFault.ANSWER_NOT_FOUND: (
        "Answer not found",
        "The evaluator found no answer in the response.",
        "Use structured output, or show an example answer in the prompt.",
    ),
}

FORM = build_detectors(_TEXTS, form_fault, _quote_answer, explains_loss=does_form_cost_score)


_FIXES = {
    Found.FENCED: "Ask for the bare value without Markdown, or let the evaluator unwrap fences.",
    Found.IN_PROSE: "Use structured output, or end the prompt with: reply with the value only.",
    Found.ANNOUNCED: "Use structured output, or end the prompt with: reply with the value only.",
    Found.STATED: "Use structured output, or end the prompt with: reply with the value only.",
    Found.BOXED: "Ask for a plain value instead of LaTeX.",
    Found.ENVELOPED: "Show the requested JSON in the prompt, or use structured output.",
    Found.REPAIRED: "Use structured output (a JSON schema).",
}
_STOP_FIX = "Set a stop sequence such as two newlines: the value comes first."
_OTHER_FIX = "Show an example of the format in the prompt."


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatTax:
    """Format tax of one LLM on one test class; means over trials whose strict score is known."""

    llm_id: str
    class_id: str
    """Empty where the tests are not known."""
    n_scored: int
    """Scored trials whose strict score is known."""
    score: float
    """Mean score with the answer found anywhere, 0.0 to 1.0."""
    strict_score: float
    """Mean score under the format rules, 0.0 to `score`."""
    n_by_found: Mapping[str, int]
    """How the answers that broke a rule were found, the most frequent way first."""
    fix: str
    """The cheapest fix; empty if no rule was broken."""

    @property
    def tax(self) -> float:
        """Score lost to format alone, 0.0 to 1.0."""
        return self.score - self.strict_score


def compute_format_taxes(table: TrialTable) -> list[FormatTax]:
    """Compute the format tax of each model on each test class.

    Args:
        table: Scored and failed trials; failures are left out.

    Returns:
        One row per LLM and class, the highest tax first; none where no strict score is known.

    Example:
        >>> from dataclasses import replace
        >>> from poor_bench.models.result import Result
        >>> from poor_bench.issues.detect import collect_trials
        >>> fenced = Result(llm_id="a", test_id="t", score=1.0, strict_score=0.0, found="fenced")
        >>> kept = replace(fenced, test_id="u", strict_score=None, found="bare")
        >>> [row] = compute_format_taxes(collect_trials([fenced, kept], {}))
        >>> row.tax, dict(row.n_by_found)
        (0.5, {'fenced': 1})
    """
    taxes = (tax for _, block in table.split() for tax in _compute_in_block(block))
    return sorted(taxes, key=lambda row: -row.tax)


def _compute_in_block(table: TrialTable) -> Iterator[FormatTax]:
    import numpy as np

    trials = table.trials
    told = np.flatnonzero(trials.is_scored & trials.tells_form)
    _, numbers = number_codes(table.number_classes()[told])
    ends = np.bincount(numbers).cumsum()
    groups = np.split(told[np.argsort(numbers, kind="stable")], ends[:-1]) if len(told) else ()
    yield from (_compute_tax(table, entries) for entries in groups)


def _compute_tax(table: TrialTable, entries: NDArray[np.int64]) -> FormatTax:
    import numpy as np

    names = ("score", "strict_score", "found", "llm_id", "test_id")  # copies of all take long
    columns = {name: table.trials.columns[name][entries] for name in names}
    trials = TrialColumns(columns=columns, values=table.trials.values)
    scores, strict = columns["score"], columns["strict_score"]
    strict = np.where(np.isnan(strict), scores, strict)
    broken = np.flatnonzero(strict < scores)
    ways = Counter(trials.pick(broken).count_values("found")).most_common()
    way = ways[0][0] if ways else None
    first = broken[trials.find_entries("found", lambda found: found == way)[broken]]
    begins = table.texts.columns["begins"][entries[first]]
    test_id = trials.values["test_id"][columns["test_id"][0]]
    return FormatTax(
        llm_id=trials.values["llm_id"][columns["llm_id"][0]],
        class_id=table.facts[test_id].class_id if test_id in table.facts else "",
        n_scored=len(entries),
        score=sum(scores.tolist()) / len(entries),
        strict_score=sum(strict.tolist()) / len(entries),
        n_by_found=dict(ways),
        fix=_choose_fix(way, is_first=2 * begins.sum() > len(begins)) if way is not None else "",
    )


def _choose_fix(found: str, *, is_first: bool) -> str:
    """Choose the fix for answers that broke the rule in the same way.

    Args:
        found: How they were found.
        is_first: True if most of them begin with the value.
    """
    if found == Found.IN_PROSE and is_first:
        return _STOP_FIX
    return next((fix for way, fix in _FIXES.items() if way == found), _OTHER_FIX)
