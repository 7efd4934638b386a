"""Edits of many tests from the dashboard; the last one can be undone while the server runs."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from poor_bench.config.document import parse_place
from poor_bench.config.edit_entries import FileChange, TestEdit, describe_edit, undo_change
from poor_bench.dashboard.services.workspace_watch import WorkspaceWatch
from poor_bench.errors import ConfigError
from poor_bench.models.problem import Problem, Severity
from poor_bench.models.test import Test

_PARAMETERS = "evaluation_module.parameters."


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason why an edit is refused, and the tests that it holds for."""

    test_ids: tuple[str, ...]
    """Empty for a reason that is not about tests."""
    reason: str


def list_refusals(problems: Iterable[Problem], tests: Sequence[Test]) -> list[Refusal]:
    """Group the errors of a refused edit by reason, in the order of the file.

    Args:
        problems: Of the file as it would be.
        tests: Those that it would have.
    """
    found: dict[str, list[str]] = {}
    for problem in problems:
        if problem.severity is Severity.ERROR:
            test_ids, reason = _read_problem(problem, tests)
            found.setdefault(reason, []).extend(test_ids)
    return [Refusal(tuple(dict.fromkeys(ids)), reason) for reason, ids in found.items()]


def _read_problem(problem: Problem, tests: Sequence[Test]) -> tuple[tuple[str, ...], str]:
    match parse_place(problem.place):
        case ("tests", int(number), *_) if number < len(tests):
            key = problem.place.partition("].")[2].removeprefix(_PARAMETERS)
            hint = f" ({problem.hint})" if problem.hint else ""
            named = f"`{key}`: " if key else ""
            return (tests[number].test_id,), f"{named}{problem.message}{hint}"
    return (), str(problem)


class TestEdits:
    """Edits tests.json and keeps the file as it was before the last edit; for all browsers."""

    def __init__(self, files: WorkspaceWatch) -> None:
        self._files = files
        self._lock = threading.Lock()
        self._last: tuple[str, FileChange] | None = None
        self.told = ""
        """What was done last, in the past tense, an undo included; empty at first."""

    @property
    def last(self) -> str:
        """What the last edit did, such as "Disabled 3 tests"; empty if none can be undone."""
        last = self._last
        return last[0] if last else ""

    def list_tests_after(self, edit: TestEdit) -> Sequence[Test]:
        """List the tests that the file has after an edit, in its order, as they are now."""
        tests = self._files.workspace().tests
        return [test for test in tests if not (edit.is_deleted and test.test_id in edit.test_ids)]

    def apply(self, edit: TestEdit) -> str:
        """Change some tests in the same way.

        Returns:
            What was done, in the past tense.

        Raises:
            ConfigError: If the workspace, as it was or as it would be, is not valid, or cannot be
                written; it is untouched then.
        """
        if not edit.test_ids:
            raise ConfigError("select tests")
        with self._lock:
            change = self._files.config().edit_tests(edit)
            self._last = describe_edit(edit), change
            self._files.forget()
            self.told = self._last[0]
            return self.told

    def undo(self) -> str:
        """Undo the last edit.

        Returns:
            What was done.

        Raises:
            ConfigError: If nothing can be undone, or tests.json was changed since.
        """
        with self._lock:
            if self._last is None:
                raise ConfigError("nothing to undo")
            text, change = self._last
            undo_change(change)
            self._last = None
            self._files.forget()
            self.told = f"Undone: {text}"
            return self.told
