"""One self-contained HTML page: works offline, prints, asks nobody for anything.

All text is escaped by the template engine; the content security policy of the page allows its one
stylesheet and the images in it, and nothing else.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass

from poor_bench.evaluation.agent import Step
from poor_bench.evaluation.models import EvalSuiteResult, EvalTrialResult
from poor_bench.evaluation.scoring import RATES
from poor_bench.evaluation.stored_run import SuiteRun, read_screenshot
from poor_bench.metrics import cost_text, time_text
from poor_bench.reports.html.page import render_page


def report_to_html(report: EvalSuiteResult, run: SuiteRun | None) -> str:
    """Convert a report to one HTML page.

    Args:
        report: The report.
        run: Source of steps and screenshots; None omits them.
    """
    content = {
        "report": report,
        "rates": _rates(report),
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


def _rates(report: EvalSuiteResult) -> list[tuple[str, str, str, str]]:
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
            ShownStep(step, self._image(self._run, trial, step)) for step in self._run.steps(trial)
        ]

    def _image(self, run: SuiteRun, trial: EvalTrialResult, step: Step) -> str:
        image = read_screenshot(run.folder, trial.artifacts, step.screenshot)
        if image is None:
            return ""
        if len(image.data) > self._left:
            self.n_omitted += 1
            return ""
        self._left -= len(image.data)
        return f"data:{image.content_type};base64,{base64.b64encode(image.data).decode()}"
