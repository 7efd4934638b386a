"""What the time of an LLM goes into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from poor_bench.dashboard.services.result_table import ResultTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PARTS = ("load_ms", "queue_ms", "prefill_ms", "decode_ms")


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSplit:
    """Mean milliseconds per scored trial; 0.0 where no trial tells."""

    load_ms: float
    """Loading the model, which is not part of the execution time."""
    queue_ms: float
    prefill_ms: float
    """Reading the prompt."""
    decode_ms: float
    """Generating, thinking included."""
    other_ms: float
    """What remains of the execution time: network, and all where the server tells no parts."""

    @property
    def execution_ms(self) -> float:
        """Time from request to last byte, without loading."""
        return self.queue_ms + self.prefill_ms + self.decode_ms + self.other_ms


def time_split(table: ResultTable, llm_id: str) -> TimeSplit | None:
    """Return the mean times of an LLM; None where no scored trial says how long it took."""
    import numpy as np

    rows = table.rows_of(llm_id)
    total = table.numbers["execution_time_ms"][rows]
    rows = rows[~np.isnan(total) & ~np.isnan(table.numbers["score"][rows])]
    if not len(rows):
        return None
    parts = {name: _mean(table.numbers[name][rows]) for name in _PARTS}
    known = sum(parts.values()) - parts["load_ms"]
    execution_ms = _mean(table.numbers["execution_time_ms"][rows])
    return TimeSplit(**parts, other_ms=max(0.0, execution_ms - known))


def _mean(values: NDArray[np.float64]) -> float:
    import numpy as np

    return float(np.nan_to_num(values).mean())
