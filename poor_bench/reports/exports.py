"""Formats of a report: one function for each, `(data, by) -> text`, registered in one table.

A function may yield the text in pieces instead, so that not all of it is in memory.

`report --format` offers the formats of `EXPORTS`, and `--output` finds them by the name's ending.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from poor_bench.reports.report_data import ReportData
    from poor_bench.statistics.summary import GroupBy


class Export(NamedTuple):
    """A format: the endings of its files, and the function that writes it."""

    endings: tuple[str, ...]
    module: str
    """In `poor_bench.reports`; imported when it is needed, so that `--help` stays quick."""
    function: str


EXPORTS = {
    "csv": Export((".csv",), "csv_table", "report_to_csv"),
    "json": Export((".json",), "json_report", "report_to_json"),
    "junit": Export((".xml",), "junit_report", "report_to_junit"),
    "md": Export((".md",), "markdown_report", "report_to_markdown"),
    "html": Export((".html", ".htm"), "html.page", "report_to_html"),
}


def format_of_ending(ending: str) -> str | None:
    """Find the format of files with an ending such as `.csv`; None if there is none."""
    return next((name for name, each in EXPORTS.items() if ending.lower() in each.endings), None)


def render_report(form: str, data: ReportData, by: GroupBy) -> Iterable[str]:
    """Write a report as pieces of text.

    Args:
        form: A key of `EXPORTS`.
        data: The report.
        by: Rows of tables of scores, where the format has such tables.

    Raises:
        ValueError: If the form is unknown.
    """
    if form not in EXPORTS:
        raise ValueError(f"unknown form {form!r}")
    export = EXPORTS[form]
    module = import_module(f"poor_bench.reports.{export.module}")
    text: str | Iterable[str] = getattr(module, export.function)(data, by)
    return (text,) if isinstance(text, str) else text
