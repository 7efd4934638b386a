"""Read the rows of a table, map its columns to the parts of a test, and make the tests.

A table is JSON lines, a JSON list, CSV or TSV, each also compressed by gzip.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poor_bench.config.json_document import find_json_fault
from poor_bench.config.names import name_hint
from poor_bench.errors import ConfigError
from poor_bench.messages import write_count
from poor_bench.prompts import hash_text
from poor_bench.safe_files import load_json_text, open_regular

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


def read_text(row: Row, column: str) -> str:
    """Read a text of a row.

    Raises:
        RowError: If it is missing, empty or no text.
    """
    value = row.get(column)
    if not isinstance(value, str) or not value.strip():
        raise RowError(f"the column `{column}` has no text")
    return value


_CSV_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_MAX_BYTES = 512 * 1024 * 1024
_CHOICE_COLUMNS = ("A", "B", "C", "D", "E", "F", "G", "H")


def read_rows(path: Path) -> list[tuple[int, Row]]:
    """Read the rows of a file, each with its number, counted from 1.

    The form is told by the name: `.jsonl`, `.json`, `.csv` or `.tsv`, with `.gz` behind it where
    it is compressed. A CSV file without a header, as the first editions of MMLU have it, gets the
    columns `question`, `A`, `B`, ..., `answer`.

    Raises:
        ConfigError: If the file cannot be read, or is not of the form that its name says.
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    kind = suffixes[-2] if suffixes[-1:] == [".gz"] and len(suffixes) > 1 else path.suffix.lower()
    text = _read_text(path)
    if kind in {".jsonl", ".ndjson"}:
        return list(_read_json_lines(text, path))
    if kind == ".json":
        return list(_read_json_list(text, path))
    if kind in _CSV_DELIMITERS:
        return list(_read_csv_rows(text, _CSV_DELIMITERS[kind], path))
    hint = "known endings: .jsonl, .json, .csv and .tsv, each also with .gz"
    raise ConfigError(f"{path}: unknown kind of file", hint=hint)


def _read_text(path: Path) -> str:
    try:
        is_packed = path.suffix.lower() == ".gz"
        with open_regular(path) as stored, gzip.GzipFile(fileobj=stored) as unpacked:
            raw = (unpacked if is_packed else stored).read(_MAX_BYTES + 1)
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{path} cannot be read: {reason}") from error
    if len(raw) > _MAX_BYTES:
        raise ConfigError(f"{path} is larger than {_MAX_BYTES // 1024**2} MB")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text", hint="save it as UTF-8") from error


def _read_json_lines(text: str, path: Path) -> Iterator[tuple[int, Row]]:
    number = 0
    for line_number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            number += 1
            yield number, _row(_parse(line, path, line_number), f"{path}:{line_number}")


def _read_json_list(text: str, path: Path) -> Iterator[tuple[int, Row]]:
    rows = _parse(text, path, 1)
    if not isinstance(rows, list):
        raise ConfigError(f"{path}: a list of rows is expected")
    for number, row in enumerate(rows, start=1):
        yield number, _row(row, f"{path}: row {number}")


def _parse(text: str, path: Path, line_number: int) -> Any:
    try:
        return load_json_text(text)
    except json.JSONDecodeError as error:
        message, line = find_json_fault(error, text, line_number)
        raise ConfigError(f"{path}:{line}: {message}") from error
    except ValueError as error:
        raise ConfigError(f"{path}:{line_number}: this is not usable JSON: {error}") from error


def _row(value: Any, where: str) -> Row:
    if not isinstance(value, dict):
        raise ConfigError(f"{where}: a mapping of columns to values is expected")
    return value


def _read_csv_rows(text: str, delimiter: str, path: Path) -> Iterator[tuple[int, Row]]:
    csv.field_size_limit(_MAX_BYTES)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        lines = [line for line in reader if line]
    except csv.Error as error:
        raise ConfigError(f"{path}:{reader.line_num}: this is not CSV: {error}") from error
    if not lines:
        return
    header = _find_choice_header(lines[0])
    columns = header or lines.pop(0)
    twice = next((name for name, count in Counter(columns).items() if count > 1), None)
    if twice is not None:
        raise ConfigError(f"{path}: two columns are called `{twice}`", hint="rename one of them")
    for number, line in enumerate(lines, start=1):
        if len(line) != len(columns):
            cells = write_count(len(line), "cell")
            message = f"{path}: row {number} has {cells}, expected {len(columns)}"
            raise ConfigError(message)
        yield number, dict(zip(columns, line, strict=True))


def _find_choice_header(first: list[str]) -> list[str] | None:
    """Name the columns of a file of choices whose first line is a question, not a header."""
    n_choices = len(first) - 2
    if 2 <= n_choices <= len(_CHOICE_COLUMNS) and first[-1] in _CHOICE_COLUMNS[:n_choices]:
        return ["question", *_CHOICE_COLUMNS[:n_choices], "answer"]
    return None


_PARTS = ("test_id", "level", "text", "texts", "reference_response", "group", "tags")
_LEVELS = range(1, 1001)
_OPEN_PARTS = ("fields", "parameters")
"""Parts that take any name behind a dot, such as `parameters.expected_answer`."""


def make_columns_importer(
    columns: Mapping[str, str],
    *,
    evaluator: str,
    parameters: Mapping[str, Any],
    template: str,
) -> Importer:
    """Build an importer for a table of one's own.

    Args:
        columns: Part of a test to the column it comes from: `test_id`, `level`, `text`, `texts`,
            `reference_response`, `group`, `tags`, `fields.NAME` or `parameters.NAME`.
        evaluator: Name of the evaluator of the class.
        parameters: Its parameters that are the same for all tests.
        template: The prompt, with a placeholder such as `{text}`.

    Raises:
        ConfigError: If a part has an unknown name, or neither `text` nor `texts` has a column.
    """
    for part in columns:
        head, dot, name = part.partition(".")
        if not (part in _PARTS or (head in _OPEN_PARTS and dot and name)):
            known = (*_PARTS, "fields.NAME", "parameters.NAME")
            raise ConfigError(f"unknown part of a test: `{part}`", hint=name_hint(part, known))
    if ("text" in columns) == ("texts" in columns):
        message = "map one column to `text` or `texts`"
        raise ConfigError(message, hint="such as --column text=question")
    return Importer(
        name="columns",
        description="Any table, with --column text=COLUMN and so on",
        class_entry={
            "description": "Imported from a table",
            "work_prompt_template": {"default": template},
            "evaluation_module": {"name": evaluator, "parameters": dict(parameters)},
        },
        recognises=lambda _row: False,
        to_test=lambda row, number: _to_test(row, number, columns),
    )


def require_columns(columns: Mapping[str, str], rows: Sequence[Row], file: str) -> None:
    """Make sure that each column stands in some row.

    Raises:
        ConfigError: With the columns that there are.
    """
    present = {column: None for row in rows for column in row}
    for column in columns.values():
        if column not in present:
            raise ConfigError(
                f"{file} has no column `{column}`", hint=name_hint(column, tuple(present))
            )


def _to_test(row: Row, number: int, columns: Mapping[str, str]) -> Entry:
    test: Entry = {"test_id": f"{number:04}", "level": 1}
    for part, column in columns.items():
        if column not in row:
            raise RowError(f"unknown column `{column}`")
        head, _, name = part.partition(".")
        if head == "fields":
            test.setdefault("fields", {})[name] = row[column]
        elif head == "parameters":
            module = test.setdefault("evaluation_module", {"parameters": {}})
            module["parameters"][name] = _write_plain(row[column])
        else:
            test[part] = _CONVERT[part](row[column])
    return test


def _write_plain(value: Any) -> Any:
    """Read a cell as it is, but a list or mapping that a CSV cell spells in JSON as that."""
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        try:
            return load_json_text(value)
        except ValueError:
            return value
    return value


def _text(value: Any) -> str:
    if isinstance(value, str) and value.strip():
        return value
    raise RowError("the text is missing")


def _read_texts(value: Any) -> list[str]:
    texts = _write_plain(value)
    if isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts):
        return texts
    raise RowError("the texts are not a JSON list of texts")


def _read_level(value: Any) -> int:
    try:
        level = int(str(value))
    except ValueError:
        raise RowError(f"the level {value!r:.40} is not a whole number") from None
    if level not in _LEVELS:
        raise RowError(f"the level {level} is not from {_LEVELS[0]} to {_LEVELS[-1]}")
    return level


def _read_tags(value: Any) -> list[str]:
    tags = value if isinstance(value, list) else str(value).split(",")
    return [tag for tag in (str(tag).strip() for tag in tags) if tag]


_CONVERT: Mapping[str, Callable[[Any], Any]] = {
    "test_id": lambda value: str(value).strip(),
    "level": _read_level,
    "text": _text,
    "texts": _read_texts,
    "reference_response": str,
    "group": name_group,
    "tags": _read_tags,
}
