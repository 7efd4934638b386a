"""Random run files as several machines leave them, and what they come to."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from poor_bench.models.result import Result, result_to_record
from poor_bench.results.incoming import Incoming, find_run_files
from poor_bench.results.store import ResultStore
from poor_bench.runs.journal import add_checksum, dump_record
from tests.results.builders import make_failure, make_result, open_test_store

OTHER = "other prompt"
_LLMS, _TESTS = ("a:x", "b:y"), ("t1", "t2", "t\u2028 3")


class History(NamedTuple):
    """Files of runs, some of which are copies of each other."""

    files: list[Path]
    lines: dict[str, set[bytes]]
    """Run id to its lines that at least one file holds whole."""


def find_fault(result: Result) -> str:
    return OTHER if result.request_fingerprint == OTHER else ""


def write_history(folder: Path, rng: random.Random) -> History:
    """Write one to three runs, each in one to three copies that were cut, damaged or reordered."""
    files, lines = [], dict[str, set[bytes]]()
    for number in range(rng.randint(1, 3)):
        # clocks are wrong: any run may be the newest, whatever its results say
        run_id = f"20{rng.randint(10, 60)}0101T000000-{number:06x}"
        rows = [_make_line(rng, run_id) for _ in range(rng.randint(1, 6))]
        for copy in range(rng.randint(1, 3)):
            path = folder / f"{number}-{copy}" / f"{run_id}.jsonl"
            path.parent.mkdir(parents=True)
            kept = _write_copy(path, run_id, rows, rng)
            if kept:
                lines.setdefault(run_id, set()).update(kept)
                files.append(path)
    return History(files, lines)


def _make_line(rng: random.Random, run_id: str) -> bytes:
    fields: dict[str, Any] = {
        "run_id": run_id,
        "timestamp": f"20{rng.randint(10, 60)}-01-01T00:00:00+00:00",
        "trial": rng.randint(1, 2),
        "request_fingerprint": rng.choice(["", "", "", OTHER]),
        "response": f"{rng.random()}",
    }
    if rng.random() < 0.3:
        fields["failure"] = make_failure()
    else:
        fields["score"] = rng.choice([0.0, 0.5, 1.0])
    result = make_result(rng.choice(_TESTS), rng.choice(_LLMS), **fields)
    return add_checksum(dump_record(result_to_record(result)))


def _write_copy(path: Path, run_id: str, rows: list[bytes], rng: random.Random) -> list[bytes]:
    """Write a copy of a run; return the lines that are whole in it."""
    kept = rows[: rng.randint(1, len(rows))]
    content = [add_checksum(dump_record({"run": {"run_id": run_id}})), *kept]
    if rng.random() < 0.2:
        damaged = rng.randrange(len(kept))
        content[damaged + 1] = content[damaged + 1].replace(b"timestamp", b"timestomp")
        kept = kept[:damaged] + kept[damaged + 1 :]
    torn = rng.choice([b"", b"", rows[-1][: rng.randint(1, 40)]])
    path.write_bytes(b"\n".join(content) + b"\n" + torn)
    return kept


def merge_files(store: ResultStore, files: list[Path]) -> None:
    Incoming(store, find_run_files(files).files, find_fault).take()


def read_folder(folder: Path) -> dict[str, bytes]:
    """Read the results file and all run files of a store."""
    paths = [folder / "results.json", *folder.glob("*/*.jsonl")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths if path.exists()}


def merge_and_die_at(step: int, to: Path, source: Path) -> None:
    """Merge in a process that is killed before such a step of its writes."""
    n_left = [step]

    def counted(change: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **named: Any) -> Any:
            if not n_left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            n_left[0] -= 1
            return change(*args, **named)

        return run

    for owner, name in ((os, "fsync"), (os, "utime"), (Path, "replace"), (Path, "unlink")):
        setattr(owner, name, counted(getattr(owner, name)))
    merge_files(open_test_store(to), [source])
