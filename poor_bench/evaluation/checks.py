"""Check a trial against the expectations of its case; pure.

A failed check is one sentence that begins with the key of its expectation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from poor_bench.evaluation.data import MISSING, find_path
from poor_bench.evaluation.models import EvalCase, EvalTrialResult, Expectations
from poor_bench.messages import write_count

_SHOWN = 200


def list_failed_checks(case: EvalCase, trial: EvalTrialResult) -> tuple[str, ...]:
    """List the expectations that one trial does not meet, one sentence each.

    Args:
        case: The expectations.
        trial: With its cost; one that could not be run is not checked.
    """
    if trial.failure is not None:
        return ()
    expect = case.expect
    return (
        *_success(expect, trial),
        *_texts(expect, trial),
        *_check_required_keys(expect, trial),
        *_values(expect, trial),
        *_schema(case, trial),
        *_limits(expect, trial),
        *_handoff(expect, trial),
    )


def contains(text: str, part: str) -> bool:
    r"""True if `part` occurs in `text`, ignoring case and the kind of white space.

    Example:
        >>> contains("Your order\n is CANCELLED.", "order is cancelled")
        True
    """
    return _plain(part) in _plain(text)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _success(expect: Expectations, trial: EvalTrialResult) -> Iterator[str]:
    if expect.must_succeed and not trial.success:
        reason = f": {_shorten(trial.error)}" if trial.error else ""
        yield f"must_succeed: the agent did not succeed{reason}"


def _texts(expect: Expectations, trial: EvalTrialResult) -> Iterator[str]:
    wanted = {
        "summary_contains": (expect.summary_contains, trial.summary),
        "error_contains": (expect.error_contains, trial.error),
        "extracted_text_contains": (expect.extracted_text_contains, trial.extracted_text),
    }
    for key, (parts, text) in wanted.items():
        for part in parts:
            if not contains(text, part):
                yield f"{key}: {part!r} is not in {_quote(text)}"


def _check_required_keys(expect: Expectations, trial: EvalTrialResult) -> Iterator[str]:
    for path in expect.required_data_keys:
        _, reason = _value_at(path, trial)
        if reason:
            yield f"required_data_keys: {reason}"


def _values(expect: Expectations, trial: EvalTrialResult) -> Iterator[str]:
    for path, part in expect.data_values_contain.items():
        value, reason = _value_at(path, trial)
        if reason:
            yield f"data_values_contain: {reason}"
            continue
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if not contains(text, part):
            yield f"data_values_contain: {part!r} is not in {path!r}, which is {_quote(text)}"


def _value_at(path: str, trial: EvalTrialResult) -> tuple[Any, str]:
    """Find the value at a path of the data; or else the reason why it does not exist."""
    for read, error in trial.read_errors.items():
        if f"{path}.".startswith(f"{read}."):
            return None, f"{path!r} could not be read at the end: {_shorten(error)}"
    value = find_path(trial.data, path)
    return value, f"the data do not have {path!r}" if value is MISSING else ""


def _schema(case: EvalCase, trial: EvalTrialResult) -> Iterator[str]:
    if case.output_schema is None or not trial.success:
        return
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(case.output_schema)
    for error in sorted(validator.iter_errors(dict(trial.data)), key=lambda error: error.json_path):
        yield f"output_schema: {error.json_path}: {_shorten(error.message)}"


def _limits(expect: Expectations, trial: EvalTrialResult) -> Iterator[str]:
    limits: dict[str, tuple[float | None, float, str]] = {
        "max_duration_ms": (expect.max_duration_ms, trial.duration_ms, "ms"),
        "max_actions": (expect.max_actions, trial.actions, "actions"),
        "max_input_tokens": (expect.max_input_tokens, trial.input_tokens, "input tokens"),
        "max_output_tokens": (expect.max_output_tokens, trial.output_tokens, "output tokens"),
        "max_estimated_cost_usd": (
            expect.max_estimated_cost_usd,
            trial.estimated_cost_usd or 0.0,
            "US dollars",
        ),
    }
    if expect.max_estimated_cost_usd is not None and trial.estimated_cost_usd is None:
        model = trial.llm_id or "the model"
        yield f"max_estimated_cost_usd: the cost is unknown: {model} has no price in llms.json"
    for key, (most, seen, unit) in limits.items():
        if most is not None and seen > most:
            yield f"{key}: {seen:.10g} {unit}, at most {most:.10g} expected"
    if expect.min_actions is not None and trial.actions < expect.min_actions:
        seen_actions = write_count(trial.actions, "action")
        yield f"min_actions: {seen_actions}, at least {expect.min_actions} expected"


def _handoff(expect: Expectations, trial: EvalTrialResult) -> Iterator[str]:
    if expect.handoff == "require" and not trial.handed_off:
        yield "handoff: required, but the playbook did not hand off to the agent"
    if expect.handoff == "forbid" and trial.handed_off:
        yield "handoff: forbidden, but the playbook handed off to the agent"


def _quote(text: str) -> str:
    return repr(_shorten(text)) if text else "an empty text"


def _shorten(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
