"""A row of figures as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from poor_bench.statistics.summary import Summary


def summary_to_json(summary: Summary) -> dict[str, Any]:
    """Return every figure of a summary under its name; intervals as low and high."""
    record = asdict(summary)
    return {**record.pop("group"), **record, "scored_share": summary.scored_share}
