"""Results one by one into columns; a newer result takes the row of an older one."""

from __future__ import annotations

import itertools
from array import array
from collections import defaultdict
from collections.abc import Hashable, Iterable
from operator import attrgetter
from typing import TYPE_CHECKING, TypeVar

from poor_bench.dashboard.services.record_spool import RecordSpool
from poor_bench.dashboard.services.result_table import CODES, INTEGERS, NUMBERS, ResultTable
from poor_bench.dashboard.services.text_spool import TextSpool
from poor_bench.models.result import Result

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    _Scalar = TypeVar("_Scalar", bound=np.generic)
    _Number = TypeVar("_Number", float, int)

_NAN = float("nan")
_VERSIONS = itertools.count(1)
_numbers_of = attrgetter(*NUMBERS)
_same_in = attrgetter(*(name for name in CODES if name != "failure_kind"))


class TableBuilder:
    """Holds the columns that tables are copied from."""

    def __init__(self) -> None:
        self._spool = RecordSpool()
        self._texts = TextSpool()
        self._numbers = array("d")
        self._codes = array("q")
        self._integers = array("q")
        self._alive = bytearray()
        self._values: dict[str, dict[Hashable, int]] = {name: {} for name in CODES}
        self._rows: dict[tuple[str, str, int, bool], int] = {}
        self._llm_versions: defaultdict[str, int] = defaultdict(int)

    def add_all(self, results: Iterable[Result]) -> None:
        """Take results, older ones first."""
        changed = set()
        for result in results:
            self._add(result)
            changed.add(result.llm_id)
        for llm_id in changed:
            self._llm_versions[llm_id] = next(_VERSIONS)

    def table(self) -> ResultTable:
        """Return a copy of the columns as they are now."""
        import numpy as np

        alive = np.frombuffer(bytes(self._alive), dtype=np.bool_)
        return ResultTable(
            version=next(_VERSIONS),
            llm_versions=dict(self._llm_versions),
            numbers=_columns(np.array(self._numbers, dtype=np.float64), NUMBERS, alive),
            codes=_columns(np.array(self._codes, dtype=np.int64), CODES, alive),
            values={name: tuple(values) for name, values in self._values.items()},
            integers=_columns(np.array(self._integers, dtype=np.int64), INTEGERS, alive),
            spool=self._spool,
            texts=self._texts,
        )

    def _add(self, result: Result) -> None:
        is_failure = result.failure is not None
        if not is_failure:
            settled = self._rows.pop((*result.key, True), None)
            if settled is not None:
                self._alive[settled] = False
        numbers = array("d", [_NAN if value is None else value for value in _numbers_of(result)])
        codes = array("q", self._codes_of(result))
        place = self._spool.add(result)
        self._texts.add(place, _searched(result))
        integers = array("q", [result.trial, place])
        key = (*result.key, is_failure)
        row = self._rows.setdefault(key, len(self._alive))
        if row == len(self._alive):
            self._alive.append(True)
        _put(self._numbers, row, numbers)
        _put(self._codes, row, codes)
        _put(self._integers, row, integers)

    def _codes_of(self, result: Result) -> list[int]:
        kind = result.failure.kind if result.failure is not None else None
        values = (*_same_in(result), kind)
        return [
            known.setdefault(value, len(known))
            for known, value in zip(self._values.values(), values, strict=True)
        ]


def _searched(result: Result) -> tuple[str, ...]:
    reason = result.failure.message if result.failure is not None else ""
    return result.test_id, result.details, result.response, result.thinking or "", reason


def _put(column: array[_Number], row: int, values: array[_Number]) -> None:
    width = len(values)
    column[row * width : (row + 1) * width] = values


def _columns(
    flat: NDArray[_Scalar], names: tuple[str, ...], alive: NDArray[np.bool_]
) -> dict[str, NDArray[_Scalar]]:
    table = flat.reshape(-1, len(names))[alive]
    return {name: table[:, index].copy() for index, name in enumerate(names)}
