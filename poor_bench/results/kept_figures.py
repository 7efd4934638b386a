"""Figures of the settled rows, kept beside them: a page of many results waits for new rows only.

```
index/<columns>/figures.<grouping>.json    digest of the rest; what it was computed of; figures
```

Figures of a model hold while its rows, the tests and our definitions are the same. The files may
be deleted at any time.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import orjson
from pydantic import TypeAdapter, ValidationError

from poor_bench import statistics
from poor_bench.results.parts import write_beside
from poor_bench.safe_files import open_regular
from poor_bench.statistics.summarise import summarise
from poor_bench.statistics.summary import GroupBy, Summary

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from poor_bench.models.test import Test
    from poor_bench.results.settled import SettledBasis
    from poor_bench.results.table import ResultTable

Figures = dict[str, list[Summary]]
"""LLM id to its rows."""


def summarise_models(
    table: ResultTable,
    llm_ids: Collection[str],
    *,
    tests: Mapping[str, Test],
    by: GroupBy,
) -> Figures:
    """Summarise some models of a table, from what is kept where that still holds.

    Args:
        table: All results of these tests, see `without_removed`.
        llm_ids: The models.
        tests: By id.
        by: What one row stands for.
    """
    basis = table.basis
    file = None if basis is None or basis.changed.issuperset(llm_ids) else _File(basis, tests, by)
    kept = {} if file is None else file.read()
    unchanged = set(llm_ids) - (basis.changed if basis else set())
    known = {llm_id: kept[llm_id] for llm_id in unchanged & kept.keys()}
    new = _compute(table, set(llm_ids) - known.keys(), tests, by)
    if file is not None and not unchanged <= known.keys():
        file.write(kept | {llm_id: new[llm_id] for llm_id in unchanged & new.keys()})
    return known | new


def _compute(
    table: ResultTable, llm_ids: Collection[str], tests: Mapping[str, Test], by: GroupBy
) -> Figures:
    """Summarise models in one pass."""
    found: Figures = {llm_id: [] for llm_id in llm_ids}
    trials = table.pick(table.find_entries("llm_id", found.__contains__)) if found else None
    for summary in summarise(trials, tests=tests, by=by) if trials else ():
        found[summary.group.llm_id].append(summary)
    return found


class _File:
    """Kept figures of one grouping."""

    def __init__(self, basis: SettledBasis, tests: Mapping[str, Test], by: GroupBy) -> None:
        self._path = basis.folder / f"figures.{by}.json"
        of_tests = [(name, test.class_id, test.level, test.group) for name, test in tests.items()]
        self._basis = _digest(orjson.dumps([basis.identity, _digest_definitions(), of_tests]))

    def read(self) -> Figures:
        """Read the figures; none where they are of other rows, tests or definitions."""
        try:
            with open_regular(self._path) as stream:
                digest, content = stream.readline().strip().decode(), stream.read()
            if digest != _digest(content):
                return {}
            basis, figures = orjson.loads(content)
            return _adapter().validate_python(figures) if basis == self._basis else {}
        except (OSError, ValueError, ValidationError):
            return {}

    def write(self, figures: Figures) -> None:
        """Write the figures; without permission or space, nothing is kept."""
        content = orjson.dumps([self._basis, figures], option=orjson.OPT_NON_STR_KEYS)

        def write(stream: BinaryIO) -> None:
            stream.write(f"{_digest(content)}\n".encode() + content)

        write_beside(self._path, write)


@cache
def _adapter() -> TypeAdapter[Figures]:
    return TypeAdapter(Figures)


@cache
def _digest_definitions() -> str:
    """Digest the code that figures are defined in: other definitions make other figures."""
    folder = Path(statistics.__file__).parent
    return _digest(b"".join(path.read_bytes() for path in sorted(folder.glob("*.py"))))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
