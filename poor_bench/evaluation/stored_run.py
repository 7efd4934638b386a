"""Read stored runs of suites, complete or interrupted, and judge them again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson
from pydantic import TypeAdapter

from poor_bench.command_line import next_command
from poor_bench.errors import ConfigError, StoreError
from poor_bench.evaluation.agent import Step
from poor_bench.evaluation.models import EvalCase, EvalSuiteResult, EvalTrialResult
from poor_bench.evaluation.records import record_to_step, record_to_trial
from poor_bench.evaluation.run_folder import RUN_FILE, STEPS_FILE, runs_folder
from poor_bench.evaluation.scoring import score_case, score_suite, score_trial
from poor_bench.models.llm import Prices
from poor_bench.runs.journal import is_owned, read_header, read_journal
from poor_bench.safe_files import open_regular

LAST = "last"
_PRICES = TypeAdapter(dict[str, Prices])
_LEAST_PREFIX = 4


@dataclass(frozen=True)
class SuiteRun:
    """One stored run of a suite."""

    folder: Path
    header: Mapping[str, Any]

    @property
    def run_id(self) -> str:
        """Name of the run."""
        return self.folder.name

    @property
    def suite(self) -> str:
        """Name of the suite; empty where the header is not readable."""
        return str(self.header.get("suite", ""))

    @property
    def started(self) -> str:
        """Start of the run, ISO 8601; empty where it is unknown."""
        return str(self.header.get("started", ""))

    @property
    def age(self) -> tuple[str, str, str]:
        """Sort key by time: ids have seconds, headers milliseconds."""
        return self.run_id.partition("-")[0], self.started, self.run_id

    @cached_property
    def is_going_on(self) -> bool:
        """True while a process writes to it."""
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

    @property
    def prices(self) -> dict[str, Prices]:
        """Prices of its LLMs when it was run, by LLM id; empty for runs of older versions."""
        written = self.header.get("prices")
        return _PRICES.validate_python(written) if isinstance(written, dict) else {}

    def trials(self) -> list[EvalTrialResult]:
        """Finished trials, in order of their end; torn lines are skipped."""
        found = []
        with open_regular(self.folder / RUN_FILE) as stream:
            for line in read_journal(stream, lambda _number: None):
                record = line.record.get("trial_result")
                if isinstance(record, dict):
                    found.append(record_to_trial(record))
        return found

    def report(self) -> EvalSuiteResult:
        """Make the report of the run, judged by its own cases.

        Raises:
            StoreError: If the run cannot be read.
        """
        try:
            trials, prices = self.trials(), self.prices
        except (OSError, TypeError, ValueError, KeyError) as error:
            raise StoreError(f"{self.folder / RUN_FILE} cannot be read: {error}") from error
        report = report_on(self.suite, self.cases, trials, prices)
        changes = {
            "run_id": self.run_id,
            "started": self.started,
            "folder": str(self.folder),
            "cancelled": len(trials) < sum(case.trials for case in self.cases),
        }
        return report.model_copy(update=changes)

    def steps(self, trial: EvalTrialResult) -> list[Step]:
        """Readable steps of one trial."""
        path = self.folder / trial.artifacts / STEPS_FILE
        if not trial.artifacts or not path.is_file():
            return []
        return [step for line in path.read_bytes().splitlines() if (step := _step_of(line))]


def report_on(
    suite: str,
    cases: Sequence[EvalCase],
    trials: Sequence[EvalTrialResult],
    prices: Mapping[str, Prices],
) -> EvalSuiteResult:
    """Judge trials, in any order, by their cases.

    Args:
        suite: Name of the suite.
        cases: In the order of the report.
        trials: In any order.
        prices: LLM id to its prices; others are unknown.
    """
    scored: dict[str, list[EvalTrialResult]] = {case.id: [] for case in cases}
    by_id = {case.id: case for case in cases}
    for trial in sorted(trials, key=lambda trial: trial.trial_index):
        if trial.case_id in by_id:
            known = prices.get(trial.llm_id, Prices())
            scored[trial.case_id].append(score_trial(by_id[trial.case_id], trial, known))
    return score_suite(suite, [score_case(case, scored[case.id]) for case in cases])


def stored_suite_runs(data_dir: Path) -> list[SuiteRun]:
    """Runs of a workspace, oldest first."""
    paths = runs_folder(data_dir).glob(f"*/{RUN_FILE}")
    return sorted((open_run(path.parent) for path in paths), key=lambda run: run.age)


def open_run(folder: Path) -> SuiteRun:
    """Open the run of a folder.

    Raises:
        ConfigError: If the folder does not hold a run.
    """
    path = folder / RUN_FILE
    if not path.is_file():
        raise ConfigError(f"{folder} is not the folder of a run: {RUN_FILE} is missing")
    return SuiteRun(folder, read_header(path))


def find_suite_run(data_dir: Path, reference: str) -> SuiteRun:
    """Find the run that a reference names.

    Args:
        data_dir: Folder of the workspace.
        reference: `last`, or the id of a run or at least 4 characters of its beginning.

    Raises:
        ConfigError: If it names no run, or several.
    """
    runs = stored_suite_runs(data_dir)
    if not runs:
        raise ConfigError("no suite has been run yet", hint=next_command("suite run FILE"))
    if reference == LAST:
        return runs[-1]
    found = [run for run in runs if run.run_id.startswith(reference)]
    if len(found) == 1 and len(reference) >= _LEAST_PREFIX:
        return found[0]
    newest = ", ".join(run.run_id for run in reversed(found[-5:] or runs[-5:]))
    what = "matches several runs" if found else "is not a run of a suite"
    raise ConfigError(f"{reference!r} {what}", hint=f"use `{LAST}`, or one of {newest}")


def _step_of(line: bytes) -> Step | None:
    try:
        record = orjson.loads(line)
        return record_to_step(record) if isinstance(record, dict) else None
    except (orjson.JSONDecodeError, TypeError):
        return None
