"""Change the entries of a JSON file of the workspace, and keep all else that stands in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from poor_bench.config.atomic_write import write_atomically
from poor_bench.config.document import Document, open_document, read_text
from poor_bench.config.file_lock import locked_for_writing
from poor_bench.config.json_document import parse_json
from poor_bench.config.json_text import indentation_of, with_entries
from poor_bench.config.load import raise_errors
from poor_bench.config.report import Report


def edit_entries(
    path: Path,
    key: str,
    change: Callable[[list[Any]], None],
    check: Callable[[Document, Report], object],
) -> None:
    """Let `change` alter the list of entries of a file, and write it if `check` finds no error.

    Comments (keys that begin with `_`), keys that nothing reads and the form in which all other
    entries are written survive.

    Args:
        path: The file.
        key: The key under which the entries stand.
        change: Alters the list of raw entries in place.
        check: Notes what is wrong with the changed file.

    Raises:
        ConfigError: If the file, as it was or as it would be, has an error, or cannot be
            written; it is untouched then.
    """
    with locked_for_writing(path):
        document, report = open_document(path, parse_json)
        if document is not None:
            check(document, report)
        raise_errors(report.problems)
        assert document is not None
        entries = document.data if isinstance(document.data, list) else document.data[key]
        change(entries)
        before = read_text(path)
        text = with_entries(before, key, entries) or _written_anew(before, document.data)
        report = Report(str(path))
        check(parse_json(text), report)
        raise_errors(report.problems)
        write_atomically(path, text)


def _written_anew(before: str, data: Any) -> str:
    text = json.dumps(data, ensure_ascii=False, indent=indentation_of(before))
    return f"{text}\n"
