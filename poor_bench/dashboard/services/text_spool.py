"""Texts of results in a temporary file, in the form in which they are searched."""

from __future__ import annotations

import mmap
import tempfile
import threading
import weakref
from array import array
from collections import deque
from itertools import accumulate
from os import SEEK_END
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

_END = b"\0"
"""Stands between texts, so that nothing is found across two of them."""


class TextSpool:
    """Append-only; tells which texts hold some words without reading them one by one.

    Texts are made when they are first searched, or by `write_some`. May be used from several
    threads. The file has no name and goes with the process.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the object
        weakref.finalize(self, self._file.close)
        self._keys = array("q")
        self._starts = array("q")
        self._size = 0
        self._unwritten: deque[tuple[Iterable[int], Iterable[str]]] = deque()
        self._lock = threading.Lock()

    def add_all(self, keys: Iterable[int], texts: Iterable[str]) -> None:
        """Keep texts, each under a key.

        Args:
            keys: One for each text.
            texts: May be made when they are asked for, much later.
        """
        with self._lock:
            self._unwritten.append((keys, texts))

    def keys_with(self, words: str) -> NDArray[np.int64]:
        """Return the keys of the texts that hold `words` in any case, in the order of `add_all`."""
        import numpy as np

        sought = words.casefold().encode(errors="surrogatepass")
        while self.write_some():
            pass
        with self._lock:
            keys, starts = np.array(self._keys), np.array(self._starts)
            size = self._size
        if not size:
            return keys
        with mmap.mmap(self._file.fileno(), size, access=mmap.ACCESS_READ) as texts:
            places = _first_places(texts, sought)
        found: NDArray[np.int64] = keys[np.searchsorted(starts, places, side="right") - 1]
        return found

    def write_some(self) -> bool:
        """Write the texts of one call of `add_all`; return whether there were any to write."""
        with self._lock:
            if not self._unwritten:
                return False
            keys, texts = self._unwritten.popleft()
            entries = list(map(_entry, texts))
            starts = list(accumulate(map(len, entries), initial=self._size))
            self._size = starts.pop()
            self._keys.extend(keys)
            self._starts.extend(starts)
            self._file.seek(0, SEEK_END)
            self._file.write(b"".join(entries))
            self._file.flush()
            return True


def _entry(text: str) -> bytes:
    return text.casefold().encode(errors="surrogatepass").replace(_END, b" ") + _END


def _first_places(texts: mmap.mmap, sought: bytes) -> list[int]:
    """Return where `sought` stands first in each text that holds it."""
    places = []
    place = texts.find(sought)
    while place >= 0:
        places.append(place)
        place = texts.find(sought, texts.find(_END, place) + 1)
    return places
