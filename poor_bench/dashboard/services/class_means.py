"""How long a test of a class takes an LLM, and how many tokens: means over stored results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.dashboard.services.result_table import ResultTable
    from poor_bench.models.test import Test


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """Means over scored trials; None where no trial tells."""

    seconds: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


_UNKNOWN = Means()


class ClassMeans:
    """Means by LLM and class; a class without results of an LLM gets the LLM's overall means."""

    def __init__(self, table: ResultTable, tests: Mapping[str, Test]) -> None:
        import numpy as np

        self._known: dict[tuple[str, str | None], Means] = {}
        classes = [
            test.class_id if (test := tests.get(test_id)) else ""
            for test_id in table.values["test_id"]
        ]
        names, class_codes = np.unique(np.array(classes, dtype=str), return_inverse=True)
        of_row = class_codes[table.codes["test_id"]] if len(table) else np.zeros(0, dtype=np.int64)
        for llm_id in table.llm_ids:
            rows = table.rows_of(llm_id)
            self._known[llm_id, None] = _means(table, rows)
            for code, name in enumerate(names):
                self._known[llm_id, str(name)] = _means(table, rows[of_row[rows] == code])

    def of(self, llm_id: str, class_id: str) -> Means:
        """Return the means of an LLM for a class."""
        means = self._known.get((llm_id, class_id), _UNKNOWN)
        return means if means.seconds is not None else self._known.get((llm_id, None), _UNKNOWN)


def _means(table: ResultTable, rows: NDArray[np.int64]) -> Means:
    time_ms = _mean(table, "execution_time_ms", rows)
    prompt, completion = (_mean(table, f"{name}_tokens", rows) for name in ("prompt", "completion"))
    return Means(
        seconds=None if time_ms is None else time_ms / 1000,
        prompt_tokens=None if prompt is None else round(prompt),
        completion_tokens=None if completion is None else round(completion),
    )


def _mean(table: ResultTable, field: str, rows: NDArray[np.int64]) -> float | None:
    import numpy as np

    values = table.numbers[field][rows]
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else None
