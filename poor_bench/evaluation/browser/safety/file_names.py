"""Names for files that a web page has named; pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import PurePosixPath

_LONGEST = 80
_RESERVED = re.compile(r"^(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)


def safe_file_name(suggested: str, taken: Collection[str] = ()) -> str:
    """Make a file name like `suggested` that stays in its folder and is new there.

    Example:
        >>> safe_file_name("../../etc/pass wd"), safe_file_name("a.csv", {"a.csv"})
        ('pass_wd', 'a-2.csv')
    """
    last = re.split(r"[/\\]", suggested)[-1]
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", last).strip("._")[-_LONGEST:].lstrip("._-")
    if not plain or _RESERVED.match(plain):
        plain = f"file_{plain}".rstrip("_")
    path = PurePosixPath(plain)
    number, name = 1, plain
    while name in taken:
        number += 1
        name = f"{path.stem}-{number}{path.suffix}"
    return name
