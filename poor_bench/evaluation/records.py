"""Trials and steps as they stand in files; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import orjson

from poor_bench.evaluation.agent import Step
from poor_bench.evaluation.models import EvalTrialResult
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.result_store.encode import dump_record

_TRIAL_FIELDS = frozenset(field.name for field in fields(EvalTrialResult))
_STEP_FIELDS = frozenset(field.name for field in fields(Step))


def trial_to_record(trial: EvalTrialResult) -> dict[str, Any]:
    """Return the record of a trial."""
    return asdict(trial)


def record_to_trial(record: Mapping[str, Any]) -> EvalTrialResult:
    """Return the trial that a record describes; unknown fields are ignored.

    Raises:
        TypeError: If a field that a trial needs is missing.
        ValueError: If its failure is of an unknown kind.
    """
    values = {key: value for key, value in record.items() if key in _TRIAL_FIELDS}
    values["failed_checks"] = tuple(values.get("failed_checks", ()))
    failure = values.get("failure")
    if failure is not None:
        kind, message = FailureKind(failure["kind"]), str(failure.get("message", ""))
        values["failure"] = Failure(kind=kind, message=message)
    return EvalTrialResult(**values)


def as_plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return data as they are once they were stored; what JSON cannot hold becomes text."""
    plain: dict[str, Any] = orjson.loads(dump_record(dict(value)))
    return plain


def step_to_record(step: Step) -> dict[str, Any]:
    """Return the record of a step."""
    return asdict(step)


def record_to_step(record: Mapping[str, Any]) -> Step:
    """Return the step that a record describes; unknown fields are ignored.

    Raises:
        TypeError: If a field that a step needs is missing.
    """
    return Step(**{key: value for key, value in record.items() if key in _STEP_FIELDS})
