"""Two prompts side by side."""

from __future__ import annotations

import difflib


def unified_diff(base: str, new: str) -> str:
    r"""Diff of `new` against `base`; empty if equal.

    Example:
        >>> print(unified_diff("Solve:\n{problem}", "Compute:\n{problem}"))
        --- in use
        +++ proposed
        @@ -1,2 +1,2 @@
        -Solve:
        +Compute:
         {problem}
    """
    lines = difflib.unified_diff(
        base.splitlines(), new.splitlines(), "current", "proposed", lineterm=""
    )
    return "\n".join(lines)
