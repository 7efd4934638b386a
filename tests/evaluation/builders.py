"""Valid cases and trials, with single fields overridden."""

from __future__ import annotations

from typing import Any

from poor_bench.evaluation.models import EvalCase, EvalTrialResult, Expectations
from poor_bench.models.failure import Failure, FailureKind

UNREACHABLE = Failure(kind=FailureKind.CONNECTION, message="nobody answers")


def make_case(**fields: Any) -> EvalCase:
    expect = Expectations(**fields.pop("expect", {}))
    return EvalCase(**{"id": "search", "directive": "Find a teapot.", **fields, "expect": expect})


def make_trial(**fields: Any) -> EvalTrialResult:
    values = {"case_id": "search", "success": True, "mode": "agent", "duration_ms": 100.0}
    return EvalTrialResult(**{**values, **fields})


def not_run(**fields: Any) -> EvalTrialResult:
    return EvalTrialResult(case_id="search", failure=UNREACHABLE, **fields)
