"""The kept runs of a store: when each was, what it measured, and on which machine."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from poor_bench.command_line import next_command
from poor_bench.errors import ConfigError
from poor_bench.messages import counted
from poor_bench.runs.journal import read_header

LAST = "last"
"""Refers to the newest kept run."""
PREVIOUS = "previous"
"""Refers to the kept run before the newest one; after a rescoring, to the earlier scores."""
EARLIER = "earlier"
"""Kind of a kept run that holds results as they were before the next run scored them again."""
RESCORE = "rescore"
"""Kind of a run that only scored stored responses again."""
UNDO = "undo"
"""Kind of a run that restored earlier scores."""
_LEAST_PREFIX = 4
_NAMED = 5


def new_run_id(now_iso: str, newest: str = "") -> str:
    """Return an id that sorts by time and is unique, such as `20261121T225007-3f2a91`.

    Args:
        now_iso: The present moment, ISO 8601.
        newest: The id of the newest run so far; the new one sorts after it even where the clock
            went back since, because of two results of a trial the one of the later run counts.
    """
    moment = datetime.fromisoformat(now_iso[:19])
    try:
        after = datetime.fromisoformat(newest.partition("-")[0]) + timedelta(seconds=1)
        moment = max(moment, after)
    except ValueError:
        pass  # there is none, or an older tool named it
    return f"{moment:%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRun:
    """One run that is over; `read_results_file(path)` returns its results."""

    run_id: str
    path: Path
    header: Mapping[str, Any]
    """What is known of the run as a whole; empty where its first line is not readable."""

    @property
    def kind(self) -> str:
        """`EARLIER`, `UNDO`, `RESCORE`, or empty for a run that asked LLMs."""
        return str(self.header.get("kind", ""))

    @property
    def started(self) -> str:
        """When it began, ISO 8601; empty where it is not known."""
        return str(self.header.get("started", ""))

    @property
    def age(self) -> tuple[str, str, str]:
        """What sorts runs by time: ids tell seconds, headers milliseconds."""
        return self.run_id.partition("-")[0], self.started, self.run_id


def kept_runs(files: Iterable[Path]) -> list[KeptRun]:
    """List the runs that stand in these files, oldest first."""
    runs = [KeptRun(run_id=path.stem, path=path, header=read_header(path)) for path in files]
    return sorted(runs, key=lambda run: run.age)


def find_run(runs: Sequence[KeptRun], reference: str) -> KeptRun | None:
    """Return the run that a reference stands for, or None where it is no run's.

    Args:
        runs: Oldest first.
        reference: `last`, `previous`, or the id of a run or at least 4 characters of its beginning.

    Raises:
        ConfigError: If there is no last or previous run, or several runs begin like that.
    """
    if reference in {LAST, PREVIOUS}:
        newest = max((place for place, run in enumerate(runs) if run.kind != EARLIER), default=-1)
        position = newest if reference == LAST else newest - 1
        if position < 0:
            message = f"no {reference} run: this workspace has {counted(len(runs), 'run')}"
            raise ConfigError(
                message, hint=f"every `{next_command('run')}` that sends requests makes one"
            )
        return runs[position]
    found = [run for run in runs if run.run_id.startswith(reference)]
    if len(reference) < _LEAST_PREFIX or not found:
        return None
    if len(found) > 1:
        raise ConfigError(f"{reference!r} is the beginning of several runs", hint=run_names(found))
    return found[0]


def run_names(runs: Sequence[KeptRun]) -> str:
    """Return the ids of the newest runs, the newest first."""
    return ", ".join(run.run_id for run in reversed(runs[-_NAMED:]))
