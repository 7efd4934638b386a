"""Columns worked out from the texts of results, so that the texts are read once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from poor_bench.models.result import Result

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class TextColumns:
    """Whole numbers, one entry for each result in every column."""

    columns: Mapping[str, NDArray[np.int64]]
    values: Mapping[str, tuple[str, ...]]
    """What the codes of some columns stand for; -1 stands for nothing."""

    def pick(self, entries: NDArray[Any]) -> TextColumns:
        """Select entries by a mask or by their numbers."""
        columns = {name: column[entries] for name, column in self.columns.items()}
        return TextColumns(columns=columns, values=self.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextReader:
    """How columns are worked out from results."""

    name: str
    """Of this kind of columns."""
    read: Callable[[Iterable[Result]], TextColumns]
    """Depends on nothing but the results and `version`."""
    texts: Sequence[str] | None
    """Texts of results that `read` needs; None for all."""
    fields: Sequence[str] | None
    """Other fields of results that it needs; None for all."""
    version: str = ""
    """Changes with everything that `read` knows beside the results; its code apart."""


class TextCodes(dict[str, int]):
    """Codes of texts from 0 on, in order of first appearance."""

    def __missing__(self, text: str) -> int:
        self[text] = code = len(self)
        return code


def join_text_columns(pieces: Sequence[TextColumns]) -> TextColumns:
    """Join columns one after the other; equal texts get the same code.

    Args:
        pieces: At least one, all with the same columns.
    """
    import numpy as np

    columns: dict[str, NDArray[Any]] = {}
    values: dict[str, tuple[str, ...]] = {}
    for name in pieces[0].columns:
        found = [piece.columns[name] for piece in pieces]
        if name in pieces[0].values:
            known = TextCodes()
            found = [
                np.array([*(known[text] for text in piece.values[name]), -1], np.int64)[codes]
                for piece, codes in zip(pieces, found, strict=True)
            ]
            values[name] = tuple(known)
        columns[name] = np.concatenate(found)
    return TextColumns(columns=columns, values=values)
