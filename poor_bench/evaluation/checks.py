"""Which expectations of a case a trial does not meet; pure.

A check that fails is one sentence that begins with the key of its expectation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from poor_bench.evaluation.data_path import MISSING, find_path
from poor_bench.evaluation.models import EvalCase, EvalTrialResult, Expectations
from poor_bench.wording import counted

_SHOWN = 200


def failed_checks(case: EvalCase, trial: EvalTrialResult) -> tuple[str, ...]:
    """Return a sentence for every expectation that one trial does not meet.

    Args:
        case: What was expected.
        trial: With its cost; one that could not be run has nothing to be checked.
    """
    if trial.failure is not None:
        return ()
    expect = case.expect
    return (
        *_success(expect, trial),
        *_texts(expect, trial),
        *_required_keys(expect, trial.data),
        *_values(expect, trial.data),
        *_schema(case, trial),
        *_limits(expect, trial),
        *_handoff(expect, trial),
    )


def contains(text: str, part: str) -> bool:
    r"""Return whether `part` stands in `text`; case and the kind of white space do not count.

    Example:
        >>> contains("Your order\n is CANCELLED.", "order is cancelled")
        True
    """
    return _plain(part) in _plain(text)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _success(expect: Expectations, trial: EvalTrialResult) -> Iterator[str]:
    if expect.must_succeed and not trial.success:
        reason = f": {_shortened(trial.error)}" if trial.error else ""
        yield f"must_succeed: the agent did not succeed{reason}"


def _texts(expect: Expectations, trial: EvalTrialResult) -> Iterator[str]:
    wanted = {
        "summary_contains": (expect.summary_contains, trial.summary),
        "error_contains": (expect.error_contains, trial.error),
        "extracted_text_contains": (expect.extracted_text_contains, trial.extracted_text),
    }
    for key, (part, text) in wanted.items():
        if part is not None and not contains(text, part):
            yield f"{key}: {part!r} is not in {_shown(text)}"


def _required_keys(expect: Expectations, data: Mapping[str, Any]) -> Iterator[str]:
    for path in expect.required_data_keys:
        if find_path(data, path) in (MISSING, None):
            yield f"required_data_keys: the data have no {path!r}"


def _values(expect: Expectations, data: Mapping[str, Any]) -> Iterator[str]:
    for path, part in expect.data_values_contain.items():
        value = find_path(data, path)
        if value is MISSING:
            yield f"data_values_contain: the data have no {path!r}"
            continue
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if not contains(text, part):
            yield f"data_values_contain: {part!r} is not in {path!r}, which is {_shown(text)}"


def _schema(case: EvalCase, trial: EvalTrialResult) -> Iterator[str]:
    if case.output_schema is None or not trial.success:
        return
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(case.output_schema)
    for error in sorted(validator.iter_errors(dict(trial.data)), key=lambda error: error.json_path):
        yield f"output_schema: {error.json_path}: {_shortened(error.message)}"


def _limits(expect: Expectations, trial: EvalTrialResult) -> Iterator[str]:
    limits: dict[str, tuple[float | None, float, str]] = {
        "max_duration_ms": (expect.max_duration_ms, trial.duration_ms, "ms"),
        "max_actions": (expect.max_actions, trial.actions, "actions"),
        "max_input_tokens": (expect.max_input_tokens, trial.input_tokens, "input tokens"),
        "max_output_tokens": (expect.max_output_tokens, trial.output_tokens, "output tokens"),
        "max_estimated_cost_usd": (
            expect.max_estimated_cost_usd,
            trial.estimated_cost_usd,
            "US dollars",
        ),
    }
    for key, (most, seen, unit) in limits.items():
        if most is not None and seen > most:
            yield f"{key}: {seen:.10g} {unit}, at most {most:.10g} expected"
    if expect.min_actions is not None and trial.actions < expect.min_actions:
        seen_actions = counted(trial.actions, "action")
        yield f"min_actions: {seen_actions}, at least {expect.min_actions} expected"


def _handoff(expect: Expectations, trial: EvalTrialResult) -> Iterator[str]:
    if expect.handoff == "require" and not trial.handed_off:
        yield "handoff: the playbook did not hand off to the agent, as was required"
    if expect.handoff == "forbid" and trial.handed_off:
        yield "handoff: the playbook handed off to the agent, which was forbidden"


def _shown(text: str) -> str:
    return repr(_shortened(text)) if text else "an empty text"


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
