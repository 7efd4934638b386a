"""Stored searches: one kind of run, whose journal tells every step.

```
tuning/<run id>.jsonl    {"run":{"run_id":"20261122T025007-3f2a91","kind":"prompt", ...}}
                         {"attempt":{"text":"5d41402a","case_id":"math_001","score":1.0}}
```
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from poor_bench.calls.budget import Budget, SpendingLimits, require_prices
from poor_bench.errors import CallLimitError, CostLimitError, RunCancelledError, StoreError
from poor_bench.models.completion import sum_known
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.runs.history import RunHistory, RunKind, StoredRun, make_run_id, read_stored_runs
from poor_bench.runs.journal import JournalWriter

if TYPE_CHECKING:
    from poor_bench.llm_manager import LLMManager
    from poor_bench.pool.control import RunControl


SEARCHES = RunKind(
    name="search",
    folders=("tuning",),
    command="tune prompt CLASS --llm ID",
    row_keys=frozenset({"attempt", "rung"}),
    count_planned=lambda _header: None,
    describe=lambda header: _describe(str(header.get("kind", "")), str(header.get("name", ""))),
)


def _describe(kind: str, name: str) -> str:
    """Name a search; the name of a search for a prompt says its kind already."""
    return name if kind in name else f"{kind} {name}".strip()


class StopReason(StrEnum):
    """Reason for the end of a search."""

    FINISHED = "finished"
    """Everything planned was run."""
    THRESHOLD = "threshold"
    """The target score is reached."""
    NO_GAIN = "no_gain"
    """No gain in the last rounds."""
    BUDGET = "budget"
    """The call budget is used up."""
    COST = "cost"
    """The next step would exceed the cost limit."""
    LLM_FAILED = "llm_failed"
    """A model cannot be reached, or its answers cannot be scored."""
    CANCELLED = "cancelled"
    """The user stopped it, or its process was killed."""
    RUNNING = "running"
    """It has not ended."""

    @property
    def can_go_on(self) -> bool:
        """True if the same search can continue."""
        return self in _UNFINISHED


_UNFINISHED = frozenset(
    {StopReason.BUDGET, StopReason.COST, StopReason.LLM_FAILED, StopReason.CANCELLED}
)


class SearchStoppedError(Exception):
    """A search cannot continue; its results so far are stored.

    Attributes:
        reason: Why.
    """

    def __init__(self, reason: StopReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def find_reason(error: Exception) -> StopReason | None:
    """Find the reason for which an error ends a search; None if it is an error of its own."""
    match error:
        case SearchStoppedError():
            return error.reason
        case CallLimitError():
            return StopReason.BUDGET
        case CostLimitError():
            return StopReason.COST
        case RunCancelledError():
            return StopReason.CANCELLED
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchTools:
    """Manager, budget, journal and control of one search."""

    manager: LLMManager
    budget: Budget
    """Counts money and calls; the manager's."""
    file: TuningFile
    control: RunControl


def open_budget(
    limits: SpendingLimits,
    manager: LLMManager,
    llms: Iterable[LLM],
    *,
    spent_usd: float = 0.0,
    n_calls: int = 0,
) -> Budget:
    """Let a manager spend what is left of the limits of a search.

    Args:
        limits: SpendingLimits of the whole search.
        manager: Asks the models.
        llms: All models that may be asked.
        spent_usd: What the search has spent before.
        n_calls: Calls that it has made before.

    Raises:
        ConfigError: If money is limited and one of the models has no prices.
    """
    if limits.cost_usd is not None:
        require_prices(llms, manager.is_local)
    most_usd = math.inf if limits.cost_usd is None else limits.cost_usd
    budget = Budget(most_usd, limits.n_calls, spent_usd=spent_usd, n_calls=n_calls)
    manager.budget = budget
    return budget


def sum_result_cost(result: Result) -> float | None:
    """Cost of answer and judge in US dollars; None if neither has a price."""
    return sum_known((result.cost_usd, result.judge_cost_usd))


def count_calls(result: Result) -> int:
    """Number of requests for a result: one, and one for its judge."""
    return 1 if result.judgement is None else 2


class TuningLine(NamedTuple):
    """One line behind the header."""

    kind: str
    content: dict[str, Any]


class TuningFile:
    """Appends to the journal of a search; one process at a time, any number of threads."""

    def __init__(self, path: Path, header: Mapping[str, Any] | None = None) -> None:
        """Make the journal with its header, or open the one there is where no header is given.

        Raises:
            StoreError: If it cannot be written, or another process writes to it.
        """
        self.path = path
        self._journal = JournalWriter(path, header, fsync_interval_s=0.0)

    def append(self, kind: str, content: Mapping[str, Any]) -> None:
        """Store one line so that it survives the end of the process.

        Raises:
            StoreError: If it could not be stored; what was stored before stays as it was.
        """
        self._journal.append_record({kind: dict(content)})

    def close(self) -> None:
        """Close the journal."""
        self._journal.close()


def start_file(data_dir: Path, now_iso: str, facts: Mapping[str, Any]) -> TuningFile:
    """Start the journal of a new search.

    Args:
        data_dir: Folder of the workspace.
        now_iso: The present moment, ISO 8601.
        facts: The header but for id and start.

    Raises:
        StoreError: If it cannot be written.
    """
    run_id = make_run_id(now_iso)
    header = {"run_id": run_id, "started": now_iso, **facts}
    return TuningFile(RunHistory(data_dir, SEARCHES).path(run_id), header)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSearch(StoredRun):
    """One stored search; its kind is `prompt` or `params`."""

    lines: tuple[TuningLine, ...]

    def require(self, *names: str) -> None:
        """Check that the header holds some facts.

        Raises:
            StoreError: If one is missing, because the first line of the file is damaged.
        """
        missing = [name for name in names if name not in self.header]
        if missing:
            raise StoreError(
                f"{self.path} has no readable header: `{missing[0]}` is missing",
                hint="Delete the file, or restore it from a backup.",
            )

    @property
    def reason(self) -> StopReason:
        """Why it ended; `CANCELLED` if its process was killed."""
        end = self.last("end") or {}
        is_running = self.is_running
        return StopReason.RUNNING if is_running else StopReason(end.get("reason", "cancelled"))

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """Records of one kind, oldest first."""
        return [line.content for line in self.lines if line.kind == kind]

    def last(self, kind: str) -> dict[str, Any] | None:
        """Newest record of one kind, or None."""
        found = self.of_kind(kind)
        return found[-1] if found else None


def list_searches(data_dir: Path) -> list[KeptSearch]:
    """List the searches of a workspace, oldest first.

    Raises:
        StoreError: If one cannot be read.
    """
    return [_read(run) for run in RunHistory(data_dir, SEARCHES).runs()]


def read_search(path: Path) -> KeptSearch:
    """Read one search.

    Raises:
        StoreError: If its file cannot be read.
    """
    [run] = read_stored_runs([path])
    return _read(run)


def find_search(data_dir: Path, reference: str, kind: str = "") -> KeptSearch:
    """Find a search as `RunHistory.find` does.

    Args:
        data_dir: Folder of the workspace.
        reference: `last`, `previous`, or the id of a search or its beginning.
        kind: What kind it must be of; empty for any.

    Raises:
        ConfigError: If no search, or more than one, matches.
        StoreError: If it cannot be read.
    """
    history = RunHistory(data_dir, SEARCHES)
    return _read(history.find(reference, lambda run: kind in {"", run.kind}))


def _read(run: StoredRun) -> KeptSearch:
    lines = (next(iter(record.items())) for record in run.records() if len(record) == 1)
    found = tuple(TuningLine(kind, content) for kind, content in lines if isinstance(content, dict))
    return KeptSearch(run_id=run.run_id, path=run.path, header=run.header, lines=found)
