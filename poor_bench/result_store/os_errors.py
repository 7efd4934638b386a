"""What the operating system refuses, told as an error of the store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from poor_bench.errors import StoreError


@contextmanager
def os_errors_told(path: Path) -> Iterator[None]:
    """Raise what the operating system refuses as an error of the store.

    Args:
        path: The file that is named where the system names none.

    Raises:
        StoreError: Instead of every OSError.
    """
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{error.filename or path}: {error.strerror or error}",
            hint="Check the permissions of the file and its folder. Stored results are intact.",
        ) from error
