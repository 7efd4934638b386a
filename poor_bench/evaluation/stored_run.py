"""Stored runs of suites: their writer, their reader, and their screenshots.

```
suite_runs/<run id>/run.jsonl                    header, then a line for every trial that ended
suite_runs/<run id>/<case id>/trial-1/steps.jsonl
suite_runs/<run id>/<case id>/trial-1/*.png      screenshots, and what was downloaded
```

Trials and steps are appended the moment they exist; any number of runs may be written at once.
Reading judges the trials again, whether the run is complete or was interrupted.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson
from pydantic import TypeAdapter

from poor_bench.errors import ConfigError, StoreError
from poor_bench.evaluation.agent import Step
from poor_bench.evaluation.models import EvalCase, EvalSuiteResult, EvalTrialResult
from poor_bench.evaluation.scoring import score_case, score_suite, score_trial
from poor_bench.models.llm import Prices
from poor_bench.runs.history import RunHistory, RunKind, StoredRun, read_stored_runs
from poor_bench.runs.journal import JournalWriter, dump_record
from poor_bench.safe_files import tell_os_errors

STEPS_FILE = "steps.jsonl"
RUN_FILE = "run.jsonl"


def locate_artifacts(case_id: str, trial: int) -> str:
    """Name the folder of one trial, relative to its run."""
    return f"{case_id}/trial-{trial}"


SUITE_RUNS = RunKind(
    name="suite run",
    folders=("suite_runs",),
    command="suite run FILE",
    file=RUN_FILE,
    row_keys=frozenset({"trial_result"}),
    count_planned=lambda header: sum(case.get("trials", 1) for case in header.get("cases", ())),
    describe=lambda header: str(header.get("suite", "")),
)


class SuiteRunWriter:
    """Writes one run; called from several threads."""

    def __init__(self, journal: JournalWriter, *, resumes: bool) -> None:
        self.folder = journal.path.parent
        self._journal = journal
        self._resumes = resumes

    def open_trial(self, case_id: str, trial: int) -> TrialWriter:
        """Make the folder of a trial; what an interrupted attempt left there is deleted.

        Raises:
            StoreError: If it cannot be made.
        """
        folder = self.folder / locate_artifacts(case_id, trial)
        with tell_os_errors(folder):
            if self._resumes and folder.is_dir():
                shutil.rmtree(folder)
            folder.mkdir(parents=True)
            return TrialWriter(folder)

    def append(self, trial: EvalTrialResult) -> None:
        """Store a trial that ended, so that it survives the end of the process.

        Raises:
            StoreError: If it could not be stored.
        """
        self._journal.append_record({"trial_result": trial.model_dump()})


@contextmanager
def write_suite_run(
    data_dir: Path, run_id: str, header: dict[str, Any] | None
) -> Iterator[SuiteRunWriter]:
    """Open a run for writing while it lasts.

    Args:
        data_dir: Folder of the workspace.
        run_id: Id of the run.
        header: Facts about a new run; None resumes a stored one.

    Raises:
        StoreError: If it cannot be written, or another process writes to it.
    """
    written = None if header is None else {"run_id": run_id, **header}
    with RunHistory(data_dir, SUITE_RUNS).writing(run_id, written) as journal:
        yield SuiteRunWriter(journal, resumes=header is None)
        journal.append_record({"finished": True})


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
        rest = memoryview(dump_record(asdict(step)) + b"\n")
        with tell_os_errors(self.folder / STEPS_FILE):
            while rest:
                rest = rest[os.write(self._fd, rest) :]

    def close(self) -> None:
        """Give up the file; whoever still writes gets an error."""
        fd, self._fd = self._fd, -1
        os.close(fd)


_STEP_FIELDS = frozenset(field.name for field in fields(Step))


def convert_to_plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """Convert data to what JSON can hold; other values become text."""
    plain: dict[str, Any] = orjson.loads(dump_record(dict(value)))
    return plain


_PRICES = TypeAdapter(dict[str, Prices])


@dataclass(frozen=True)
class SuiteRun:
    """One stored run of a suite."""

    stored: StoredRun

    @property
    def folder(self) -> Path:
        """Folder of the run."""
        return self.stored.path.parent

    @property
    def header(self) -> Mapping[str, Any]:
        """Facts about the whole run."""
        return self.stored.header

    @property
    def run_id(self) -> str:
        """Name of the run."""
        return self.stored.run_id

    @property
    def suite(self) -> str:
        """Name of the suite; empty where the header is not readable."""
        return str(self.header.get("suite", ""))

    @property
    def started(self) -> str:
        """Start of the run, ISO 8601; empty where it is unknown."""
        return str(self.header.get("started", ""))

    @cached_property
    def is_going_on(self) -> bool:
        """True while a process writes to it."""
        return self.stored.is_running

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
        """Read the finished trials; of a trial that was run again, the newest result.

        Raises:
            StoreError: If the journal cannot be read.
        """
        found = {}
        for line in self.stored.records():
            record = line.get("trial_result")
            if isinstance(record, dict):
                trial = EvalTrialResult.model_validate(record)
                found[trial.case_id, trial.trial_index] = trial
        return list(found.values())

    def report(self) -> EvalSuiteResult:
        """Make the report of the run, judged by its own cases.

        Raises:
            StoreError: If the run cannot be read.
        """
        try:
            trials, prices = self.trials(), self.prices
        except (OSError, TypeError, ValueError, KeyError) as error:
            raise StoreError(f"{self.folder / RUN_FILE} cannot be read: {error}") from error
        report = judge_trials(self.suite, self.cases, trials, prices)
        changes = {
            "run_id": self.run_id,
            "started": self.started,
            "folder": str(self.folder),
            "cancelled": len(trials) < sum(case.trials for case in self.cases),
        }
        return report.model_copy(update=changes)

    def steps(self, trial: EvalTrialResult) -> list[Step]:
        """Read the steps of one trial; unreadable lines are skipped."""
        path = self.folder / trial.artifacts / STEPS_FILE
        if not trial.artifacts or not path.is_file():
            return []
        return [step for line in path.read_bytes().splitlines() if (step := _read_step(line))]


def judge_trials(
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


def list_suite_runs(data_dir: Path) -> list[SuiteRun]:
    """List the runs of a workspace, oldest first."""
    return [SuiteRun(run) for run in RunHistory(data_dir, SUITE_RUNS).runs()]


def open_run(folder: Path) -> SuiteRun:
    """Open the run of a folder.

    Raises:
        ConfigError: If the folder does not hold a run.
    """
    path = folder / RUN_FILE
    if not path.is_file():
        raise ConfigError(f"{folder} is not the folder of a run: {RUN_FILE} is missing")
    [run] = read_stored_runs([path], in_folders=True)
    return SuiteRun(run)


def find_suite_run(data_dir: Path, reference: str) -> SuiteRun:
    """Find a run as `RunHistory.find` does.

    Raises:
        ConfigError: If it names no run, or several.
    """
    return SuiteRun(RunHistory(data_dir, SUITE_RUNS).find(reference))


def _read_step(line: bytes) -> Step | None:
    try:
        record = orjson.loads(line)
        return Step(**{key: value for key, value in record.items() if key in _STEP_FIELDS})
    except (orjson.JSONDecodeError, TypeError, AttributeError):
        return None


MOST_BYTES = 10_000_000
_TYPES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}


@dataclass(frozen=True, slots=True)
class Image:
    """An image that a browser may be shown."""

    content_type: str
    """`image/png` or `image/jpeg`."""
    data: bytes


def read_screenshot(run_folder: Path, artifacts: str, name: str) -> Image | None:
    """Read an image of one trial; None if it does not exist.

    Only a regular file that lies in the run's folder, also after following links, and begins as a
    PNG or JPEG file does, is an image.

    Args:
        run_folder: Folder of the run.
        artifacts: Folder of the trial, relative to it.
        name: Name of the file in there.
    """
    if not artifacts or not name or "/" in name or "\\" in name or "\0" in name + artifacts:
        return None
    path = (run_folder / artifacts / name).resolve()
    if not path.is_relative_to(run_folder.resolve()) or not path.is_file():
        return None
    if path.stat().st_size > MOST_BYTES:
        return None
    data = path.read_bytes()
    content_type = next((kind for mark, kind in _TYPES.items() if data.startswith(mark)), None)
    return Image(content_type, data) if content_type else None
