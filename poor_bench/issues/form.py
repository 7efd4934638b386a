"""Answers that do not have the form that was asked for, whether right or wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from poor_bench.extraction.found import Extracted, Found
from poor_bench.issues.background import Background, Wanted
from poor_bench.issues.detector import Check, Detector, each
from poor_bench.issues.issue import Severity
from poor_bench.issues.trial import Trial, quoted
from poor_bench.models.result import Result

_LOOKS_LIKE_JSON = re.compile(r"\s*(?:`{3,}[\w`]*\s*)?[\[{]")
_NO_WORDS = re.compile(r"[\W_]*")
_Read = Callable[[Any, Trial], "FormFault | None"]


class FormFault(StrEnum):
    """What is wrong with the form of an answer; the first that applies."""

    ALMOST_JSON = "almost_json"
    OBJECT_FOR_LIST = "object_for_list"
    WRONG_TYPE = "wrong_type"
    WRONG_COUNT = "wrong_count"
    WRAPPED_IN_FENCE = "wrapped_in_fence"
    WRAPPED_IN_PROSE = "wrapped_in_prose"


def form_fault(trial: Trial) -> FormFault | None:
    """Return what is wrong with the form of a trial's answer, or None.

    Where the evaluator says how it found the answer, that decides. Results of evaluators that do
    not say it are judged by the response, and only where it scored nothing: a rule about form
    that nobody applied is no fault.
    """
    read = _READERS.get(trial.facts.wanted) if trial.facts.wanted else None
    if _broke_a_rule(trial.result):
        return _told_fault(trial, read)
    return _read_fault(trial, read) if trial.is_zero and read else None


def _broke_a_rule(result: Result) -> bool:
    """Whether the evaluator found the answer in spite of its form, and says so."""
    return result.strict_score is not None and result.strict_score < (result.score or 0.0)


def _told_fault(trial: Trial, read: _Read | None) -> FormFault | None:
    if trial.result.found == Found.REPAIRED:
        return FormFault.ALMOST_JSON
    if trial.result.found != Found.BARE:
        return _WRAPPINGS.get(trial.result.found)
    fault = read(trial.json.value, trial) if read and trial.json else None
    return fault or FormFault.WRONG_TYPE


def _read_fault(trial: Trial, read: _Read) -> FormFault | None:
    if trial.json is None:
        return FormFault.ALMOST_JSON if _LOOKS_LIKE_JSON.match(trial.answer) else None
    if trial.result.found:
        return read(trial.json.value, trial)
    if trial.json.found is Found.REPAIRED or _is_piece_of_json(trial.json, trial.answer):
        return FormFault.ALMOST_JSON
    return read(trial.json.value, trial) or _WRAPPINGS.get(trial.json.found)


def _is_piece_of_json(extracted: Extracted[Any], answer: str) -> bool:
    """Whether nothing but brackets and the like stands around what could be read."""
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


_READERS = {Wanted.OBJECT: _object_fault, Wanted.LIST: _list_fault}
_WRAPPINGS: dict[str, FormFault] = {
    Found.FENCED: FormFault.WRAPPED_IN_FENCE,
    Found.IN_PROSE: FormFault.WRAPPED_IN_PROSE,
    Found.ANNOUNCED: FormFault.WRAPPED_IN_PROSE,
    Found.BOXED: FormFault.WRAPPED_IN_PROSE,
}


def _check_of(fault: FormFault) -> Check:
    def check(trial: Trial, _: Background) -> str | None:
        return quoted(trial.answer, 160) if trial.once(form_fault) is fault else None

    return check


_TEXTS = {
    FormFault.ALMOST_JSON: (
        "Almost JSON",
        "The answer is meant to be JSON and does not parse (comments, quotes, brackets).",
        "Switch structured output on (a JSON schema), which rules this out.",
    ),
    FormFault.OBJECT_FOR_LIST: (
        "Objects instead of a plain list",
        "The values are there, but wrapped in objects of their own.",
        "Show an example of the wanted list in the prompt, or use structured output.",
    ),
    FormFault.WRONG_TYPE: (
        "Another kind of value",
        "The JSON is of another kind than asked for, such as a bare number for an object.",
        "Name the wanted form at the end of the prompt, or use structured output.",
    ),
    FormFault.WRONG_COUNT: (
        "Wrong number of items",
        "The list is longer or shorter than the number of items asked about.",
        "Say in the prompt how many items there are, and number them.",
    ),
    FormFault.WRAPPED_IN_FENCE: (
        "Answer in a code fence",
        "The answer stands in a fenced block where the bare value was asked for.",
        "Rescore with an evaluator that unwraps fences, or ask for no Markdown.",
    ),
    FormFault.WRAPPED_IN_PROSE: (
        "Answer in prose",
        "The answer stands in other text where the bare value was asked for.",
        "Ask for the value and nothing else, or use structured output.",
    ),
}

DETECTORS = tuple(
    Detector(
        id=fault.value,
        title=title,
        severity=Severity.MEDIUM,
        meaning=meaning,
        advice=advice,
        find=each(_check_of(fault)),
        explains_loss=lambda trial: not _broke_a_rule(trial.result),
    )
    for fault, (title, meaning, advice) in _TEXTS.items()
)
