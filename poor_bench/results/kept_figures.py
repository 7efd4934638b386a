"""What was computed of the rows that count, kept beside them: a page waits for new rows only.

```
index/<columns>/figures.<name>.json    digest of the rest; what it was computed of; the values
```

Values hold while rows, tests and our definitions are the same. The files may be deleted at any
time.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import orjson

from poor_bench import prompts, statistics
from poor_bench.results import figures
from poor_bench.results.figures import RowsOfModels, rank_results
from poor_bench.safe_files import read_kept, write_kept
from poor_bench.statistics.comparison import Comparison, Standing, compare_llms, find_standing
from poor_bench.statistics.ranking import Ranking
from poor_bench.statistics.short_form import has_short_form
from poor_bench.statistics.summarise import find_test_parts, summarise
from poor_bench.statistics.summary import GroupBy, Summary

if TYPE_CHECKING:
    from collections.abc import Collection

    from poor_bench.models.test import Test
    from poor_bench.results.settled import SettledBasis
    from poor_bench.results.table import ResultTable

Figures = dict[str, list[Summary]]
"""LLM id to its rows."""
_KeptFigures = dict[str, tuple[str, list[Summary]]]
"""The same, with the name of what they were computed of."""
_Kept = TypeVar("_Kept")
_IMPORTED = re.compile(r"^ *from poor_bench\.statistics\.(\w+) import ", re.MULTILINE)
"""Modules of `statistics` import each other like this only."""
_ROWS_AT_ONCE = 50_000
"""Rows of models that are summarised together, but for a single model."""


class KeptFile(Generic[_Kept]):
    """Values of one kind that were computed of rows of a store."""

    def __init__(
        self,
        basis: SettledBasis | None,
        name: str,
        about: object,
        *,
        kind: Any = None,
        module: str = "",
    ) -> None:
        """Read nothing yet.

        Args:
            basis: The settled rows; nothing is kept without them.
            name: Of the file.
            about: What they depend on beside definitions; anything that JSON holds.
            kind: Type of the values; None for values of JSON as they are.
            module: Of `statistics`: it, what it imports there and `figures` define the values;
                empty where prompts do.
        """
        self._path = None if basis is None else basis.folder / f"figures.{name}.json"
        self._about = _digest(orjson.dumps([_digest_definitions(module), about]))
        self._kind = kind

    def read(self) -> _Kept | None:
        """Read the values; None where there are none, or of other facts or definitions."""
        values = None if self._path is None else read_kept(self._path, self._about)
        if values is None or self._kind is None:
            return values
        read = _make_reader(self._kind)
        try:
            known: _Kept = read(values)
        except (AttributeError, KeyError, TypeError, ValueError):
            return None
        return known

    def write(self, values: _Kept) -> None:
        """Write the values; without permission or space, or JSON for them, nothing is kept."""
        if self._path is not None:
            with suppress(TypeError):  # such as half a surrogate pair
                write_kept(self._path, self._about, values)


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
    about = [pass_score, _describe_tests(tests)] if basis else None
    file: KeptFile[_KeptFigures] = KeptFile(basis, by, about, kind=_KeptFigures, module="summarise")
    kept = file.read() or {}
    names = {llm_id: basis.name_rows(llm_id) if basis else "" for llm_id in llm_ids}
    known = {name: kept[name][1] for name in names if name in kept and kept[name][0] == names[name]}
    if missing := names.keys() - known.keys():
        new = _compute(table, missing, tests, by, pass_score)
        known |= new
        file.write(kept | {llm_id: (names[llm_id], rows) for llm_id, rows in new.items()})
    return known


def _compute(
    table: ResultTable,
    llm_ids: Collection[str],
    tests: Mapping[str, Test],
    by: GroupBy,
    pass_score: float,
) -> Figures:
    """Summarise models, some at once: what is worked out on the way takes more than the rows."""
    counts = table.count_values("llm_id")
    wanted = {*llm_ids}
    in_order = [llm_id for llm_id in counts if llm_id in wanted]  # their rows are often neighbours
    found: Figures = {llm_id: [] for llm_id in (*in_order, *wanted.difference(in_order))}
    parts, rows = find_test_parts(table, tests, by), RowsOfModels(table)
    if not any(test.group for test in tests.values()):
        tests = {}  # they tell nothing more, and looking each up for each model takes time
    some, n_rows = list[str](), 0
    for number, llm_id in enumerate(found, 1):
        some.append(llm_id)
        n_rows += counts.get(llm_id, 0)
        if n_rows >= _ROWS_AT_ONCE or (number == len(found) and n_rows):
            trials = table.pick(rows.find(some))
            for summary in summarise(
                trials, tests=tests, by=by, pass_score=pass_score, parts=parts
            ):
                found[summary.group.llm_id].append(summary)
            table.release()
            some, n_rows = [], 0
    return found


def compare_models(table: ResultTable, tests: Mapping[str, Test]) -> Comparison:
    """Compare all models of a table in pairs, or read what is kept where that still holds.

    Args:
        table: All results of these tests, see `without_removed`.
        tests: By id.
    """

    def compare() -> Comparison:
        return compare_llms(table, groups={name: test.group for name, test in tests.items()})

    return _of_all_models(table, tests, "pairs", Comparison, compare, "comparison")


def find_standing_of_models(table: ResultTable, tests: Mapping[str, Test]) -> Standing:
    """Find ranks and tie groups of all models, or read what is kept where that still holds.

    Args:
        table: All results of these tests, see `without_removed`.
        tests: By id.
    """

    def find() -> Standing:
        return find_standing(table, groups={name: test.group for name, test in tests.items()})

    return _of_all_models(table, tests, "standing", Standing, find, "comparison")


def rank_models(table: ResultTable, tests: Mapping[str, Test]) -> Ranking:
    """Rank all models of a table, or read what is kept where that still holds.

    Args:
        table: All results of these tests, see `without_removed`.
        tests: By id.
    """
    if has_short_form(tests):  # rests on more than rows and tests
        return rank_results(table, tests)
    return _of_all_models(
        table, tests, "ranking", Ranking, lambda: rank_results(table, tests), "ranking"
    )


def _of_all_models(
    table: ResultTable,
    tests: Mapping[str, Test],
    name: str,
    kind: type[_Kept],
    compute: Callable[[], _Kept],
    module: str,
) -> _Kept:
    """Read or compute what depends on the rows of all models."""
    basis = table.basis
    about = [table.name_rows(), _describe_tests(tests)] if basis else None
    file: KeptFile[_Kept] = KeptFile(basis, name, about, kind=kind, module=module)
    known = file.read()
    if known is None:
        known = compute()
        table.release()
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

    def find_standing(self) -> Standing:
        """Find ranks and tie groups of all models."""
        return find_standing_of_models(self.table, self.tests)

    def rank(self) -> Ranking:
        """Rank all models."""
        return rank_models(self.table, self.tests)


def _describe_tests(tests: Mapping[str, Test]) -> list[object]:
    """List what figures depend on, of each test."""
    return [(name, test.class_id, test.level, test.group) for name, test in tests.items()]


_Read = Callable[[Any], Any]


@cache
def _make_reader(kind: Any) -> _Read:
    """Build what makes a value of a type of what JSON holds of it, or raises an error.

    Pydantic does the same, but takes longer to be imported than these values to be read.
    """
    origin = get_origin(kind)
    if is_dataclass(kind):
        return _make_dataclass_reader(kind)
    if origin in {Union, UnionType}:
        (other,) = (_make_reader(each) for each in get_args(kind) if each is not NoneType)
        return lambda value: None if value is None else other(value)
    if origin is not None:
        return _make_collection_reader(origin, get_args(kind))
    if kind is float:
        return lambda value: float(_require(value, float, int))
    if issubclass(kind, Enum):
        read: _Read = kind
        return read
    return lambda value: _require(value, kind)


def _make_dataclass_reader(kind: Any) -> _Read:
    hints = get_type_hints(kind)
    readers = {each.name: _make_reader(hints[each.name]) for each in fields(kind)}
    return lambda values: kind(**{name: readers[name](each) for name, each in values.items()})


def _make_collection_reader(origin: Any, inner: tuple[Any, ...]) -> _Read:
    if origin is tuple and inner[-1] is not ...:
        readers = [_make_reader(each) for each in inner]
        return lambda values: tuple(
            read(value) for read, value in zip(readers, _require(values, list), strict=True)
        )
    if origin in {list, tuple}:
        read_item = _make_reader(inner[0])
        return lambda values: origin(map(read_item, _require(values, list)))
    read_key, read_value = map(_make_reader, inner)
    return lambda values: {read_key(key): read_value(each) for key, each in values.items()}


def _require(value: Any, *kinds: type) -> Any:
    if type(value) not in kinds:
        raise ValueError(value)
    return value


@cache
def _digest_definitions(module: str) -> str:
    """Digest the code that values are defined in: other definitions make other values.

    Code that has no part in them may change: at ten million results, computing figures or hashing
    requests again takes most of a minute.
    """
    folder = Path(statistics.__file__).parent
    found: dict[str, bytes] = {}
    wanted = [module] if module else []
    while wanted:
        name = wanted.pop()
        if name not in found:
            found[name] = (folder / f"{name}.py").read_bytes()
            wanted += _IMPORTED.findall(found[name].decode())
    ours = Path(figures.__file__ if module else prompts.__file__).read_bytes()
    return _digest(b"".join([ours, *(found[name] for name in sorted(found))]))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
