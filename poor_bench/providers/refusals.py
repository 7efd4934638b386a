"""Which parameter a server objects to, where it could do without; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from poor_bench.providers.error_reply import ErrorReply

_CODES = frozenset(
    {"unsupported_parameter", "unsupported_value", "unknown_parameter", "extra_forbidden"}
)
_WORDS = re.compile(
    r"unsupported|not (currently |yet )?support|n't support|unknown|unrecogni[sz]ed|unexpected"
    r"|not (be )?(permitted|allowed)|extra (inputs?|fields?)|deprecated|only (the )?default"
    r"|may only|cannot both|incompatible",
    re.IGNORECASE,
)


def refused_parameter(error: ErrorReply, candidates: Sequence[str]) -> str | None:
    """Return the first of `candidates` that a server does not take at all.

    A value out of range is not such a refusal: it is the user's to mend.

    Args:
        error: What the server said.
        candidates: Parameters of the request that may be left out, the least missed first.
    """
    if not is_refusal(error):
        return None
    named = re.split(r"[.\[]", error.parameter)[0]
    if named in candidates:
        return named
    return next((name for name in candidates if _mentions(error.message, name)), None)


def is_refusal(error: ErrorReply) -> bool:
    """Return whether a server says that it does not know or take something, whatever it is."""
    return bool(error.codes & _CODES) or _WORDS.search(error.message) is not None


def _mentions(message: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", message) is not None
