"""Steps of trials, with screenshots inside the page up to a size limit."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from poor_bench.evaluation.agent import Step
from poor_bench.evaluation.models import EvalTrialResult
from poor_bench.evaluation.screenshots import read_screenshot
from poor_bench.evaluation.stored_run import SuiteRun

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
        """Steps of a trial."""
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
