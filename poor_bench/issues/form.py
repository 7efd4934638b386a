"""Answers in another form than requested, whether right or wrong."""

from __future__ import annotations

from poor_bench.issues.background import Background
from poor_bench.issues.detector import Check, Detector, each
from poor_bench.issues.form_fault import FormFault, form_costs_score, form_fault
from poor_bench.issues.issue import Severity
from poor_bench.issues.trial import Trial, quoted


def _check_of(fault: FormFault) -> Check:
    def check(trial: Trial, _: Background) -> str | None:
        return quoted(trial.answer, 160) if trial.once(form_fault) is fault else None

    return check


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
    FormFault.ANSWER_NOT_FOUND: (
        "Answer not found",
        "The evaluator found no answer in the response.",
        "Use structured output, or show an example answer in the prompt.",
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
        explains_loss=form_costs_score,
    )
    for fault, (title, meaning, advice) in _TEXTS.items()
)
