"""Tables as CSV that no spreadsheet takes for a program."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from poor_bench.reports.csv_report import without_formula


def csv_text(columns: Sequence[tuple[str, str]], rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows as CSV with a heading.

    Args:
        columns: Field and heading of each column.
        rows: Values by field; what is missing or None stays empty.
    """
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow([without_formula(heading) for _, heading in columns])
    for row in rows:
        writer.writerow([without_formula(row.get(field)) for field, _ in columns])
    return stream.getvalue()


def table_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as CSV, with the fields of the first one as its heading."""
    columns = [(field, field) for field in rows[0]] if rows else []
    return csv_text(columns, rows)
