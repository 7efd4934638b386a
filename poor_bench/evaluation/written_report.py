"""Read a report that was written as JSON, such as an artefact of another machine's run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from poor_bench.errors import ConfigError
from poor_bench.evaluation.models import EvalCaseResult, EvalSuiteResult, EvalTrialResult
from poor_bench.safe_files import open_regular

_MOST_FAULTS = 3


def read_report(path: Path) -> EvalSuiteResult:
    """Read the report of a file.

    Files do not repeat the only trial of a case: it is made from what the case says, without its
    data and its texts.

    Raises:
        ConfigError: If the file cannot be read, or does not hold a report.
    """
    try:
        with open_regular(path) as stream:
            report = EvalSuiteResult.model_validate_json(stream.read())
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from error
    except ValidationError as error:
        message = f"{path} is not the report of a suite: {'; '.join(_faults(error))}"
        raise ConfigError(message, hint="`suite run --output` writes one") from error
    cases = tuple(map(_with_trial, report.case_results))
    return report.model_copy(update={"case_results": cases})


def _with_trial(case: EvalCaseResult) -> EvalCaseResult:
    if case.trial_results or not (case.trials_run or case.failures):
        return case
    trial = EvalTrialResult(
        case_id=case.id,
        passed=case.passed,
        success=case.success,
        mode=case.mode,
        summary=case.summary,
        error=case.error,
        duration_ms=case.duration_ms,
        actions=case.actions,
        input_tokens=case.input_tokens,
        output_tokens=case.output_tokens,
        estimated_cost_usd=case.avg_estimated_cost_usd,
        handed_off=case.mode == "handoff",
        failed_checks=case.failed_checks,
        failure=next(iter(case.failures), None),
    )
    return case.model_copy(update={"trial_results": (trial,)})


def _faults(error: ValidationError) -> Iterator[str]:
    for fault in error.errors(include_url=False)[:_MOST_FAULTS]:
        place = ".".join(map(str, fault["loc"]))
        yield f"{place}: {fault['msg']}" if place else fault["msg"]
