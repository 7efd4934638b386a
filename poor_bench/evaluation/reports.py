"""The report of a run as JSON, JUnit XML and HTML.

In JUnit XML a run is one suite with a test case for every case. A failed case is a failure, one
that could not be run an error. Every trial has a line in the output of its case. Results by tag are
properties of the suite, such as `tag.smoke.pass_rate`.

The HTML page is self-contained: it works offline and prints. All text is escaped by the template
engine; its content security policy allows its one stylesheet and the images in it, nothing else.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from poor_bench.config.document import write_atomically
from poor_bench.errors import ConfigError
from poor_bench.evaluation.agent import Step
from poor_bench.evaluation.models import (
    CaseStatus,
    EvalCaseResult,
    EvalSuiteResult,
    EvalTagResult,
    EvalTrialResult,
)
from poor_bench.evaluation.scoring import RATES, SHOWN_OF_TRIAL
from poor_bench.evaluation.stored_run import SuiteRun, read_screenshot
from poor_bench.messages import write_count
from poor_bench.metrics import cost_text, time_text
from poor_bench.reports.html.page import render_page
from poor_bench.reports.junit import JUnitCase, JUnitProblem, JUnitSuite, write_junit
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
        message = f"{path} is not the report of a suite: {'; '.join(_describe_faults(error))}"
        raise ConfigError(message, hint="`suite run --output` writes one") from error
    cases = tuple(map(_add_trial, report.case_results))
    return report.model_copy(update={"case_results": cases})


def _add_trial(case: EvalCaseResult) -> EvalCaseResult:
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


def _describe_faults(error: ValidationError) -> Iterator[str]:
    for fault in error.errors(include_url=False)[:_MOST_FAULTS]:
        place = ".".join(map(str, fault["loc"]))
        yield f"{place}: {fault['msg']}" if place else fault["msg"]


def report_to_junit(report: EvalSuiteResult) -> str:
    """Convert a report to JUnit XML."""
    suite = JUnitSuite(
        name=report.name,
        cases=[_build_case(case, report.name) for case in report.case_results],
        properties=_list_properties(report),
        started=report.started,
    )
    return write_junit(report.name, [suite])


def _list_properties(report: EvalSuiteResult) -> dict[str, str]:
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
    return {
        name: value if isinstance(value, str) else f"{value:.10g}"
        for name, value in values.items()
        if value is not None
    }


def _tag_properties(tags: Sequence[EvalTagResult]) -> dict[str, float]:
    return {
        f"tag.{tag.tag}.{name}": getattr(tag, name)
        for tag in tags
        for name in ("passed", "failed", "not_run", "pass_rate")
    }


def _build_case(case: EvalCaseResult, suite_name: str) -> JUnitCase:
    lines = "\n".join((*map(_describe_trial, case.trial_results), *case.read_errors))
    return JUnitCase(
        class_name=suite_name,
        name=case.id,
        time_ms=(case.avg_duration_ms or 0.0) * case.trials_run,
        problem=_find_problem(case),
        output=lines or case.summary,
    )


def _find_problem(case: EvalCaseResult) -> JUnitProblem | None:
    if case.status is CaseStatus.FAILED:
        first = case.failed_checks[0]
        kind = first.partition(":")[0] if case.trials_run == 1 else "trials"
        tracebacks = (trial.traceback for trial in case.trial_results if trial.traceback)
        text = "\n".join((*case.failed_checks, *tracebacks))
        return JUnitProblem(tag="failure", kind=kind, message=first, text=text)
    if case.status is CaseStatus.NOT_RUN:
        kind = case.failures[0].kind.value if case.failures else "stopped"
        message = case.failures[0].message if case.failures else "the run was stopped first"
        return JUnitProblem(tag="error", kind=kind, message=message, text=message)
    return None


def _describe_trial(trial: EvalTrialResult) -> str:
    if trial.failure is not None:
        return f"trial {trial.trial}: not run: {trial.failure.message}"
    verdict = "passed" if trial.passed else "failed"
    said = trial.summary if trial.success else trial.error
    actions = write_count(trial.actions, "action")
    return f"trial {trial.trial}: {verdict} ({trial.mode}, {actions}): {said}"


def report_to_html(report: EvalSuiteResult, run: SuiteRun | None) -> str:
    """Convert a report to one HTML page.

    Args:
        report: The report.
        run: Source of steps and screenshots; None omits them.
    """
    content = {
        "report": report,
        "rates": _list_rates(report),
        "directives": {} if run is None else {case.id: case.directive for case in run.cases},
        "replays": Replays(run),
    }
    return render_page(
        "suite.html",
        content,
        package=__package__,
        style="suite.css",
        sources="img-src data:",
        filters={"time": time_text, "cost": cost_text},
    )


def _list_rates(report: EvalSuiteResult) -> list[tuple[str, str, str, str]]:
    """Name, value, confidence interval and meaning of every rate that is known."""
    meanings = {"pass_rate": "cases that passed, of those with a verdict"} if report.total else {}
    meanings |= {name: rate.meaning for name, rate in RATES.items()}
    found = []
    for name, meaning in meanings.items():
        value = getattr(report, name)
        if value is not None:
            low, high = report.intervals.get(name, (value, value))
            interval = f"{low:.2f} to {high:.2f}"
            found.append((name.replace("_", " "), f"{value:.2f}", interval, meaning))
    return found


_ROOM_BYTES = 24_000_000
"""Limit for all screenshots together: a larger page is slow to open and to mail."""


@dataclass(frozen=True, slots=True)
class ShownStep:
    """One step of a replay."""

    step: Step
    image: str
    """A data URL; empty without a screenshot, or beyond the size limit."""


class Replays:
    """Adds images to steps until the size limit is reached."""

    def __init__(self, run: SuiteRun | None) -> None:
        self._run = run
        self._left = _ROOM_BYTES
        self.n_omitted = 0

    def of(self, trial: EvalTrialResult) -> list[ShownStep]:
        """List the steps of a trial."""
        if self._run is None:
            return []
        return [
            ShownStep(step, self._read_image(self._run, trial, step))
            for step in self._run.steps(trial)
        ]

    def _read_image(self, run: SuiteRun, trial: EvalTrialResult, step: Step) -> str:
        image = read_screenshot(run.folder, trial.artifacts, step.screenshot)
        if image is None:
            return ""
        if len(image.data) > self._left:
            self.n_omitted += 1
            return ""
        self._left -= len(image.data)
        return f"data:{image.content_type};base64,{base64.b64encode(image.data).decode()}"
