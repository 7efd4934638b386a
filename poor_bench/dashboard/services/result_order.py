"""In which order a table shows results."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from poor_bench.dashboard.text.formatting import think_to_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.dashboard.services.result_table import ResultTable
    from poor_bench.models.test import Test


class SortKey(StrEnum):
    """What results can be ordered by."""

    FILE = "file"
    """The order of the tests in their file; tests that are gone come last."""
    TEST = "test"
    SCORE = "score"
    CLASS = "class"
    LEVEL = "level"
    TIME = "time"
    THINK = "think"


_NUMBERS = {SortKey.SCORE: "score", SortKey.TIME: "execution_time_ms"}


class TestPlaces:
    """Class, level and place in tests.json of every test id that results know, by its code."""

    def __init__(self, table: ResultTable, tests: Mapping[str, Test]) -> None:
        import numpy as np

        known = [tests.get(test_id) for test_id in table.values["test_id"]]
        self.classes = np.array([test.class_id if test else "" for test in known], dtype=object)
        self.levels = np.array([test.level if test else 0 for test in known], dtype=np.int64)
        order = {test_id: number for number, test_id in enumerate(tests)}
        self.positions = np.array([order.get(name, len(order)) for name in table.values["test_id"]])
        self.ids = np.array(table.values["test_id"], dtype=object)


def ordered(
    table: ResultTable,
    places: TestPlaces,
    rows: NDArray[np.int64],
    key: SortKey,
    *,
    descending: bool,
) -> NDArray[np.int64]:
    """Return rows in another order: stable where values are equal, the unknown last."""
    import numpy as np

    values = _sort_values(table, places, rows, key)
    _, ranks = np.unique(values, return_inverse=True)
    ranks = ranks.astype(np.int64)
    if values.dtype.kind == "f":
        ranks[np.isnan(values)] = len(values) if not descending else -1
    return rows[np.argsort(-ranks if descending else ranks, kind="stable")]


def _sort_values(
    table: ResultTable, places: TestPlaces, rows: NDArray[np.int64], key: SortKey
) -> NDArray[Any]:
    import numpy as np

    if key in _NUMBERS:
        return table.numbers[_NUMBERS[key]][rows]
    tests = table.codes["test_id"][rows]
    match key:
        case SortKey.FILE:
            return places.positions[tests]
        case SortKey.CLASS:
            return places.classes[tests].astype(str)
        case SortKey.LEVEL:
            return places.levels[tests]
        case SortKey.THINK:
            texts = np.array([think_to_text(value) for value in table.values["think"]])
            return texts[table.codes["think"][rows]]
        case _:
            return places.ids[tests].astype(str)
