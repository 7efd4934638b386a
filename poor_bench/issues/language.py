"""Answers in another script than the prompt's."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from poor_bench.issues.background import Background
from poor_bench.issues.detector import Among, Detector, each
from poor_bench.issues.issue import Severity
from poor_bench.issues.trial import Trial, quoted

_LONGEST_SEARCH = 4000
_LEAST_LETTERS = 20
_LEAST_SHARE = 0.3
_ONE_SCRIPT = {"HIRAGANA": "CJK", "KATAKANA": "CJK"}
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


def _scripts(text: str) -> Counter[str]:
    """Count letters by script, such as LATIN, CYRILLIC, CJK."""
    counts: Counter[str] = Counter()
    for letter in text[:_LONGEST_SEARCH]:
        if letter.isalpha():
            script = "LATIN" if letter.isascii() else unicodedata.name(letter, "?").split()[0]
            counts[_ONE_SCRIPT.get(script, script)] += 1
    return counts


def _wrong_language(trial: Trial, _: Background) -> str | None:
    prompt = trial.result.prompt
    if not prompt or not _NOT_ASCII.search(trial.answer[:_LONGEST_SEARCH]):
        return None
    known = _scripts(prompt)
    answered = _scripts(trial.answer)
    letters = answered.total()
    for script, count in answered.most_common(1):
        if letters >= _LEAST_LETTERS and count >= _LEAST_SHARE * letters and script not in known:
            return f"{count} of {letters} letters are {script.title()}: {quoted(trial.answer)!r}"
    return None


DETECTORS = (
    Detector(
        id="wrong_language",
        title="Answer in another language",
        severity=Severity.MEDIUM,
        meaning="The answer uses a script that does not occur in the prompt.",
        advice="State the language of the answer in the prompt. Quantised models drift more often.",
        find=each(_wrong_language),
        among=Among.LOST,
    ),
)
