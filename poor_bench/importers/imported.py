"""What an importer makes of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from poor_bench.prompts.fingerprint import hash_text

Row = Mapping[str, Any]
"""One row of a file: column to value."""

Entry = dict[str, Any]
"""A test class or test as it stands in its file."""


class RowError(Exception):
    """A row cannot be made into a test; one sentence says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Importer:
    """How the rows of one kind of file become tests."""

    name: str
    """What users call the format; also the id of the class, unless they choose another."""
    description: str
    """What it is, in a sentence."""
    class_entry: Entry
    """The test class, without its id."""
    recognises: Callable[[Row], bool]
    """Tells from a row whether the file is of this kind."""
    to_test: Callable[[Row, int], Entry]
    """Makes a row, and its number from 1, into a test without its class; may raise RowError.
    The `test_id` need only be unique within the file."""


def to_tests(
    importer: Importer, rows: Iterable[tuple[int, Row]], class_id: str
) -> Iterator[tuple[int, Entry | RowError]]:
    """Yield for every row its number, and its test or why there is none."""
    row_of: dict[str, int] = {}
    for number, row in rows:
        try:
            test = importer.to_test(row, number)
        except RowError as error:
            yield number, error
        else:
            test_id = f"{class_id}_{test.pop('test_id')}"
            first = row_of.setdefault(test_id, number)
            if first != number:
                yield number, RowError(f"the id `{test_id}` is that of row {first}")
                continue
            group = {"group": f"{class_id} {name}"} if (name := _find_group(row)) else {}
            yield number, {"test_id": test_id, "class_id": class_id} | group | test


_SHARED = (
    *("group", "template_id", "original_id", "passage_id", "article_id", "story_id", "context_id"),
    *("passage", "article", "story", "context"),
)
"""Columns that name, or hold, what several questions of known data sets are about."""
_LONGEST_NAME = 40


def _find_group(row: Row) -> str:
    """Name what a row shares with others: a template, passage or original; empty if nothing."""
    value = next((row[column] for column in _SHARED if row.get(column) not in (None, "")), None)
    return name_group(value) if isinstance(value, str | int) else ""


def name_group(value: object) -> str:
    """Name a group by a cell: by the text itself, or by its hash if it is long."""
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST_NAME else hash_text(text, 8)


def text_in(row: Row, column: str) -> str:
    """Return a text of a row.

    Raises:
        RowError: If it is missing, empty or no text.
    """
    value = row.get(column)
    if not isinstance(value, str) or not value.strip():
        raise RowError(f"the column `{column}` has no text")
    return value
