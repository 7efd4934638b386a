"""Check the data of a trial against its case: dotted paths, JSON Schema, expectations; pure.

A failed check is one sentence that begins with the key of its expectation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any, Final

from poor_bench.evaluation.models import EvalCase, EvalTrialResult, Expectations
from poor_bench.messages import write_count


class _Missing(Enum):
    MISSING = "missing"


MISSING: Final = _Missing.MISSING


def find_path(data: Any, path: str) -> Any:
    """Find the value at a dotted path; `MISSING` if it does not exist.

    Whole numbers count positions of a list from 0. Keys may hold dots themselves; the shortest key
    that leads to something wins.

    Example:
        >>> find_path({"orders": [{"id": 7}]}, "orders.0.id")
        7
        >>> find_path({"a": 1}, "a.b") is MISSING
        True
    """
    return _find(data, path.split("."))


def _find(data: Any, parts: list[str]) -> Any:
    if not parts:
        return data
    if isinstance(data, Mapping):
        return _find_in_mapping(data, parts)
    if isinstance(data, list | tuple) and parts[0].isdecimal() and int(parts[0]) < len(data):
        return _find(data[int(parts[0])], parts[1:])
    return MISSING


def _find_in_mapping(data: Mapping[str, Any], parts: list[str]) -> Any:
    for length in range(1, len(parts) + 1):
        key = ".".join(parts[:length])
        if key in data:
            found = _find(data[key], parts[length:])
            if found is not MISSING:
                return found
    return MISSING


def set_path(data: dict[str, Any], path: str, value: Any) -> None:
    """Set the value at a dotted path; what stands in the way is replaced.

    Example:
        >>> data = {"order": {"id": 7}}
        >>> set_path(data, "order.status", "open")
        >>> data
        {'order': {'id': 7, 'status': 'open'}}
    """
    *folders, last = path.split(".")
    for name in folders:
        inner = data.get(name)
        if not isinstance(inner, dict):
            inner = data[name] = {}
        data = inner
    data[last] = value


def find_schema_fault(data: Mapping[str, Any], schema: Mapping[str, Any] | None) -> str:
    """Find the first fault of `data` and its place; an empty string if it is valid.

    Args:
        data: What an agent returned.
        schema: A valid JSON Schema, or None for none.
    """
    if schema is None:
        return ""
    from jsonschema import Draft202012Validator

    fault = next(Draft202012Validator(schema).iter_errors(data), None)
    return "" if fault is None else f"{fault.json_path}: {fault.message:.200}"


def map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Change every text in JSON-like data, but for keys.

    Example:
        >>> map_texts({"a": ["b", 1]}, str.upper)
        {'a': ['B', 1]}
    """
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: map_texts(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [map_texts(item, change) for item in value]
    return value


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
        *_check_success(expect, trial),
        *_check_texts(expect, trial),
        *_check_required_keys(expect, trial),
        *_check_values(expect, trial),
        *_check_schema(case, trial),
        *_check_limits(expect, trial),
        *_check_handoff(expect, trial),
    )


def contains(text: str, part: str) -> bool:
    r"""True if `part` occurs in `text`, ignoring case and the kind of white space.

    Example:
        >>> contains("Your order\n is CANCELLED.", "order is cancelled")
        True
    """
    return _write_plain(part) in _write_plain(text)


def _write_plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _check_success(expect: Expectations, trial: EvalTrialResult) -> Iterator[str]:
    if expect.must_succeed and not trial.success:
        reason = f": {_shorten(trial.error)}" if trial.error else ""
        yield f"must_succeed: the agent did not succeed{reason}"


def _check_texts(expect: Expectations, trial: EvalTrialResult) -> Iterator[str]:
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
        _, reason = _find_value(path, trial)
        if reason:
            yield f"required_data_keys: {reason}"


def _check_values(expect: Expectations, trial: EvalTrialResult) -> Iterator[str]:
    for path, part in expect.data_values_contain.items():
        value, reason = _find_value(path, trial)
        if reason:
            yield f"data_values_contain: {reason}"
            continue
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if not contains(text, part):
            yield f"data_values_contain: {part!r} is not in {path!r}, which is {_quote(text)}"


def _find_value(path: str, trial: EvalTrialResult) -> tuple[Any, str]:
    """Find the value at a path of the data; or else the reason why it does not exist."""
    for read, error in trial.read_errors.items():
        if f"{path}.".startswith(f"{read}."):
            return None, f"{path!r} could not be read at the end: {_shorten(error)}"
    value = find_path(trial.data, path)
    return value, f"the data do not have {path!r}" if value is MISSING else ""


def _check_schema(case: EvalCase, trial: EvalTrialResult) -> Iterator[str]:
    if case.output_schema is None or not trial.success:
        return
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(case.output_schema)
    for error in sorted(validator.iter_errors(dict(trial.data)), key=lambda error: error.json_path):
        yield f"output_schema: {error.json_path}: {_shorten(error.message)}"


def _check_limits(expect: Expectations, trial: EvalTrialResult) -> Iterator[str]:
    limits: dict[str, tuple[float | None, float, str]] = {
        "max_duration_ms": (expect.max_duration_ms, trial.duration_ms, "ms"),
        "max_actions": (expect.max_actions, trial.actions, "action"),
        "max_input_tokens": (expect.max_input_tokens, trial.input_tokens, "input token"),
        "max_output_tokens": (expect.max_output_tokens, trial.output_tokens, "output token"),
        "max_estimated_cost_usd": (
            expect.max_estimated_cost_usd,
            trial.estimated_cost_usd or 0.0,
            "US dollar",
        ),
    }
    if expect.max_estimated_cost_usd is not None and trial.estimated_cost_usd is None:
        model = trial.llm_id or "the model"
        yield f"max_estimated_cost_usd: the cost is unknown: {model} has no price in llms.json"
    for key, (most, seen, unit) in limits.items():
        if most is not None and seen > most:
            units = unit if seen == 1 or unit == "ms" else f"{unit}s"
            yield f"{key}: {seen:.10g} {units}, at most {most:.10g} expected"
    if expect.min_actions is not None and trial.actions < expect.min_actions:
        seen_actions = write_count(trial.actions, "action")
        yield f"min_actions: {seen_actions}, at least {expect.min_actions} expected"


def _check_handoff(expect: Expectations, trial: EvalTrialResult) -> Iterator[str]:
    if expect.handoff == "require" and not trial.handed_off:
        yield "handoff: required, but the playbook did not hand off to the agent"
    if expect.handoff == "forbid" and trial.handed_off:
        yield "handoff: forbidden, but the playbook handed off to the agent"


def _quote(text: str) -> str:
    return repr(_shorten(text)) if text else "an empty text"


def _shorten(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
