"""The report of a run as JSON and as JUnit XML.

In JUnit XML a run is one suite with a test case for every case. A failed case is a failure, one
that could not be run an error. Every trial has a line in the output of its case. Results by tag are
properties of the suite, such as `tag.smoke.pass_rate`.

Source:
    The schema that Jenkins and pytest share (`junit-10.xsd` of the xUnit plug-in).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from pydantic import ValidationError

from poor_bench.config.document import write_atomically
from poor_bench.errors import ConfigError
from poor_bench.evaluation.models import (
    CaseStatus,
    EvalCaseResult,
    EvalSuiteResult,
    EvalTagResult,
    EvalTrialResult,
)
from poor_bench.evaluation.scoring import SHOWN_OF_TRIAL
from poor_bench.messages import write_count
from poor_bench.reports.junit_report import xml_text
from poor_bench.runs.journal import dump_record
from poor_bench.safe_files import open_regular


def report_to_json(report: EvalSuiteResult) -> dict[str, Any]:
    """Convert a report to plain data; without the only trial of a case, which repeats it."""
    plain = report.model_dump()
    for case in plain["case_results"]:
        if len(case["trial_results"]) < 2:
            del case["trial_results"]
    return plain


def write_report(report: EvalSuiteResult, path: Path | str) -> None:
    """Write a report as JSON, atomically; missing folders are created.

    Raises:
        ConfigError: If it cannot be written; the old file stays untouched.
    """
    import orjson

    plain = orjson.loads(dump_record(report_to_json(report)))
    text = orjson.dumps(plain, option=orjson.OPT_INDENT_2).decode()
    write_file(Path(path), f"{text}\n")


def write_file(path: Path, text: str) -> None:
    """Write a text, atomically; missing folders are created.

    Raises:
        ConfigError: If it cannot be written; the old file stays untouched.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"cannot create the folder {path.parent}: {error.strerror or error}"
        raise ConfigError(message) from error
    write_atomically(path, text)


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
        **case.model_dump(include=SHOWN_OF_TRIAL),
        passed=case.passed,
        error=case.error,
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


_TEXT_LIMIT = 4000


def report_to_junit(report: EvalSuiteResult) -> str:
    """Convert a report to JUnit XML."""
    root = Element("testsuites", name=xml_text(report.name))
    suite = SubElement(
        root,
        "testsuite",
        name=xml_text(report.name),
        tests=str(len(report.case_results)),
        failures=str(report.failed),
        errors=str(report.not_run),
        skipped="0",
        time=_seconds(sum(_total_ms(case) for case in report.case_results)),
        timestamp=report.started[:19],
    )
    _add_properties(suite, report)
    for case in report.case_results:
        _add_case(suite, case, report.name)
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _add_properties(suite: Element, report: EvalSuiteResult) -> None:
    values: dict[str, str | float | None] = {
        "run_id": report.run_id or None,
        "llms": report.models or None,
        "pass_rate": report.pass_rate,
        "deterministic_hit_rate": report.deterministic_hit_rate,
        "handoff_rate": report.handoff_rate,
        "handoff_rescue_rate": report.handoff_rescue_rate,
        "avg_duration_ms": report.avg_duration_ms,
        "p95_duration_ms": report.p95_duration_ms,
        "avg_estimated_cost_usd": report.avg_estimated_cost_usd,
        **_tag_properties(report.tag_results),
    }
    properties = SubElement(suite, "properties")
    for name, value in values.items():
        if value is not None:
            text = xml_text(value) if isinstance(value, str) else f"{value:.10g}"
            SubElement(properties, "property", name=xml_text(name), value=text)


def _tag_properties(tags: Sequence[EvalTagResult]) -> dict[str, float]:
    return {
        f"tag.{tag.tag}.{name}": getattr(tag, name)
        for tag in tags
        for name in ("passed", "failed", "not_run", "pass_rate")
    }


def _add_case(suite: Element, case: EvalCaseResult, suite_name: str) -> None:
    element = SubElement(
        suite,
        "testcase",
        classname=xml_text(suite_name),
        name=xml_text(case.id),
        time=_seconds(_total_ms(case)),
    )
    if case.status is CaseStatus.FAILED:
        first = case.failed_checks[0]
        kind = first.partition(":")[0] if case.trials_run == 1 else "trials"
        tracebacks = (trial.traceback for trial in case.trial_results if trial.traceback)
        _add_problem(element, "failure", kind, first, "\n".join((*case.failed_checks, *tracebacks)))
    elif case.status is CaseStatus.NOT_RUN:
        kind = case.failures[0].kind.value if case.failures else "stopped"
        message = case.failures[0].message if case.failures else "the run was stopped first"
        _add_problem(element, "error", kind, message, message)
    said = "\n".join((*(_line(trial) for trial in case.trial_results), *case.read_errors))
    SubElement(element, "system-out").text = xml_text((said or case.summary)[:_TEXT_LIMIT])


def _add_problem(element: Element, tag: str, kind: str, message: str, text: str) -> None:
    problem = SubElement(element, tag, type=xml_text(kind), message=xml_text(message))
    problem.text = xml_text(text[:_TEXT_LIMIT])


def _line(trial: EvalTrialResult) -> str:
    if trial.failure is not None:
        return f"trial {trial.trial}: not run: {trial.failure.message}"
    verdict = "passed" if trial.passed else "failed"
    said = trial.summary if trial.success else trial.error
    actions = write_count(trial.actions, "action")
    return f"trial {trial.trial}: {verdict} ({trial.mode}, {actions}): {said}"


def _total_ms(case: EvalCaseResult) -> float:
    return (case.avg_duration_ms or 0.0) * case.trials_run


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"
