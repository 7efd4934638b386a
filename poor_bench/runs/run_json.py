"""What JSON output says of a run or a plan of any kind, the same for all kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poor_bench.runs.history import RunFollower, RunProgress

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poor_bench.runs.history import RunHistory, RunKind, StoredRun


def run_to_row(kind: RunKind, run: StoredRun) -> dict[str, Any]:
    """Convert what is known of a run without reading it; running ones say how far they are."""
    row = {
        "run_id": run.run_id,
        "kind": kind.name,
        "what": kind.describe(run.header),
        "started": run.started,
        "is_running": run.is_running,
    }
    return row | _count(RunFollower(kind, run).progress()) if row["is_running"] else row


def run_to_json(
    history: RunHistory, run_id: str, *, n_failed: int, cost_usd: float | None
) -> dict[str, Any]:
    """Convert a run that ended here for the key `run` of JSON output.

    Args:
        history: The runs of its kind.
        run_id: The run.
        n_failed: Pieces of work that failed to run; the model is not to blame for them.
        cost_usd: Of requests whose cost is known; None if none is.

    Raises:
        StoreError: If its journal cannot be read.
    """
    run = history.read(run_id)
    counts = _count(RunFollower(history.kind, run).progress())
    ended = {"n_failed": n_failed, "cost_usd": cost_usd}
    return {**run_to_row(history.kind, run), **counts, **ended}


def plan_to_json(
    kind: RunKind, header: Mapping[str, Any], *, n_planned: int | None, cost_usd: float | None
) -> dict[str, Any]:
    """Convert the plan of a run for the key `plan` of JSON output.

    Args:
        kind: Of the run.
        header: What it is about: the keys of its header that `RunKind.describe` reads.
        n_planned: Pieces of work that are left; None if that turns out on the way.
        cost_usd: Estimated or highest cost; None if it cannot be told before.
    """
    facts = {"n_planned": n_planned, "estimated_cost_usd": cost_usd}
    return {"kind": kind.name, "what": kind.describe(header), **facts}


def _count(progress: RunProgress) -> dict[str, Any]:
    return {"n_done": progress.n_done, "n_planned": progress.n_planned}
