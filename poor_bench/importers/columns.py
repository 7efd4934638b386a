"""Any table: which column becomes which part of a test is said by the user."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from poor_bench.config.nearest_name import name_hint
from poor_bench.errors import ConfigError
from poor_bench.importers.imported import Entry, Importer, Row, RowError

_PARTS = ("test_id", "level", "text", "texts", "reference_response", "tags")
_LEVELS = range(1, 1001)
_OPEN_PARTS = ("fields", "parameters")
"""Parts that take any name behind a dot, such as `parameters.expected_answer`."""


def columns_importer(
    columns: Mapping[str, str],
    *,
    evaluator: str,
    parameters: Mapping[str, Any],
    template: str,
) -> Importer:
    """Return an importer for a table of one's own.

    Args:
        columns: Part of a test to the column it comes from: `test_id`, `level`, `text`, `texts`,
            `reference_response`, `tags`, `fields.NAME` or `parameters.NAME`.
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
            module["parameters"][name] = _plain(row[column])
        else:
            test[part] = _CONVERT[part](row[column])
    return test


def _plain(value: Any) -> Any:
    """Return a cell as it is, but a list or mapping that a CSV cell spells in JSON as that."""
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _text(value: Any) -> str:
    if isinstance(value, str) and value.strip():
        return value
    raise RowError("the text is missing")


def _texts(value: Any) -> list[str]:
    texts = _plain(value)
    if isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts):
        return texts
    raise RowError("the texts are not a JSON list of texts")


def _level(value: Any) -> int:
    try:
        level = int(str(value))
    except ValueError:
        raise RowError(f"the level {value!r:.40} is not a whole number") from None
    if level not in _LEVELS:
        raise RowError(f"the level {level} is not from {_LEVELS[0]} to {_LEVELS[-1]}")
    return level


def _tags(value: Any) -> list[str]:
    tags = value if isinstance(value, list) else str(value).split(",")
    return [tag for tag in (str(tag).strip() for tag in tags) if tag]


_CONVERT: Mapping[str, Callable[[Any], Any]] = {
    "test_id": lambda value: str(value).strip(),
    "level": _level,
    "text": _text,
    "texts": _texts,
    "reference_response": str,
    "tags": _tags,
}
