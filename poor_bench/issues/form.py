"""Answers that do not have the form that was asked for, whether right or wrong."""

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
    FormFault.ANSWER_NOT_FOUND: (
        "No answer of the wanted form",
        "The response is text in which the evaluator found no answer: there was nothing to score.",
        "Use structured output, or show an example of the wanted answer in the prompt.",
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
