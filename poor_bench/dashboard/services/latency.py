"""Where the time of an LLM goes: means over its scored trials."""

from __future__ import annotations

from dataclasses import dataclass

from poor_bench.dashboard.services.result_table import ResultTable


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencySplit:
    """Mean milliseconds of the trials that tell; loading the model stands apart."""

    load_ms: float | None
    """The longest, not the mean: only the first trial waits for it."""
    queue_ms: float
    prefill_ms: float
    """Reading the prompt."""
    decode_ms: float
    """Generating, thinking included."""
    other_ms: float
    """What is left of the execution time: network, server."""


def latency_split(table: ResultTable, llm_id: str) -> LatencySplit | None:
    """Return where the time of an LLM goes; None where no trial tells."""
    import numpy as np

    rows = table.rows_of(llm_id)
    rows = rows[~np.isnan(table.numbers["score"][rows])]
    rows = rows[~np.isnan(table.numbers["decode_ms"][rows])]
    rows = rows[~np.isnan(table.numbers["execution_time_ms"][rows])]
    if not len(rows):
        return None
    queue, prefill, decode, total = (
        float(np.nan_to_num(table.numbers[name][rows]).mean())
        for name in ("queue_ms", "prefill_ms", "decode_ms", "execution_time_ms")
    )
    loads = table.numbers["load_ms"][rows]
    loads = loads[~np.isnan(loads)]
    return LatencySplit(
        load_ms=float(loads.max()) if len(loads) else None,
        queue_ms=queue,
        prefill_ms=prefill,
        decode_ms=decode,
        other_ms=max(0.0, total - queue - prefill - decode),
    )
