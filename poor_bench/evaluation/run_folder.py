"""Folder of a run of a suite, and its writer.

```
suite_runs/<run id>/run.jsonl                    header, then a line for every trial that ended
suite_runs/<run id>/<case id>/trial-1/steps.jsonl
suite_runs/<run id>/<case id>/trial-1/*.png      screenshots, and what was downloaded
```

Trials and steps are appended the moment they exist; any number of runs may be written at once.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from poor_bench.evaluation.agent import Step
from poor_bench.evaluation.models import EvalTrialResult
from poor_bench.evaluation.records import step_to_record, trial_to_record
from poor_bench.runs.journal import JournalWriter, dump_record
from poor_bench.safe_files import os_errors_told

STEPS_FILE = "steps.jsonl"
RUN_FILE = "run.jsonl"


def runs_folder(data_dir: Path) -> Path:
    """The folder of all runs of suites in a workspace."""
    return data_dir / "suite_runs"


def artifacts_of(case_id: str, trial: int) -> str:
    """The folder of one trial, relative to its run."""
    return f"{case_id}/trial-{trial}"


class RunWriter:
    """Writes one run; called from several threads."""

    def __init__(self, data_dir: Path, run_id: str, header: dict[str, Any]) -> None:
        """Make the folder of the run and write its header.

        Raises:
            StoreError: If it cannot be written.
        """
        self.folder = runs_folder(data_dir) / run_id
        self._journal = JournalWriter(self.folder / RUN_FILE, {"run_id": run_id, **header})

    def open_trial(self, case_id: str, trial: int) -> TrialWriter:
        """Make the folder of a trial.

        Raises:
            StoreError: If it cannot be made.
        """
        folder = self.folder / artifacts_of(case_id, trial)
        with os_errors_told(folder):
            folder.mkdir(parents=True)
            return TrialWriter(folder)

    def append(self, trial: EvalTrialResult) -> None:
        """Store a trial that ended, so that it survives the end of the process.

        Raises:
            StoreError: If it could not be stored.
        """
        self._journal.append_record({"trial_result": trial_to_record(trial)})

    def close(self) -> None:
        """Bring everything to the disk.

        Raises:
            StoreError: If the disk did not take it.
        """
        self._journal.append_record({"finished": True})
        self._journal.close()


class TrialWriter:
    """Writes the steps of one trial."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self._fd = os.open(folder / STEPS_FILE, flags, 0o644)

    def append(self, step: Step) -> None:
        """Store one step; a process that dies leaves at most the last line torn.

        Raises:
            StoreError: If it could not be stored.
        """
        rest = memoryview(dump_record(step_to_record(step)) + b"\n")
        with os_errors_told(self.folder / STEPS_FILE):
            while rest:
                rest = rest[os.write(self._fd, rest) :]

    def close(self) -> None:
        """Give up the file; whoever still writes gets an error."""
        fd, self._fd = self._fd, -1
        os.close(fd)
