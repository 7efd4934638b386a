"""Change the entries of a JSON file of the workspace, and keep all else that stands in it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from poor_bench.config.atomic_write import write_atomically
from poor_bench.config.document import Document, open_document
from poor_bench.config.file_lock import locked_for_writing
from poor_bench.config.json_document import parse_json
from poor_bench.config.load import raise_errors
from poor_bench.config.report import Report


def edit_entries(
    path: Path,
    key: str,
    change: Callable[[list[Any]], None],
    check: Callable[[Document, Report], object],
) -> None:
    """Let `change` alter the list of entries of a file, and write it if `check` finds no error.

    Comments (keys that begin with `_`), keys that nothing reads and the indentation survive.

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
        change(document.data if isinstance(document.data, list) else document.data[key])
        text = json.dumps(document.data, ensure_ascii=False, indent=_indentation_of(path))
        report = Report(str(path))
        check(parse_json(text), report)
        raise_errors(report.problems)
        write_atomically(path, f"{text}\n")


def _indentation_of(path: Path) -> str | int:
    match = re.search(r"\n([ \t]+)\S", path.read_text(encoding="utf-8-sig"))
    return match[1] if match else 2
