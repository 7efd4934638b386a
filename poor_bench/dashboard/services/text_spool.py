"""Texts of results in a temporary file, in the form in which they are searched."""

from __future__ import annotations

import mmap
import tempfile
import threading
import weakref
from array import array
from collections.abc import Iterable
from os import SEEK_END
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_TEXTS_AT_ONCE = 1000
_END = b"\0"
"""Stands between texts, so that nothing is found across two of them."""


class TextSpool:
    """Append-only; tells which texts hold some words without reading them one by one.

    May be used from several threads. The file has no name and goes with the process.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the object
        weakref.finalize(self, self._file.close)
        self._keys = array("q")
        self._starts = array("q")
        self._size = 0
        self._unwritten: list[bytes] = []
        self._lock = threading.Lock()

    def add(self, key: int, parts: Iterable[str]) -> None:
        """Keep the parts of a text under a key."""
        text = "\n".join(parts).casefold().encode(errors="surrogatepass")
        entry = text.replace(_END, b" ") + _END
        with self._lock:
            self._keys.append(key)
            self._starts.append(self._size)
            self._unwritten.append(entry)
            self._size += len(entry)
            if len(self._unwritten) >= _TEXTS_AT_ONCE:
                self._write()

    def keys_with(self, words: str) -> NDArray[np.int64]:
        """Return the keys of the texts that hold `words` in any case, in the order of `add`."""
        import numpy as np

        sought = words.casefold().encode(errors="surrogatepass")
        with self._lock:
            self._write()
            keys, starts = np.array(self._keys), np.array(self._starts)
            size = self._size
        if not size:
            return keys
        with mmap.mmap(self._file.fileno(), size, access=mmap.ACCESS_READ) as texts:
            places = _first_places(texts, sought)
        found: NDArray[np.int64] = keys[np.searchsorted(starts, places, side="right") - 1]
        return found

    def _write(self) -> None:
        self._file.seek(0, SEEK_END)
        self._file.writelines(self._unwritten)
        self._file.flush()
        self._unwritten.clear()


def _first_places(texts: mmap.mmap, sought: bytes) -> list[int]:
    """Return where `sought` stands first in each text that holds it."""
    places = []
    place = texts.find(sought)
    while place >= 0:
        places.append(place)
        place = texts.find(sought, texts.find(_END, place) + 1)
    return places
