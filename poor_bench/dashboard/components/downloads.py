"""Files that the browser saves."""

from __future__ import annotations

from typing import Any


def text_file(name: str, content: str) -> dict[str, Any]:
    """Return what `dcc.Download` takes as its data.

    Args:
        name: File name that the browser proposes.
        content: The text of the file.
    """
    return {"filename": name, "content": content, "base64": False, "type": "text/csv"}
