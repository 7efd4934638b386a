"""One rule of refusals: parts that follow one another in a clause."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """Parts that follow one another in a clause of a refusal."""

    parts: tuple[re.Pattern[str], ...]
    other_speaker: re.Pattern[str] | None = None
    """What must not stand before the first part; None if nothing may stand there."""
    harmless: re.Pattern[str] | None = None
    """What must not follow the last part within `reach` characters: "I cannot see" declines
    nothing."""
    reach: int = 0


def write_rule(*parts: str, unless: str = "", harmless: str = "", reach: int = 0) -> Rule:
    """Compile a rule; `unless` is what must not stand before its first part."""
    return Rule(
        tuple(map(re.compile, parts)),
        re.compile(unless) if unless else None,
        re.compile(harmless) if harmless else None,
        reach,
    )
