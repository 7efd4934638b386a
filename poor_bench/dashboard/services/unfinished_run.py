"""What is left of a run that was cancelled or whose process was killed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from poor_bench.runner.trial_states import TrialName

if TYPE_CHECKING:
    from poor_bench.results.table import ResultTable
    from poor_bench.runner.plan import Plan
    from poor_bench.runner.selection import Selection


def select_rest(selection: Selection, plan: Plan, table: ResultTable, run_id: str) -> Selection:
    """Select what a run has not completed, with the same options.

    A run of pending trials is its own rest: what it completed is not pending any more. A run that
    repeats completed trials must not repeat its own.

    Args:
        selection: Of the run.
        plan: What the whole selection asks now.
        table: The stored results.
        run_id: Of the run.
    """
    if not selection.force and selection.only is None:
        return selection
    planned = {
        TrialName(item.llm.id, item.test.test_id, item.trial)
        for work in plan.works
        for item in work.items()
    }
    rest = planned - _find_completed(table, run_id)
    return replace(selection, force=False, only=frozenset(rest))


def _find_completed(table: ResultTable, run_id: str) -> set[TrialName]:
    is_completed = table.find_entries("run_id", lambda value: value == run_id) & table.is_scored
    rows = np.flatnonzero(is_completed).tolist()
    return {TrialName(table.value("llm_id", row), *table.key(row)[:2]) for row in rows}
