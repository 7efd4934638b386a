"""Stored re-runs of autopsies: a kind of run of their own, apart from the user's results.

```
autopsies/<run id>.jsonl    {"run":{"run_id":"20261123T0130-3f2a91","key":"5d41402a", ...}}
                            {"rerun":{"name":"math_001 0101 1","score":1.0, ...}}
```
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from poor_bench.runs.history import RunHistory, RunKind, new_run_id
from poor_bench.runs.journal import JournalWriter

AUTOPSIES = RunKind(
    name="autopsy",
    folders=("autopsies",),
    command="compare --why",
    row_keys=frozenset({"rerun"}),
    count_planned=lambda header: header.get("n_items"),
    describe=lambda header: f"why {header.get('llm', '')} changed",
)


class StoredReruns:
    """The re-runs of one autopsy so far, by name, and where further ones go."""

    def __init__(self, journal: JournalWriter, known: dict[str, dict[str, Any]]) -> None:
        self._journal = journal
        self._known = known

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def __len__(self) -> int:
        return len(self._known)

    def score(self, name: str) -> float | None:
        """Score of a re-run; None if it is not stored."""
        record = self._known.get(name)
        return None if record is None else float(record["score"])

    def digests(self) -> set[str]:
        """Model digests of all re-runs."""
        return {str(each["model_digest"]) for each in self._known.values() if each["model_digest"]}

    def add(self, record: dict[str, Any]) -> None:
        """Store a re-run.

        Raises:
            StoreError: If it could not be stored.
        """
        self._journal.append_record({"rerun": record})
        self._known[record["name"]] = record


@contextmanager
def open_reruns(
    data_dir: Path, key: str, now_iso: str, header: Mapping[str, Any]
) -> Iterator[StoredReruns]:
    """Go on with the autopsy that has this key, or start it.

    Args:
        data_dir: Folder of the workspace.
        key: Names the two runs and all that changed between them.
        now_iso: The present moment, ISO 8601.
        header: Facts about a new autopsy.

    Raises:
        StoreError: If it cannot be read or written, or another process is making it.
    """
    history = RunHistory(data_dir, AUTOPSIES)
    found = [run for run in history.runs() if run.header.get("key") == key]
    run_id = found[-1].run_id if found else new_run_id(now_iso)
    told = None if found else {"run_id": run_id, "started": now_iso, "key": key, **header}
    known: dict[str, dict[str, Any]] = {}
    for record in found[-1].records() if found else ():
        rerun = record.get("rerun")
        if isinstance(rerun, dict) and isinstance(rerun.get("score"), int | float):
            known[str(rerun.get("name"))] = rerun
    with history.writing(run_id, told) as journal:
        yield StoredReruns(journal, known)
