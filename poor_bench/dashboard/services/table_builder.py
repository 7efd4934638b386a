"""Results one by one into columns; a newer result takes the row of an older one."""

from __future__ import annotations

import itertools
from array import array
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import islice
from operator import attrgetter, getitem
from typing import TYPE_CHECKING, Literal, TypeVar

from poor_bench.dashboard.services.record_spool import RecordSpool
from poor_bench.dashboard.services.result_table import CODES, INTEGERS, NUMBERS, ResultTable
from poor_bench.dashboard.services.text_spool import TextSpool

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.models.result import Result

    _Scalar = TypeVar("_Scalar", bound=np.generic)

_VERSIONS = itertools.count(1)
_RESULTS_AT_ONCE = 1000
_numbers_of = attrgetter(*NUMBERS)
_same_in = attrgetter(*(name for name in CODES if name != "failure_kind"))


class TableBuilder:
    """Holds the columns that tables are copied from."""

    def __init__(self) -> None:
        self._spool = RecordSpool()
        self._texts = TextSpool()
        self._numbers = _Rows("d", len(NUMBERS))
        self._codes = _Rows("q", len(CODES))
        self._integers = _Rows("q", len(INTEGERS))
        self._alive = bytearray()
        self._values = [_Codes() for _ in CODES]
        self._rows: dict[tuple[str, str, int, bool], int] = {}
        self._llm_versions: defaultdict[str, int] = defaultdict(int)

    def add_all(self, results: Iterable[Result]) -> None:
        """Take results, older ones first."""
        rest = iter(results)
        while some := list(islice(rest, _RESULTS_AT_ONCE)):
            self._add_some(some)
            for llm_id in {result.llm_id for result in some}:
                self._llm_versions[llm_id] = next(_VERSIONS)

    def table(self) -> ResultTable:
        """Return a copy of the columns as they are now."""
        import numpy as np

        alive = np.frombuffer(bytes(self._alive), dtype=np.bool_)
        return ResultTable(
            version=next(_VERSIONS),
            llm_versions=dict(self._llm_versions),
            numbers=_columns(np.array(self._numbers.flat, dtype=np.float64), NUMBERS, alive),
            codes=_columns(np.array(self._codes.flat, dtype=np.int64), CODES, alive),
            values=dict(zip(CODES, map(tuple, self._values), strict=True)),
            integers=_columns(np.array(self._integers.flat, dtype=np.int64), INTEGERS, alive),
            spool=self._spool,
            texts=self._texts,
        )

    def _add_some(self, results: Sequence[Result]) -> None:
        places = self._spool.add_all(results)
        self._texts.add_all(places, map(_searched, results))
        rows = [self._row_of(result) for result in results]
        self._numbers.put(rows, map(_numbers_of, results))
        self._codes.put(rows, map(self._codes_of, results))
        trials = (result.trial for result in results)
        self._integers.put(rows, zip(trials, places, strict=True))

    def _row_of(self, result: Result) -> int:
        """Return the row that a result takes; the failure that a score settles loses its own."""
        key = result.key
        is_failure = result.failure is not None
        if not is_failure:
            settled = self._rows.pop((*key, True), None)
            if settled is not None:
                self._alive[settled] = False
        row = self._rows.setdefault((*key, is_failure), len(self._alive))
        if row == len(self._alive):
            self._alive.append(True)
        return row

    def _codes_of(self, result: Result) -> tuple[int, ...]:
        kind = result.failure.kind if result.failure is not None else None
        return tuple(map(getitem, self._values, (*_same_in(result), kind)))


class _Codes(dict[Hashable, int]):
    """Gives each value the next number when it is first asked for."""

    def __missing__(self, value: Hashable) -> int:
        code = self[value] = len(self)
        return code


class _Rows:
    """Rows of numbers, one after the other; None becomes NaN."""

    def __init__(self, kind: Literal["d", "q"], width: int) -> None:
        self._kind = kind
        self._width = width
        self.flat: array[float] | array[int] = array(kind)

    def put(self, rows: Iterable[int], values: Iterable[tuple[float | None, ...]]) -> None:
        """Set some rows; new ones, in order, come after those that are there.

        Args:
            rows: Their numbers; of equal ones the last counts.
            values: As many numbers as a row is wide, for each.
        """
        import numpy as np

        newest = dict(zip(rows, values, strict=True))
        n_there = len(self.flat) // self._width
        numbers = np.array(list(newest.values()), dtype=self._kind)
        places = np.fromiter(newest, dtype=np.int64)
        is_new = places >= n_there
        if not is_new.all():
            there = np.frombuffer(self.flat, dtype=self._kind).reshape(-1, self._width)
            there[places[~is_new]] = numbers[~is_new]
            del there  # the array cannot grow as long as something looks at it
        self.flat.frombytes(numbers[is_new].tobytes())


def _searched(result: Result) -> str:
    reason = result.failure.message if result.failure is not None else ""
    texts = result.test_id, result.details, result.response, result.thinking or "", reason
    return "\n".join(texts)


def _columns(
    flat: NDArray[_Scalar], names: tuple[str, ...], alive: NDArray[np.bool_]
) -> dict[str, NDArray[_Scalar]]:
    table = flat.reshape(-1, len(names))[alive]
    return {name: table[:, index].copy() for index, name in enumerate(names)}
