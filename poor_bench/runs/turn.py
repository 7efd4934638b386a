"""Who may do some work of a workspace: one process at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from filelock import FileLock, Timeout

from poor_bench.errors import RunRefusedError
from poor_bench.prompts import hash_text
from poor_bench.runs.history import RunHistory, StoredRun
from poor_bench.safe_files import tell_os_errors


class RunTurn:
    """The turn to start runs; it ends with its process at the latest."""

    def __init__(self, history: RunHistory, header: Mapping[str, Any] | None = None) -> None:
        """Prepare to take the turn.

        Args:
            history: The runs of the kind.
            header: What the run is about: the keys of its header that `RunKind.describe` reads.
                Runs about something else do not wait for it. None for all runs of the kind.
        """
        self._history = history
        self._subject = "" if header is None else history.kind.describe(header)
        name = f"run-{hash_text(self._subject, 12)}" if self._subject else "run"
        self._lock = FileLock(history.folder / f"{name}.lock", thread_local=False)

    def take(self) -> bool:
        """Take the turn if nobody has it and nothing runs; return True if it is ours.

        Raises:
            StoreError: If the system refuses anything.
        """
        with tell_os_errors(self._history.folder):
            self._history.folder.mkdir(parents=True, exist_ok=True)
            try:
                self._lock.acquire(timeout=0)
            except Timeout:
                return False
            if self._find_other() is not None:
                self._lock.release()
                return False
            return True

    def give_back(self) -> None:
        """Let the next one have it; does nothing where it is not ours."""
        self._lock.release()

    def other_run(self) -> str:
        """Name the run that is in the way, such as `the run 20261122T1200`."""
        run, name = self._find_other(), self._history.kind.name
        return f"the {name} {run.run_id}" if run else f"a {name}"

    def _find_other(self) -> StoredRun | None:
        describe, subject = self._history.kind.describe, self._subject
        return self._history.running(lambda run: not subject or describe(run.header) == subject)


@contextmanager
def run_alone(
    history: RunHistory, header: Mapping[str, Any], *, beside: bool = False
) -> Iterator[None]:
    """Refuse to start what another process does already; hold the turn until the block ends.

    Args:
        history: The runs of the kind.
        header: As in `RunTurn`.
        beside: Start anyway.

    Raises:
        RunRefusedError: If a run about the same thing is running, or is about to start.
        StoreError: If the system refuses anything.
    """
    turn = RunTurn(history, header)
    if not beside and not turn.take():
        raise RunRefusedError(
            f"{turn.other_run()} is already running",
            hint="Wait until it ends, or add --beside to start anyway.",
        )
    try:
        yield
    finally:
        turn.give_back()
