"""What was computed of the settled rows, kept beside them: a page waits for new rows only.

```
index/<columns>/figures.<name>.json    digest of the rest; what it was computed of; the values
```

Values hold while rows, tests and our definitions are the same. The files may be deleted at any
time.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import orjson

from poor_bench import prompts, statistics
from poor_bench.results.parts import write_beside
from poor_bench.safe_files import open_regular
from poor_bench.statistics.comparison import Comparison, compare_llms
from poor_bench.statistics.summarise import summarise
from poor_bench.statistics.summary import GroupBy, Summary

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pydantic import TypeAdapter

    from poor_bench.models.test import Test
    from poor_bench.results.settled import SettledBasis
    from poor_bench.results.table import ResultTable

Figures = dict[str, list[Summary]]
"""LLM id to its rows."""
_Kept = TypeVar("_Kept")


class KeptFile(Generic[_Kept]):
    """Values of one kind that were computed of settled rows."""

    def __init__(self, basis: SettledBasis | None, name: str, kind: Any, about: object) -> None:
        """Read nothing yet.

        Args:
            basis: The settled rows; nothing is kept without them.
            name: Of the file.
            kind: Type of the values.
            about: What they depend on beside rows and definitions; anything that JSON holds.
        """
        self._path = None if basis is None else basis.folder / f"figures.{name}.json"
        identity = "" if basis is None else basis.identity
        self._about = _digest(orjson.dumps([identity, _digest_definitions(), about]))
        self._kind = kind

    def read(self) -> _Kept | None:
        """Read the values; None where there are none, or of other rows, facts or definitions."""
        try:
            if self._path is None:
                return None
            with open_regular(self._path) as stream:
                digest, content = stream.readline().strip().decode(), stream.read()
            if digest != _digest(content):
                return None
            about, values = orjson.loads(content)
            known: _Kept = _adapt(self._kind).validate_python(values)
            return known if about == self._about else None
        except (OSError, ValueError):
            return None

    def write(self, values: _Kept) -> None:
        """Write the values; without permission or space, nothing is kept."""
        if self._path is not None:
            content = orjson.dumps([self._about, values], option=orjson.OPT_NON_STR_KEYS)
            lines = (_digest(content).encode(), b"\n", content)
            write_beside(self._path, lambda stream: stream.writelines(lines))


def summarise_models(
    table: ResultTable,
    llm_ids: Collection[str],
    *,
    tests: Mapping[str, Test],
    by: GroupBy,
    pass_score: float = 1.0,
) -> Figures:
    """Summarise some models of a table, from what is kept where that still holds.

    Args:
        table: All results of these tests, see `without_removed`.
        llm_ids: The models.
        tests: By id.
        by: What one row stands for.
        pass_score: From which score on a trial is passed.
    """
    basis = table.basis
    unchanged = set(llm_ids) - (basis.changed if basis else set())
    about = [pass_score, _describe_tests(tests)] if basis and unchanged else None
    file: KeptFile[Figures] = KeptFile(basis if unchanged else None, by, Figures, about)
    kept = file.read() or {}
    known = {llm_id: kept[llm_id] for llm_id in unchanged & kept.keys()}
    new = _compute(table, set(llm_ids) - known.keys(), tests, by, pass_score)
    if not unchanged <= known.keys():
        file.write(kept | {llm_id: new[llm_id] for llm_id in unchanged & new.keys()})
    return known | new


def _compute(
    table: ResultTable,
    llm_ids: Collection[str],
    tests: Mapping[str, Test],
    by: GroupBy,
    pass_score: float,
) -> Figures:
    """Summarise models in one pass."""
    found: Figures = {llm_id: [] for llm_id in llm_ids}
    trials = table.pick(table.find_entries("llm_id", found.__contains__)) if found else None
    rows = summarise(trials, tests=tests, by=by, pass_score=pass_score) if trials else ()
    for summary in rows:
        found[summary.group.llm_id].append(summary)
    return found


def compare_models(table: ResultTable, tests: Mapping[str, Test]) -> Comparison:
    """Compare all models of a table in pairs, or read what is kept where that still holds.

    Args:
        table: All results of these tests, see `without_removed`.
        tests: By id.
    """
    llm_ids = table.find_values("llm_id")
    is_settled = table.basis is not None and table.basis.changed.isdisjoint(llm_ids)
    about = [llm_ids, _describe_tests(tests)] if is_settled else None
    file: KeptFile[Comparison] = KeptFile(
        table.basis if is_settled else None, "pairs", Comparison, about
    )
    known = file.read()
    if known is None:
        groups = {test_id: test.group for test_id, test in tests.items()}
        known = compare_llms(table, groups=groups)
        file.write(known)
    return known


class TableFigures(NamedTuple):
    """Figures of a table for a report."""

    table: ResultTable
    tests: Mapping[str, Test]

    def summarise(self, by: GroupBy, pass_score: float) -> list[Summary]:
        """Summarise all models, in the order of their first results."""
        llm_ids = self.table.find_values("llm_id")
        found = summarise_models(
            self.table, llm_ids, tests=self.tests, by=by, pass_score=pass_score
        )
        return [row for llm_id in llm_ids for row in found[llm_id]]

    def compare(self) -> Comparison:
        """Compare all models in pairs."""
        return compare_models(self.table, self.tests)


def _describe_tests(tests: Mapping[str, Test]) -> list[object]:
    """List what figures depend on, of each test."""
    return [(name, test.class_id, test.level, test.group) for name, test in tests.items()]


@cache
def _adapt(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


@cache
def _digest_definitions() -> str:
    """Digest the code that values are defined in: other definitions make other values."""
    folder = Path(statistics.__file__).parent
    files = (Path(prompts.__file__), *sorted(folder.glob("*.py")))
    return _digest(b"".join(path.read_bytes() for path in files))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
