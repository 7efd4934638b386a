"""Rows of several tables as one: selections of runs and of the present results."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from poor_bench.results.columns import CODES
from poor_bench.results.index import ResultIndex
from poor_bench.results.paths import StorePaths
from poor_bench.results.table import ResultTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

_VERSIONS = itertools.count(-1, -1)
_NO_SNAPSHOT = ".none.json"


class SelectedRows(NamedTuple):
    """Some rows of a table, and what they stand for."""

    name: str
    """Takes the place of the id of the model."""
    table: ResultTable
    rows: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _OneRun(StorePaths):
    """The files of a store, as if one run were all of it."""

    run_id: str

    def list_unmerged(self) -> list[Path]:
        """List the run."""
        path = self.run_file(self.run_id)
        return [path] if path is not None else []


def open_run(paths: StorePaths, run_id: str, resolve: Callable[[str], str]) -> ResultIndex:
    """Open one run as if its results were all that is stored.

    Args:
        paths: The store; the index of the run is shared with it.
        run_id: The run.
        resolve: Maps an LLM id of the file to the one in use.
    """
    snapshot = paths.snapshot.with_name(_NO_SNAPSHOT)
    return ResultIndex(_OneRun(snapshot, run_id), resolve, keeps_settled=False)


def join_tables(selections: Sequence[SelectedRows]) -> ResultTable:
    """Join selected rows to one table, whose models are the names of the selections.

    Args:
        selections: Rows; several of them may have the same name.
    """
    names = tuple(dict.fromkeys(each.name for each in selections))
    values: dict[str, tuple[Any, ...]] = {"llm_id": names}
    columns: dict[str, NDArray[Any]] = {}
    for field in CODES[1:]:
        values[field], columns[field] = _join_codes(field, selections)
    for field in selections[0].table.columns if selections else ():
        if field not in CODES:
            columns[field] = _concatenate(
                [each.table.columns[field][each.rows] for each in selections]
            )
    columns["llm_id"] = _number_names(names, selections)
    texts = _JoinedTexts(selections)
    columns["place"] = texts.places
    version = next(_VERSIONS)
    return ResultTable(
        version=version,
        llm_versions=dict.fromkeys(names, version),
        latest=max((each.table.latest for each in selections), default=""),
        columns=columns,
        values=values,
        texts=texts,
    )


def _join_codes(
    field: str, selections: Sequence[SelectedRows]
) -> tuple[tuple[Any, ...], NDArray[np.int64]]:
    """Give values that tables share the same code."""
    import numpy as np

    known: dict[Hashable, int] = {}
    found = []
    for each in selections:
        codes = [known.setdefault(value, len(known)) for value in each.table.values[field]]
        found.append(np.array(codes, dtype=np.int64)[each.table.columns[field][each.rows]])
    return tuple(known), _concatenate(found)


def _number_names(names: Sequence[str], selections: Sequence[SelectedRows]) -> NDArray[np.int64]:
    import numpy as np

    return _concatenate([np.full(len(each.rows), names.index(each.name)) for each in selections])


def _concatenate(pieces: Sequence[NDArray[Any]]) -> NDArray[Any]:
    import numpy as np

    return np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.int64)


class _JoinedTexts:
    """Texts of the rows of several tables; a place is a number from 0 on."""

    def __init__(self, selections: Sequence[SelectedRows]) -> None:
        import numpy as np

        self._texts = [each.table.texts for each in selections]
        lengths = [len(each.rows) for each in selections]
        self._of_place = np.repeat(np.arange(len(selections)), lengths)
        self._own_places = _concatenate(
            [each.table.columns["place"][each.rows] for each in selections]
        )
        self.places = np.arange(len(self._own_places))

    def fetch(self, places: Sequence[int], expressions: Sequence[str]) -> list[tuple[Any, ...]]:
        """See `Texts`."""
        import numpy as np

        chosen = np.asarray(places, dtype=np.int64)
        found: list[tuple[Any, ...]] = [()] * len(chosen)
        for number, here in self._by_table(chosen):
            own = self._own_places[chosen[here]].tolist()
            for place, row in zip(
                here.tolist(), self._texts[number].fetch(own, expressions), strict=True
            ):
                found[place] = row
        return found

    def places_with(
        self, words: str, places: NDArray[np.int64], *, is_pattern: bool = False
    ) -> NDArray[np.int64]:
        """See `Texts`."""
        import numpy as np

        found: list[NDArray[np.int64]] = []
        for number, here in self._by_table(places):
            own = self._own_places[places[here]]
            holding = self._texts[number].places_with(words, own, is_pattern=is_pattern)
            found.append(places[here][np.isin(own, holding)])
        return _concatenate(found)

    def by_file(
        self, places: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], Path | None]]:
        """See `Texts`."""
        import numpy as np

        for number, texts in enumerate(self._texts):
            entries = np.flatnonzero(self._of_place[places] == number)
            for some, rows, file in texts.by_file(self._own_places[places[entries]]):
                yield entries[some], rows, file

    def places_by_text(self, field: str, places: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
        """See `Texts`."""
        import numpy as np

        found: dict[str, list[NDArray[np.int64]]] = {}
        for number, here in self._by_table(places):
            own = self._own_places[places[here]]
            for text, holding in self._texts[number].places_by_text(field, own).items():
                found.setdefault(text, []).append(places[here][np.isin(own, holding)])
        return {text: np.concatenate(parts) for text, parts in found.items()}

    def _by_table(self, places: NDArray[np.int64]) -> list[tuple[int, NDArray[np.int64]]]:
        import numpy as np

        tables = self._of_place[places]
        return [(int(number), np.flatnonzero(tables == number)) for number in np.unique(tables)]
