"""Read runs of suites back, whole or broken off, and judge them again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from poor_bench.command_line import next_command
from poor_bench.errors import ConfigError, StoreError
from poor_bench.evaluation.agent import Step
from poor_bench.evaluation.models import EvalCase, EvalSuiteResult, EvalTrialResult
from poor_bench.evaluation.records import record_to_step, record_to_trial
from poor_bench.evaluation.run_folder import RUN_FILE, STEPS_FILE, runs_folder
from poor_bench.evaluation.scoring import score_case, score_suite, score_trial
from poor_bench.result_store.journal import is_owned, read_header, read_journal
from poor_bench.safe_files import open_regular

LAST = "last"
_LEAST_PREFIX = 4


@dataclass(frozen=True)
class StoredRun:
    """One run of a suite, as it stands on the disk."""

    folder: Path
    header: Mapping[str, Any]

    @property
    def run_id(self) -> str:
        """The name of the run."""
        return self.folder.name

    @property
    def suite(self) -> str:
        """The name of the suite; empty where the header is not readable."""
        return str(self.header.get("suite", ""))

    @property
    def started(self) -> str:
        """When it began, ISO 8601; empty where it is not known."""
        return str(self.header.get("started", ""))

    @property
    def age(self) -> tuple[str, str, str]:
        """What sorts runs by time: ids tell seconds, headers milliseconds."""
        return self.run_id.partition("-")[0], self.started, self.run_id

    @cached_property
    def is_going_on(self) -> bool:
        """Whether a process still writes to it."""
        return is_owned(self.folder / RUN_FILE)

    @cached_property
    def cases(self) -> tuple[EvalCase, ...]:
        """The cases as they were run.

        Raises:
            StoreError: If the header does not hold them.
        """
        try:
            return tuple(EvalCase.model_validate(case) for case in self.header["cases"])
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(f"{self.folder / RUN_FILE} has no readable header") from error

    def trials(self) -> list[EvalTrialResult]:
        """Return the trials that ended, in the order in which they did; torn lines are left out."""
        found = []
        with open_regular(self.folder / RUN_FILE) as stream:
            for line in read_journal(stream, lambda _number: None):
                record = line.record.get("trial_result")
                if isinstance(record, dict):
                    found.append(record_to_trial(record))
        return found

    def report(self) -> EvalSuiteResult:
        """Return the report of the run, judged by its own cases.

        Raises:
            StoreError: If the run cannot be read.
        """
        try:
            trials = self.trials()
        except (OSError, TypeError, ValueError, KeyError) as error:
            raise StoreError(f"{self.folder / RUN_FILE} cannot be read: {error}") from error
        report = report_on(self.suite, self.cases, trials)
        planned = sum(case.trials for case in self.cases)
        return replace(
            report,
            run_id=self.run_id,
            started=self.started,
            folder=str(self.folder),
            cancelled=len(trials) < planned,
        )

    def steps(self, trial: EvalTrialResult) -> list[Step]:
        """Return the steps of one trial, as far as they are readable."""
        path = self.folder / trial.artifacts / STEPS_FILE
        if not trial.artifacts or not path.is_file():
            return []
        return [step for line in path.read_bytes().splitlines() if (step := _step_of(line))]


def report_on(
    suite: str, cases: Sequence[EvalCase], trials: Sequence[EvalTrialResult]
) -> EvalSuiteResult:
    """Return the report on trials in any order, judged by `cases`, in the order of these."""
    ordered = sorted(trials, key=lambda trial: trial.trial)
    by_case = {case.id: [t for t in ordered if t.case_id == case.id] for case in cases}
    results = [
        score_case(case, [score_trial(case, trial) for trial in by_case[case.id]]) for case in cases
    ]
    return score_suite(suite, results)


def stored_runs(data_dir: Path) -> list[StoredRun]:
    """Return the runs of a workspace, oldest first."""
    paths = runs_folder(data_dir).glob(f"*/{RUN_FILE}")
    return sorted((open_run(path.parent) for path in paths), key=lambda run: run.age)


def open_run(folder: Path) -> StoredRun:
    """Return the run that stands in a folder.

    Raises:
        ConfigError: If none stands there.
    """
    path = folder / RUN_FILE
    if not path.is_file():
        raise ConfigError(f"{folder} is not the folder of a run: it holds no {RUN_FILE}")
    return StoredRun(folder, read_header(path))


def find_run(data_dir: Path, reference: str) -> StoredRun:
    """Return the run that a reference means.

    Args:
        data_dir: Folder of the workspace.
        reference: `last`, or the id of a run or at least 4 characters of its beginning.

    Raises:
        ConfigError: If it means no run, or several.
    """
    runs = stored_runs(data_dir)
    if not runs:
        raise ConfigError("no suite was run yet", hint=next_command("suite run FILE"))
    if reference == LAST:
        return runs[-1]
    found = [run for run in runs if run.run_id.startswith(reference)]
    if len(found) == 1 and len(reference) >= _LEAST_PREFIX:
        return found[0]
    newest = ", ".join(run.run_id for run in reversed(found[-5:] or runs[-5:]))
    what = "is the beginning of several runs" if found else "is no run of a suite"
    raise ConfigError(f"{reference!r} {what}", hint=f"`{LAST}`, or one of {newest}")


def _step_of(line: bytes) -> Step | None:
    try:
        record = orjson.loads(line)
        return record_to_step(record) if isinstance(record, dict) else None
    except (orjson.JSONDecodeError, TypeError):
        return None
