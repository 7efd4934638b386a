"""From the form to the changes of a test."""

from __future__ import annotations

import json
from typing import Any

from poor_bench.dashboard.field_problems import form_error
from poor_bench.models.test import Test


def form_to_changes(
    test: Test, text: str | None, level: object, reference: str | None, parameters: str | None
) -> dict[str, Any]:
    """Return the keys of the test that the form changes; None takes a key away.

    Raises:
        ConfigError: If a field is not of the form that its key needs.
    """
    changes: dict[str, Any] = {}
    if test.text is None:
        texts = _json("texts", text, list, "the texts must be a JSON list")
        if texts != list(test.texts or ()):
            changes["texts"] = texts
    elif text != test.text:
        changes["text"] = text or ""
    if level != test.level:
        changes["level"] = level
    if (reference or None) != test.reference_response:
        changes["reference_response"] = reference or None
    return changes | _changed_evaluator(test, parameters)


def _changed_evaluator(test: Test, parameters: str | None) -> dict[str, Any]:
    problem = "the parameters must be a JSON object"
    values = _json("evaluation_module", parameters or "{}", dict, problem)
    present = dict(test.evaluator.parameters) if test.evaluator else {}
    if values == present:
        return {}
    name = {"name": test.evaluator.name} if test.evaluator else {}
    return {"evaluation_module": {**name, "parameters": values}}


def _json(field: str, text: str | None, kind: type, problem: str) -> Any:
    try:
        value = json.loads(text or "")
    except ValueError as error:
        raise form_error({field: f"{problem}: {error}"}) from error
    if not isinstance(value, kind):
        raise form_error({field: problem})
    return value
