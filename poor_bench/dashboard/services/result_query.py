"""Which results a table shows, and in which order: filters and sorting over columns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from poor_bench.dashboard.services.result_order import SortKey, TestPlaces, ordered
from poor_bench.dashboard.text.formatting import think_to_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.dashboard.services.result_table import ResultTable
    from poor_bench.models.test import Test

PASS_SCORE = 1.0


class Outcome(StrEnum):
    """How a trial ended."""

    PASSED = "passed"
    NOT_PASSED = "not_passed"
    FAILED_TO_RUN = "failed_to_run"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultQuery:
    """Filters of one LLM's results; an empty filter lets everything through."""

    llm_id: str
    classes: frozenset[str] = frozenset()
    levels: frozenset[int] = frozenset()
    thinks: frozenset[str] = frozenset()
    """Think parameters as text: "on", "off", "low", ..."""
    outcomes: frozenset[Outcome] = frozenset()
    issue: str = ""
    """Id of the detector that found something; empty for all."""
    text: str = ""
    """Looked for in test ids, details, responses and thinking, in any case."""
    sort: SortKey = SortKey.FILE
    descending: bool = False


def find_rows(
    table: ResultTable,
    tests: Mapping[str, Test],
    query: ResultQuery,
    concerned: Collection[tuple[str, int]] | None = None,
) -> NDArray[np.int64]:
    """Return the rows that a query finds, in its order; stable where values are equal.

    Args:
        table: All results.
        tests: Test id to test of the workspace.
        query: What is looked for.
        concerned: Test ids and trial numbers that have the issue of the query.
    """
    rows = table.rows_of(query.llm_id)
    places = TestPlaces(table, tests)
    if query.classes:
        rows = rows[_is_in(places.classes[table.codes["test_id"][rows]], query.classes)]
    if query.levels:
        rows = rows[_is_in(places.levels[table.codes["test_id"][rows]], query.levels)]
    if query.thinks:
        kept = [think_to_text(value) in query.thinks for value in table.values["think"]]
        rows = _with_codes(table, "think", kept, rows)
    if concerned is not None:
        rows = rows[_are_among(table, rows, concerned)]
    if query.outcomes:
        rows = rows[_has_outcome(table, rows, query.outcomes)]
    if query.text:
        rows = rows[table.holding(query.text)[rows]]
    return ordered(table, places, rows, query.sort, descending=query.descending)


def _is_in(values: NDArray[Any], wanted: frozenset[Any]) -> NDArray[np.bool_]:
    import numpy as np

    return np.isin(values.astype(str), [str(value) for value in wanted])


def _with_codes(
    table: ResultTable, field: str, kept: list[bool], rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    import numpy as np

    chosen: NDArray[np.int64] = rows[np.array(kept, dtype=np.bool_)[table.codes[field][rows]]]
    return chosen


def _are_among(
    table: ResultTable, rows: NDArray[np.int64], wanted: Collection[tuple[str, int]]
) -> NDArray[np.bool_]:
    import numpy as np

    keys = (table.key(row) for row in rows)
    return np.array([(key.test_id, key.trial) in wanted for key in keys], dtype=np.bool_)


def _has_outcome(
    table: ResultTable, rows: NDArray[np.int64], outcomes: frozenset[Outcome]
) -> NDArray[np.bool_]:
    import numpy as np

    score = table.numbers["score"][rows]
    is_failed = np.isnan(score)
    found = np.zeros(len(rows), dtype=np.bool_)
    if Outcome.PASSED in outcomes:
        found |= score >= PASS_SCORE
    if Outcome.NOT_PASSED in outcomes:
        found |= ~is_failed & (score < PASS_SCORE)
    if Outcome.FAILED_TO_RUN in outcomes:
        found |= is_failed
    return found
