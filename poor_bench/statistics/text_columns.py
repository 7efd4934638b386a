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

    columns: Mapping[str, NDArray[np.signedinteger[Any]]]
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


def join_text_columns(pieces: Iterable[TextColumns]) -> TextColumns:
    """Join columns one after the other; equal texts get the same code.

    Args:
        pieces: At least one, all with the same columns; their texts are not kept.
    """
    import numpy as np

    columns: dict[str, list[NDArray[Any]]] = {}
    known: dict[str, TextCodes] = {}
    for piece in pieces:
        for name, column in piece.columns.items():
            found = columns.setdefault(name, [])
            if name in piece.values:
                codes = known.setdefault(name, TextCodes())
                joined = [*(codes[text] for text in piece.values[name]), -1]
                found.append(np.array(joined, dtype=np.int32)[column])
            else:
                found.append(column)
    return TextColumns(
        columns={name: np.concatenate(pieces_of) for name, pieces_of in columns.items()},
        values={name: tuple(codes) for name, codes in known.items()},
    )
