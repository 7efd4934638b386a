"""Store the steps of an agent, and pass them on to the view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from poor_bench.evaluation.agent import Step
from poor_bench.evaluation.browser.safety.redaction import Redactor
from poor_bench.evaluation.records import as_plain
from poor_bench.evaluation.run_folder import TrialWriter


class StepTeller:
    """Stores the steps of one trial without secrets, then passes them on."""

    def __init__(
        self, writer: TrialWriter, redactor: Redactor, note: Callable[[Step], None]
    ) -> None:
        self._writer = writer
        self._redactor = redactor
        self._note = note
        self._broken: Exception | None = None

    def __call__(self, step: Step) -> None:
        """Take one step."""
        try:
            masked = _masked_step(step, self._redactor)
            self._writer.append(masked)
            self._note(masked)
        except Exception as error:
            self._broken = error
            raise

    def raise_if_broken(self) -> None:
        """Raise the error that prevented storing a step, even if the agent has swallowed it.

        Raises:
            StoreError: If a step could not be stored.
            Exception: Any other error, such as one of the listener.
        """
        if self._broken is not None:
            raise self._broken


def _masked_step(step: Step, redactor: Redactor) -> Step:
    return replace(
        step,
        action=redactor.value(as_plain(step.action)),
        text=redactor.text(step.text),
        url=redactor.text(step.url),
        title=redactor.text(step.title),
        thought=redactor.text(step.thought),
        result=redactor.text(step.result),
        error=redactor.text(step.error),
    )
