"""Stored judged runs and pairwise comparisons: two kinds of run, each an append-only journal.

```
judgements/<run id>.jsonl             header, then each conversation and judgement as it ends
judgements/pairwise/<run id>.jsonl    header, then each compared pair
```
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from poor_bench.errors import ConfigError
from poor_bench.judge.conversation import Conversation
from poor_bench.judge.judged_run import JudgeRun, RunHeader, add_record
from poor_bench.judge.judgement import Judgement
from poor_bench.judge.pairwise_results import PairComparison, PairOutcome
from poor_bench.messages import describe_invalid
from poor_bench.models.completion import sum_known
from poor_bench.runs.history import LAST, RunHistory, RunKind, StoredRun
from poor_bench.runs.journal import JournalWriter

_LOG = logging.getLogger(__name__)
JUDGED_RUNS = RunKind(
    name="judged run",
    folders=("judgements",),
    command="judge run AGENT",
    row_keys=frozenset({"conversation", "judgement"}),
    count_planned=lambda header: (
        int(header.get("n_cases", 0)) + len(header.get("judges", ())) * int(header.get("repeat", 1))
    ),
    describe=lambda header: str(header.get("agent_id", "")),
)
PAIRWISE_RUNS = RunKind(
    name="comparison",
    folders=("judgements/pairwise",),
    command="judge pairwise A B",
    row_keys=frozenset({"duel"}),
    count_planned=lambda header: header.get("n_duels"),
    describe=lambda header: f"{header.get('a', '')} and {header.get('b', '')}",
)


@dataclass(frozen=True, slots=True)
class RunWriter:
    """Appends results of a run at once; thread-safe."""

    journal: JournalWriter

    def add_conversation(self, conversation: Conversation) -> None:
        """Append a conversation.

        Raises:
            StoreError: If it could not be stored.
        """
        self.journal.append_record({"conversation": conversation.as_dict()})

    def add_judgement(self, judgement: Judgement) -> None:
        """Append a judgement.

        Raises:
            StoreError: If it could not be stored.
        """
        self.journal.append_record({"judgement": judgement.as_dict()})

    def resume(self, now_iso: str) -> None:
        """Append that the run goes on; what failed before is then tried again.

        Raises:
            StoreError: If it could not be stored.
        """
        self.journal.append_record({"resumed": now_iso})

    def end(self, now_iso: str) -> None:
        """Append the end of the run.

        Raises:
            StoreError: If it could not be stored.
        """
        self.journal.append_record({"ended": now_iso})


class JudgementStore:
    """The judged runs of one workspace."""

    def __init__(self, data_dir: Path) -> None:
        self.history = RunHistory(data_dir, JUDGED_RUNS)

    @contextmanager
    def writing(self, header: RunHeader, *, resumes: bool = False) -> Iterator[RunWriter]:
        """Open the journal of a run while it is running.

        Args:
            header: Of the run.
            resumes: True to go on with the stored run of that id.

        Raises:
            StoreError: If it cannot be written.
        """
        record = None if resumes else asdict(header)
        with self.history.writing(header.run_id, record) as journal:
            yield RunWriter(journal)

    def runs(self, agent_id: str | None = None) -> list[JudgeRun]:
        """Read all runs, or those of one agent, oldest first.

        Raises:
            StoreError: If a file cannot be read.
        """
        read = (
            _read_judged(run)
            for run in self.history.runs()
            if agent_id is None or run.header.get("agent_id") == agent_id
        )
        return [run for run in read if run is not None]

    def find(self, reference: str) -> JudgeRun:
        """Find a run by reference.

        Args:
            reference: An agent's id (its newest run), or as in `RunHistory.find`.

        Raises:
            ConfigError: If it stands for no run, or for several.
            StoreError: If a file cannot be read.
        """

        def is_of_agent(run: StoredRun) -> bool:
            return run.header.get("agent_id") == reference

        if any(map(is_of_agent, self.history.runs())):
            return _require(_read_judged(self.history.find(LAST, is_of_agent)), reference)
        found = self.history.find(reference, lambda run: "agent_id" in run.header)
        return _require(_read_judged(found), reference)

    def is_under_way(self, run_id: str) -> bool:
        """True if a process is working on the run."""
        return self.history.running(lambda run: run.run_id == run_id) is not None

    def under_way(self) -> str:
        """Id of a run that a process is working on; empty if none."""
        run = self.history.running()
        return run.run_id if run else ""


def _read_judged(stored: StoredRun) -> JudgeRun | None:
    try:
        run = JudgeRun(header=_build_header_reader().validate_python(stored.header))
    except ValueError as error:
        _LOG.warning("%s is skipped: %s", stored.path, describe_invalid(error))
        return None
    for record in stored.records():
        try:
            run = add_record(run, record)
        except ValueError as error:
            _LOG.warning("%s: a line is skipped: %s", stored.path, describe_invalid(error))
    return run


@cache
def _build_header_reader() -> TypeAdapter[RunHeader]:
    return TypeAdapter(RunHeader)


def _require(run: JudgeRun | None, reference: str) -> JudgeRun:
    if run is None:
        raise ConfigError(f"{reference!r} is not a judged run: its first line is not readable")
    return run


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPairwise:
    """Two runs and the comparisons of their conversations, as far as they were made."""

    run_id: str
    """Unique; sorts by time."""
    a_run_id: str
    b_run_id: str
    comparisons: tuple[PairComparison, ...]
    n_planned: int
    """Pairs of the whole comparison: more than were made if it was interrupted."""
    judges: tuple[str, ...] = ()
    """LLM ids; those of the comparisons in files of older versions."""
    n_again: int = 0
    """Pairs to be asked about twice in each order."""

    @property
    def n_failed(self) -> int:
        """Number of comparisons without a result."""
        return len(self.comparisons) - len(self.judged)

    @property
    def cost_usd(self) -> float | None:
        """Of comparisons whose cost is known; None if none is."""
        return sum_known(comparison.cost_usd for comparison in self.comparisons)

    @property
    def judged(self) -> tuple[PairComparison, ...]:
        """The comparisons that came to a result; a resumed run makes the others again."""
        return tuple(
            comparison
            for comparison in self.comparisons
            if comparison.outcome is not PairOutcome.FAILED
        )


class PairwiseStore:
    """The pairwise comparisons of one workspace."""

    def __init__(self, data_dir: Path) -> None:
        self.history = RunHistory(data_dir, PAIRWISE_RUNS)

    @contextmanager
    def writing(
        self, run_id: str, header: Mapping[str, Any] | None
    ) -> Iterator[Callable[[PairComparison], None]]:
        """Open a comparison for writing; yield a function that stores each pair at once.

        Args:
            run_id: Unique, sorts by time, usable as a file name.
            header: Ids of the runs `a` and `b`, `judges`, `n_duels`, the number of planned
                comparisons, and `n_again`, as in `PairwiseRun`; None resumes a stored run.

        Raises:
            StoreError: If it cannot be written.
        """
        record = None if header is None else {"run_id": run_id, **header}
        with self.history.writing(run_id, record) as journal:
            yield lambda comparison: journal.append_record(
                {"duel": {**asdict(comparison), "outcome": comparison.outcome.value}}
            )

    def runs(self) -> list[StoredPairwise]:
        """Read all comparisons, oldest first; unreadable ones are skipped.

        Raises:
            StoreError: If a file cannot be read.
        """
        read = map(_read_pairwise, self.history.runs())
        return [run for run in read if run is not None]

    def find(self, reference: str) -> StoredPairwise:
        """Find a comparison as `RunHistory.find` does.

        Raises:
            ConfigError: If it names no comparison, or several.
            StoreError: If a file cannot be read.
        """
        found = _read_pairwise(self.history.find(reference, lambda run: "a" in run.header))
        if found is None:
            raise ConfigError(f"the comparison {reference!r} is not readable")
        return found


def _read_pairwise(stored: StoredRun) -> StoredPairwise | None:
    header = stored.header
    try:
        # Of two comparisons of the same pair by the same judge, the later one replaces the other.
        comparisons = {
            (comparison.judge, comparison.case_id): comparison
            for record in stored.records()
            if "duel" in record
            for comparison in [_build_comparison_reader().validate_python(record["duel"])]
        }
        return StoredPairwise(
            run_id=stored.run_id,
            a_run_id=str(header["a"]),
            b_run_id=str(header["b"]),
            comparisons=tuple(comparisons.values()),
            n_planned=int(header.get("n_duels", len(comparisons))),
            judges=tuple(header.get("judges") or dict.fromkeys(judge for judge, _ in comparisons)),
            n_again=int(header.get("n_again", 0)),
        )
    except (KeyError, TypeError, ValueError) as error:
        _LOG.warning("%s is skipped: %s", stored.path, describe_invalid(error))
        return None


@cache
def _build_comparison_reader() -> TypeAdapter[PairComparison]:
    return TypeAdapter(PairComparison)
