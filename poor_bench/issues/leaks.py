"""Thinking in the place of the answer."""

from __future__ import annotations

import re

from poor_bench.issues.background import Background
from poor_bench.issues.detector import Detector, each, never
from poor_bench.issues.issue import Severity
from poor_bench.issues.trial import Trial, quoted

_THINKING_ALOUD = re.compile(
    r"^\W*(?:okay|ok|alright|hmm+|let(?:'s| me) (?:think|see|break)|wait|so,|we need to"
    r"|first, i (?:need|have|should)|the user (?:wants|is asking|asks|asked))\b",
    re.IGNORECASE,
)
_LEAST_LENGTH = 200


def _leaked(trial: Trial, _: Background) -> str | None:
    if trial.result.score is None or trial.split.is_unclosed:
        return None
    if trial.split.thinking:
        return f"marked thinking in the response: {quoted(trial.split.thinking)!r}"
    if trial.is_lost and len(trial.answer) >= _LEAST_LENGTH and _THINKING_ALOUD.match(trial.answer):
        return f"the answer begins with {quoted(trial.answer)!r}"
    return None


DETECTORS = (
    Detector(
        id="thinking_leaked",
        title="Thinking in the answer",
        severity=Severity.LOW,
        meaning="The answer contains thinking that should be separate.",
        advice="Set `think` for this model so that the server separates thinking.",
        find=each(_leaked),
        explains_loss=never,
    ),
)
