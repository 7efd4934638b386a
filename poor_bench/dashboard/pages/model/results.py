"""The results table: columns and rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from poor_bench.dashboard.pages.model.query import row_id
from poor_bench.dashboard.services.result_table import ResultTable
from poor_bench.dashboard.text.safe_markdown import one_line_markdown
from poor_bench.dashboard.text.think_text import think_to_text
from poor_bench.models.test import Test

COLUMNS: tuple[dict[str, Any], ...] = (
    {
        "field": "test_id",
        "headerName": "Test ID",
        "cellClass": "whole-text",
        "minWidth": 250,
        "flex": 3,
        "tooltipField": "test_id",
    },
    {"field": "score", "headerName": "Score", "cellRenderer": "Score", "width": 96},
    {
        "field": "test_category",
        "headerName": "Test Category",
        "cellClass": "whole-text",
        "minWidth": 160,
        "flex": 2,
    },
    {
        "field": "execution_time",
        "headerName": "Execution Time",
        "type": "rightAligned",
        "width": 116,
        "valueFormatter": {
            "function": "params.value == null ? '-' : d3.format(',.2f')(params.value) + ' s'"
        },
    },
    {
        "field": "details",
        "headerName": "Details",
        "cellRenderer": "markdown",
        "cellClass": "details-cell",
        "minWidth": 200,
        "flex": 5,
        "sortable": False,
    },
    {"field": "think", "headerName": "Think", "width": 88},
)
CSV_COLUMNS = (
    ("test_id", "Test ID"), ("score", "Score"), ("test_category", "Test Category"),
    ("execution_time", "Execution Time"), ("details", "Details"), ("think", "Think"),
    ("level", "Level"), ("trial", "Trial"), ("failure", "Failure"), ("response", "Response"),
)  # fmt: skip


def result_rows(
    table: ResultTable, tests: Mapping[str, Test], rows: Iterable[int]
) -> list[dict[str, Any]]:
    """Return what the table shows of some results; details are harmless Markdown on one line."""
    chosen = [int(row) for row in rows]
    records = table.records(chosen)
    return [
        _common(table, tests, row)
        | {"details": one_line_markdown(_details(record)), "id": row_id(table.key(row))}
        for row, record in zip(chosen, records, strict=True)
    ]


def csv_rows(
    table: ResultTable, tests: Mapping[str, Test], rows: Iterable[int]
) -> Iterable[dict[str, Any]]:
    """Yield the same with all texts as they are."""
    for row in rows:
        [record] = table.records([int(row)])
        test = tests.get(record["test_id"])
        failure = record.get("failure")
        yield _common(table, tests, int(row)) | {
            "details": record.get("details", ""),
            "level": test.level if test else None,
            "failure": failure["message"] if failure else "",
            "response": record.get("response", ""),
        }


def _common(table: ResultTable, tests: Mapping[str, Test], row: int) -> dict[str, Any]:
    key = table.key(row)
    test = tests.get(key.test_id)
    time_ms = table.number("execution_time_ms", row)
    return {
        "test_id": key.test_id,
        "trial": key.trial,
        "is_failure": key.is_failure,
        "score": table.number("score", row),
        "test_category": test.class_id if test else "(removed)",
        "execution_time": None if time_ms is None else time_ms / 1000,
        "think": think_to_text(table.value("think", row)),
    }


def _details(record: Mapping[str, Any]) -> str:
    failure = record.get("failure")
    if failure:
        return f"Failed to run ({failure['kind']}): {failure['message']}"
    return str(record.get("details", ""))
