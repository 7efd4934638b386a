"""Trials and steps as records of files; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import orjson

from poor_bench.evaluation.agent import Step
from poor_bench.evaluation.models import EvalTrialResult
from poor_bench.runs.journal import dump_record

_STEP_FIELDS = frozenset(field.name for field in fields(Step))


def trial_to_record(trial: EvalTrialResult) -> dict[str, Any]:
    """The record of a trial."""
    return trial.model_dump()


def record_to_trial(record: Mapping[str, Any]) -> EvalTrialResult:
    """Read the record of a trial; unknown fields are ignored.

    Raises:
        ValueError: If a field is missing, or its failure is of an unknown kind.
    """
    return EvalTrialResult.model_validate(record)


def as_plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """Convert data to what JSON can hold; other values become text."""
    plain: dict[str, Any] = orjson.loads(dump_record(dict(value)))
    return plain


def step_to_record(step: Step) -> dict[str, Any]:
    """The record of a step."""
    return asdict(step)


def record_to_step(record: Mapping[str, Any]) -> Step:
    """Read the record of a step; unknown fields are ignored.

    Raises:
        TypeError: If a field is missing.
    """
    return Step(**{key: value for key, value in record.items() if key in _STEP_FIELDS})
