"""CSV that no spreadsheet takes for a program, and the export of all results as CSV."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from poor_bench.models.result import Result, result_to_record
from poor_bench.models.test import Test

if TYPE_CHECKING:
    from poor_bench.reports.report_data import ReportData

_SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20"
_UNSEEN = r"\s\x00-\x1f\x7f\u200b-\u200f\u2060\ufeff"
_FORMULA = re.compile(rf"\A'*(?:[\t\r\n]|[{_UNSEEN}]*[{_SIGNS}])")
"""The start of a text that a spreadsheet may compute, with apostrophes of `write_plain_cell`."""


def write_csv(columns: Sequence[tuple[str, str]], rows: Iterable[Mapping[str, Any]]) -> str:
    """Write rows as CSV with a heading; lines end as RFC 4180 wants it.

    Args:
        columns: Field and heading of each column.
        rows: Values by field; a missing one or None leaves its cell empty.
    """
    return "".join(write_csv_pieces(columns, rows))


_ROWS_OF_PIECE = 1_000


def write_csv_pieces(
    columns: Sequence[tuple[str, str]], rows: Iterable[Mapping[str, Any]]
) -> Iterator[str]:
    """Write the same in pieces, so that not all of it is in memory."""
    following = iter(rows)
    cells: Iterable[list[object]] = [[write_plain_cell(heading) for _, heading in columns]]
    while cells:
        stream = io.StringIO()
        csv.writer(stream).writerows(cells)
        yield stream.getvalue()
        cells = [
            [write_plain_cell(row.get(field)) for field, _ in columns]
            for row in islice(following, _ROWS_OF_PIECE)
        ]


def write_plain_cell(value: object) -> object:
    """Make a CSV cell that no spreadsheet takes for a formula; numbers stay numbers.

    Source:
        OWASP, "CSV Injection": a text that starts with = + - @, one of their full-width forms or a
        control character is prefixed with an apostrophe. Blanks and invisible characters in front
        of the sign count, too: some programs trim them.

    Example:
        >>> write_plain_cell("=1+1"), write_plain_cell(-2)
        ("'=1+1", -2)
    """
    if value is None:
        return ""
    if isinstance(value, float):
        return round_figure(value)
    if isinstance(value, bool | int):
        return value
    text = str(value)
    return f"'{text}" if _FORMULA.match(text) else text


_DIGITS = 7


def round_figure(value: float) -> float:
    """Round to 7 digits, as many as single precision holds; whole numbers keep all of theirs.

    Example:
        >>> round_figure(4.199999999999999), round_figure(1 / 3), round_figure(123456789.04)
        (4.2, 0.3333333, 123456789.0)
    """
    if not math.isfinite(value):
        return value
    return float(f"{value:.{_DIGITS}g}") if abs(value) < 10**_DIGITS else float(round(value))


def write_cell(cell: str) -> str:
    r"""Undo `write_plain_cell`: the text as it was before it was written.

    Example:
        >>> write_cell("'=1+1"), write_cell("'tis")
        ('=1+1', "'tis")
    """
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def open_csv(text: str) -> csv.DictReader[str]:
    """Read a table with a heading; a cell may be as long as `text`.

    Args:
        text: The whole file, its line ends untouched; a byte order mark is skipped.
    """
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    return csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""))


_FIELDS = (
    "llm_id", "test_id", "class_id", "level", "trial", "score", "strict_score", "details",
    "response", "failure", "execution_time_ms", "first_token_ms", "load_ms", "queue_ms",
    "prefill_ms", "decode_ms", "prompt_tokens", "cached_tokens", "completion_tokens",
    "thinking_tokens", "cost_usd", "judge_cost_usd", "finish_reason", "marks", "model_digest",
    "memory_bytes", "gpu_share", "timestamp", "run_id", "sandbox", "stale",
)  # fmt: skip


def results_to_csv(
    results: Iterable[tuple[Result, bool]], tests: Mapping[str, Test]
) -> Iterator[str]:
    """Write a heading and a row for every result, in pieces.

    Args:
        results: Results of `tests`, failures included; True for a stale score.
        tests: By test id.
    """
    rows = (
        _build_row(result, tests[result.test_id]) | {"stale": "stale" if is_stale else ""}
        for result, is_stale in results
    )
    return write_csv_pieces([(name, name) for name in _FIELDS], rows)


def _build_row(result: Result, test: Test) -> dict[str, Any]:
    return {
        **result_to_record(result),
        "class_id": test.class_id,
        "level": test.level,
        "trial": result.trial,
        "failure": result.failure.message if result.failure else "",
        "judge_cost_usd": result.judge_cost_usd,
        "marks": " ".join(result.marks),
    }


def report_to_csv(data: ReportData, _by: object = None) -> Iterator[str]:
    """Write a row for every result of a report, in pieces."""
    return results_to_csv(_list_rows(data), data.tests)


def _list_rows(data: ReportData) -> Iterator[tuple[Result, bool]]:
    """Yield every result, and True if it is a stale score."""
    if data.stale_entries is not None:
        stale = iter([*data.stale_entries.tolist(), -1])
        following = next(stale)
        for entry, result in enumerate(data.results):
            is_stale = entry == following
            following = next(stale) if is_stale else following
            yield result, is_stale
        return
    for result in data.results:
        yield result, result.score is not None and result.key in (data.stale or ())
