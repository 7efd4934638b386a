"""The report of a run as JUnit XML: one suite, a test case for every case.

A failed case is a failure, one that could not be run an error. Every trial has a line in the output
of its case. Results by tag are properties of the suite, such as `tag.smoke.pass_rate`.

Source:
    The schema that Jenkins and pytest share (`junit-10.xsd` of the xUnit plug-in).
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from poor_bench.evaluation.models import (
    CaseStatus,
    EvalCaseResult,
    EvalSuiteResult,
    EvalTagResult,
    EvalTrialResult,
)
from poor_bench.messages import counted
from poor_bench.reports.junit_report import xml_text

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
    return (
        f"trial {trial.trial}: {verdict} ({trial.mode}, {counted(trial.actions, 'action')}): {said}"
    )


def _total_ms(case: EvalCaseResult) -> float:
    return (case.avg_duration_ms or 0.0) * case.trials_run


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"
