"""Runs of other processes, seen by the journals that they write."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from poor_bench.dashboard.services.run_state import LLMPhase, LLMProgress, RunPhase, RunState
from poor_bench.result_store.journal import is_owned, read_header, read_journal
from poor_bench.result_store.paths import StorePaths


def foreign_run(paths: StorePaths) -> RunState | None:
    """Return the newest run that some process is writing; None where there is none.

    Ask only while no run of this process is under way: its journal looks the same.
    """
    for path in reversed(paths.journals()):
        if is_owned(path):
            return _state_of(path)
    return None


def _state_of(path: Path) -> RunState:
    header = read_header(path)
    scored: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    score_sums: defaultdict[str, float] = defaultdict(float)
    with path.open("rb") as stream:
        for line in read_journal(stream, lambda _number: None):
            _count(line.record, scored, failed, score_sums)
    planned = header.get("llms")
    return RunState(
        phase=RunPhase.RUNNING,
        run_id=str(header.get("run_id", path.stem)),
        is_foreign=True,
        elapsed_s=_seconds_since(header.get("started")),
        llms=tuple(
            LLMProgress(
                llm_id=llm_id,
                n_items=n_items,
                n_scored=scored[llm_id],
                n_failed=failed[llm_id],
                score_sum=score_sums[llm_id],
                phase=_phase(scored[llm_id] + failed[llm_id], n_items),
            )
            for llm_id, n_items in (planned.items() if isinstance(planned, dict) else ())
        ),
    )


def _count(
    record: dict[str, Any], scored: Counter[str], failed: Counter[str], score_sums: dict[str, float]
) -> None:
    llm_id = str(record.get("llm_id", ""))
    if "failure" in record:
        failed[llm_id] += 1
    else:
        scored[llm_id] += 1
        score_sums[llm_id] += record.get("score") or 0.0


def _phase(n_done: int, n_items: int) -> LLMPhase:
    if n_done >= n_items:
        return LLMPhase.FINISHED
    return LLMPhase.RUNNING if n_done else LLMPhase.WAITING


def _seconds_since(started: object) -> float:
    try:
        return (datetime.now(UTC) - datetime.fromisoformat(str(started))).total_seconds()
    except (ValueError, TypeError):
        return 0.0
