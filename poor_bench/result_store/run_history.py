"""The kept runs of a store: when each was, what it measured, and on which machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poor_bench.result_store.journal import read_header
from poor_bench.result_store.paths import StorePaths


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRun:
    """One run that is over; `read_results_file(path)` returns its results."""

    run_id: str
    path: Path
    header: Mapping[str, Any]
    """What is known of the run as a whole; empty where its first line is not readable."""

    @property
    def started(self) -> str:
        """When it began, ISO 8601; empty where it is not known."""
        return str(self.header.get("started", ""))

    @property
    def age(self) -> tuple[str, str, str]:
        """What sorts runs by time: ids tell seconds, headers milliseconds."""
        return self.run_id.partition("-")[0], self.started, self.run_id


def kept_runs(paths: StorePaths) -> list[KeptRun]:
    """Return the kept runs, oldest first."""
    runs = [KeptRun(run_id=path.stem, path=path, header=read_header(path)) for path in paths.runs()]
    return sorted(runs, key=lambda run: run.age)
