"""How reliable an LLM is where its tests were tried several times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poor_bench.statistics.repeats import Reliability, reliability, usual_trials

if TYPE_CHECKING:
    from poor_bench.dashboard.services.result_table import ResultTable


def reliability_of(table: ResultTable, llm_id: str) -> Reliability | None:
    """Return pass@k, pass^k and flip rate of an LLM; None where no test was tried twice.

    k is the usual number of trials of a test.
    """
    rows = table.rows_of(llm_id)
    if not len(rows) or table.integers["trial"][rows].max() < 2:
        return None
    trials = list(table.light(rows))
    k = usual_trials(trials)
    return reliability(trials, k=k)[0] if k else None
