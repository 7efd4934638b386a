"""Read screenshots of a run, and no other file: an agent chose the stored names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

MOST_BYTES = 10_000_000
_TYPES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}


@dataclass(frozen=True, slots=True)
class Image:
    """An image that a browser may be shown."""

    content_type: str
    """`image/png` or `image/jpeg`."""
    data: bytes


def read_screenshot(run_folder: Path, artifacts: str, name: str) -> Image | None:
    """Read an image of one trial; None if it does not exist.

    Only a regular file that lies in the run's folder, also after following links, and begins as a
    PNG or JPEG file does, is an image.

    Args:
        run_folder: Folder of the run.
        artifacts: Folder of the trial, relative to it.
        name: Name of the file in there.
    """
    if not artifacts or not name or "/" in name or "\\" in name or "\0" in name + artifacts:
        return None
    path = (run_folder / artifacts / name).resolve()
    if not path.is_relative_to(run_folder.resolve()) or not path.is_file():
        return None
    if path.stat().st_size > MOST_BYTES:
        return None
    data = path.read_bytes()
    content_type = next((kind for mark, kind in _TYPES.items() if data.startswith(mark)), None)
    return Image(content_type, data) if content_type else None
