"""What the time of an LLM goes into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from poor_bench.statistics.effort import TrialTimes, time_parts

if TYPE_CHECKING:
    from poor_bench.dashboard.services.result_table import ResultTable

_TIMES = ("execution_time_ms", "queue_ms", "prefill_ms", "decode_ms")


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSplit:
    """Mean milliseconds per scored trial that tells the time; each figure says over how many."""

    mean_ms: float
    """Time from request to last byte, without loading, over `n_timed` trials."""
    n_timed: int
    n: int
    """Trials that tell the parts of their time; the parts below are means over these alone."""
    queue_ms: float
    prefill_ms: float
    """Reading the prompt."""
    decode_ms: float
    """Generating, thinking included."""
    other_ms: float
    """What remains of these trials' time: network; all of it where no trial tells parts."""
    load_ms: float | None
    """Loading the model, over `n_loads` trials that waited for it; None where none did."""
    n_loads: int

    @property
    def execution_ms(self) -> float:
        """All parts together."""
        return self.queue_ms + self.prefill_ms + self.decode_ms + self.other_ms


def time_split(table: ResultTable, llm_id: str) -> TimeSplit | None:
    """Return the mean times of an LLM; None where no scored trial says how long it took."""
    import numpy as np

    rows = table.rows_of(llm_id)
    total = table.numbers["execution_time_ms"][rows]
    rows = rows[~np.isnan(total) & ~np.isnan(table.numbers["score"][rows])]
    if not len(rows):
        return None
    columns = [table.numbers[name][rows].tolist() for name in _TIMES]
    parts = time_parts(TrialTimes(*times) for times in zip(*columns, strict=True))
    mean_ms = float(np.mean(table.numbers["execution_time_ms"][rows]))
    loads = table.numbers["load_ms"][rows]
    loads = loads[loads > 0]
    return TimeSplit(
        mean_ms=mean_ms,
        n_timed=len(rows),
        n=parts.n if parts else 0,
        queue_ms=parts.queue_ms if parts else 0.0,
        prefill_ms=parts.prefill_ms if parts else 0.0,
        decode_ms=parts.generating_ms if parts else 0.0,
        other_ms=parts.other_ms if parts else mean_ms,
        load_ms=float(loads.mean()) if len(loads) else None,
        n_loads=len(loads),
    )
