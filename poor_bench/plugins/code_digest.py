"""A hash of the code that a score depends on."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from hashlib import blake2b
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_SHARED_PACKAGES = ("extraction", "scoring")


def digest_of_code(file: Path | None) -> str:
    """Return a hash of an evaluator's file and of the packages that all evaluators share.

    Args:
        file: The evaluator's source; None where it has none of its own.

    Returns:
        32 hexadecimal digits.
    """
    digest = blake2b(_digest_of_shared_code(), digest_size=16)
    if file is not None:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def digest_of_digests(digests: Iterable[str]) -> str:
    """Return one hash for several, whatever their order."""
    return blake2b("\n".join(sorted(digests)).encode(), digest_size=16).hexdigest()


@cache
def _digest_of_shared_code() -> bytes:
    digest = blake2b(digest_size=16)
    for package in _SHARED_PACKAGES:
        for path in sorted((_PACKAGE / package).rglob("*.py")):
            digest.update(path.relative_to(_PACKAGE).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.digest()
