"""Look how far batches are at their providers, and cancel them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from poor_bench.command_line import next_command
from poor_bench.config.load import Workspace
from poor_bench.errors import ProviderError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM
from poor_bench.ports import BatchLookup, BatchProgress
from poor_bench.runs.batch_notes import BatchNote, BatchNotes

_LOOK_AGAIN_S = 5.0
NOT_SUBMITTED = "the submission broke off before the provider took it"


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchView:
    """One batch: what is noted here, and what its provider says."""

    note: BatchNote
    llm: LLM | None = None
    """None if it is not in llms.json any more."""
    progress: BatchProgress | None = None
    problem: str = ""
    """Why its provider says nothing, or its answers cannot be fetched."""
    may_pass: bool = False
    """True if the problem may be gone when its provider is asked again."""

    @property
    def complaint(self) -> str:
        """The problem, with the batch that has it; empty without one."""
        return f"batch {self.note.key}: {self.problem}" if self.problem else ""

    @property
    def is_worth_waiting(self) -> bool:
        """True if its provider may say more later."""
        return self.progress is not None or self.may_pass

    @property
    def is_ready(self) -> bool:
        """True if its answers can be collected."""
        return self.progress is not None and self.progress.state.is_final

    @property
    def state(self) -> str:
        """How far it is, in one word."""
        if self.note.outcome:
            return "closed"
        return self.progress.state.value if self.progress else "unknown"


class BatchObserver:
    """Asks providers about the batches that are noted here."""

    def __init__(self, notes: BatchNotes, workspace: Workspace, manager: LLMManager) -> None:
        self._notes = notes
        self._llms = workspace.llms_by_id
        self._manager = manager

    def look_at_all(
        self, cancelled: Callable[[], bool] = lambda: False, *, has_turn: bool = True
    ) -> list[BatchView]:
        """Ask about all open batches; a submission that broke off is looked up.

        Args:
            cancelled: Tells when to stop.
            has_turn: False if another process runs the workspace: it may be submitting just now.

        Raises:
            StoreError: If a note cannot be read or written.
            RunCancelledError: If `cancelled()` turned true.
        """
        notes = self._notes.list_open()
        return [
            self.look(note, cancelled)
            if has_turn or note.batch_id
            else BatchView(note=note, problem="another process may be submitting it")
            for note in notes
        ]

    def look(self, note: BatchNote, cancelled: Callable[[], bool] = lambda: False) -> BatchView:
        """Ask about one batch; raises as `look_at_all`."""
        llm = self._llms.get(note.llm_id)
        if llm is None:
            problem = f"{note.llm_id} is not in llms.json any more; add it to collect the answers"
            return BatchView(note=note, problem=f"{problem}. {_ways_out(note)}")
        try:
            return self._look(note, llm, cancelled)
        except ProviderError as error:
            may_pass = error.kind.is_retryable
            return BatchView(note=note, llm=llm, problem=_explain(note, error), may_pass=may_pass)

    def cancel(self, view: BatchView, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Ask the provider to stop a batch; what it answered by then is collected later.

        Raises:
            ProviderError: If the provider refuses.
        """
        note = view.note
        if view.llm is not None and note.batch_id:
            self._manager.call_batches(
                view.llm, lambda api, control: api.cancel(note.batch_id, control), cancelled
            )

    def forget(self, note: BatchNote) -> None:
        """Give up a batch without its provider; its tests are pending again.

        Raises:
            StoreError: If the note cannot be written.
        """
        self._notes.close(note, "given up", keep_results=True)

    def _look(self, note: BatchNote, llm: LLM, cancelled: Callable[[], bool]) -> BatchView:
        if not note.batch_id:
            found = self._find(note, llm, cancelled)
            if found.unclear:
                problem = _explain_unclear(note, found)
                return BatchView(note=note, llm=llm, problem=problem, may_pass=True)
            if not found.batch_id:
                self._notes.close(note, NOT_SUBMITTED)
                return BatchView(note=replace(note, outcome=NOT_SUBMITTED), llm=llm)
            self._notes.add(note, "submitted", batch_id=found.batch_id)
            note = replace(note, batch_id=found.batch_id)
        progress = self._manager.call_batches(
            llm, lambda api, control: api.look(note.batch_id, control), cancelled
        )
        return BatchView(note=note, llm=llm, progress=progress)

    def _find(self, note: BatchNote, llm: LLM, cancelled: Callable[[], bool]) -> BatchLookup:
        """Look up a submission; twice, as a provider may list a new batch a little later."""
        found = self._find_once(note, llm, cancelled)
        if found.batch_id or found.unclear:
            return found
        self._manager.clock.wait(_LOOK_AGAIN_S, cancelled)
        return self._find_once(note, llm, cancelled)

    def _find_once(self, note: BatchNote, llm: LLM, cancelled: Callable[[], bool]) -> BatchLookup:
        noted = [*self._notes.list_open(), *self._notes.list_closed()]
        known = {each.batch_id for each in noted if each.batch_id}
        return self._manager.call_batches(
            llm,
            lambda api, control: api.find(note.key, len(note.items), note.after, known, control),
            cancelled,
        )


def _ways_out(note: BatchNote) -> str:
    return f"Give the batch up: {next_command('batches cancel --forget', note.key)}"


def _explain(note: BatchNote, error: ProviderError) -> str:
    if note.batch_id and error.status in {403, 404}:
        return (
            f"batch {note.batch_id} is not known to this account ({error}). "
            f"Check the key in the environment. {_ways_out(note)}"
        )
    return f"{error} ({error.hint})" if error.hint else str(error)


def _explain_unclear(note: BatchNote, found: BatchLookup) -> str:
    return (
        "the submission broke off, and the provider does not tell whether it is "
        f"{' or '.join(found.unclear)} until that ends. The tests wait for it. {_ways_out(note)}"
    )
