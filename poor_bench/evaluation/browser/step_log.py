"""Reported steps of a trial: numbered, timed, without secrets, with a screenshot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from poor_bench.evaluation.agent import Step, TrialControl
from poor_bench.evaluation.browser.session.errors import ActionError
from poor_bench.evaluation.browser.session.session import BrowserSession
from poor_bench.ports import Clock

_NO_ACTIONS = frozenset({"done", "wait", "expect", "extract", "capture", "when", "for_each", ""})
"""Kinds of steps that do not act on the page."""


def acts(kind: str) -> bool:
    """True if a step of this kind acts on the page."""
    return kind not in _NO_ACTIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """One step and its result."""

    action: Mapping[str, Any]
    text: str
    thought: str = ""
    result: str = ""
    error: str = ""
    input_tokens: int = 0
    output_tokens: int = 0


class StepLog:
    """Reports the steps of one part of a trial."""

    def __init__(
        self,
        session: BrowserSession,
        control: TrialControl,
        clock: Clock,
        part: Literal["playbook", "agent"],
    ) -> None:
        self._session = session
        self._control = control
        self._clock = clock
        self._part = part
        self._started_s = clock.monotonic()

    def begin(self) -> None:
        """Start the time of the next step."""
        self._started_s = self._clock.monotonic()

    def tell(self, done: Done) -> str:
        """Report a step; its result with the events beside it."""
        duration_ms = (self._clock.monotonic() - self._started_s) * 1000
        self._session.n_steps += 1
        number = self._session.n_steps
        url, title, screenshot = self._look(number)
        clean = self._session.redactor
        parts = [clean.text(done.result), *self._session.take_notes()]
        result = "; ".join(part for part in parts if part)
        self._control.note_step(
            Step(
                number=number,
                part=self._part,
                action=clean.value(done.action),
                text=clean.text(done.text),
                url=clean.text(url),
                title=clean.text(title),
                thought=clean.text(done.thought),
                result=result,
                error=clean.text(done.error),
                screenshot=screenshot,
                duration_ms=duration_ms,
                input_tokens=done.input_tokens,
                output_tokens=done.output_tokens,
            )
        )
        return result

    def _look(self, number: int) -> tuple[str, str, str]:
        try:
            self._session.save_downloads()
            with self._session.errors():
                page = self._session.page
                url, title = page.url, page.title()
            return url, title, self._session.screenshot(number)
        except ActionError:
            return "", "", ""
