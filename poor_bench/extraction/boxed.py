r"""What stands in LaTeX's `\boxed{}`."""

from __future__ import annotations

_OPENING = "\\boxed{"
_MAX_LENGTH = 1000


def last_boxed(text: str) -> str | None:
    r"""Return what the last `\boxed{}` holds, up to 1,000 characters; None where there is none."""
    start = text.rfind(_OPENING)
    if start < 0:
        return None
    start += len(_OPENING)
    depth = 1
    for offset, character in enumerate(text[start : start + _MAX_LENGTH]):
        depth += (character == "{") - (character == "}")
        if depth == 0:
            return text[start : start + offset]
    return None
