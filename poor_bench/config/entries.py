"""From a parsed file to its list of entries, whatever the top level looks like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from poor_bench.config.document import Document
from poor_bench.config.nearest_name import name_hint
from poor_bench.config.report import Place, Report
from poor_bench.config.unknown_keys import is_comment

_FORMAT = "1"
"""Major number of the file format; files without a version are of this one."""


def entries_in(
    document: Document, key: str, report: Report
) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield the entries of a file with their places.

    Args:
        document: A file such as `{"version": "1.0", "tests": [...]}`, or the bare list.
        key: The key under which the entries stand.
        report: Takes what is wrong with the top level, and entries that are no mappings.
    """
    items, place = _list_of(document.data, key, report)
    for index, item in enumerate(items):
        if isinstance(item, dict):
            yield (*place, index), item
        else:
            message = f"must be a mapping of keys to values, not {type(item).__name__}"
            report.error((*place, index), message, code="bad-type")


def written_ids(document: Document, key: str, id_key: str) -> frozenset[str]:
    """Return the ids of all entries of a file, valid or not."""
    silent = Report("")
    ids = (raw.get(id_key) for _, raw in entries_in(document, key, silent))
    return frozenset(written for written in ids if isinstance(written, str))


def _list_of(data: Any, key: str, report: Report) -> tuple[list[Any], Place]:
    if isinstance(data, list):
        return data, ()
    if not isinstance(data, dict):
        report.error((), f"must be a mapping with the key `{key}`", code="bad-type")
        return [], ()
    _check_top_level(data, key, report)
    items = data.get(key, [])
    if not isinstance(items, list):
        report.error((key,), "must be a list", code="bad-type")
        return [], ()
    return items, (key,)


def _check_top_level(data: dict[str, Any], key: str, report: Report) -> None:
    if key not in data:
        written = next((name for name in data if name != "version" and not is_comment(name)), "")
        hint = name_hint(written, [key]) if written else ""
        report.error((), f"the key `{key}` is missing", hint=hint, code="missing-key")
    for name in data:
        if name not in {key, "version"} and not is_comment(name) and key in data:
            report.warning((name,), "this key is not used", code="unknown-key")
    check_version(data, report)


def check_version(data: Mapping[str, Any], report: Report) -> None:
    """Note a file whose format is of another major number than ours."""
    version = str(data.get("version", _FORMAT))
    if version.partition(".")[0] != _FORMAT:
        message = f"this is a file of format {version:.20}; format {_FORMAT}.0 is understood"
        report.error(("version",), message, code="bad-version")
