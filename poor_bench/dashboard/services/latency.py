"""Where the time of an LLM goes: means over its scored trials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from poor_bench.dashboard.services.time_split import time_split

if TYPE_CHECKING:
    from poor_bench.dashboard.services.result_table import ResultTable


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencySplit:
    """Mean milliseconds of the trials that tell; loading the model stands apart."""

    n: int
    """How many tell."""
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
    split = time_split(table, llm_id)
    if split is None or not split.n:
        return None
    loads = [ms for ms in table.numbers["load_ms"][table.rows_of(llm_id)].tolist() if ms > 0]
    return LatencySplit(
        n=split.n,
        load_ms=max(loads, default=None),
        queue_ms=split.queue_ms,
        prefill_ms=split.prefill_ms,
        decode_ms=split.decode_ms,
        other_ms=split.other_ms,
    )
