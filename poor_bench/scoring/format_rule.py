"""One verdict with two scores: with and without the format rule."""

from __future__ import annotations

from typing import TypedDict, Unpack

from poor_bench.scoring.verdict import Verdict

MAX_SHOWN = 2_000
"""Characters of an answer that a verdict keeps; the response itself is stored in full."""


class VerdictFacts(TypedDict, total=False):
    """What a verdict tells beside score and details; see `Verdict`."""

    found: str
    extracted: str
    expected: str
    got: str


def under_format_rule(
    score: float, details: str, *, broken: str, strict: bool, **facts: Unpack[VerdictFacts]
) -> Verdict:
    """Return the verdict on an answer that may have broken the format rule.

    Args:
        score: Score of the answer, whatever its format.
        details: Why.
        broken: How the rule was broken, such as `in a code block`; empty where it was kept.
        strict: Whether breaking it costs the score itself, not only the strict score.
        facts: What else is known.
    """
    facts["extracted"] = facts.get("extracted", "")[:MAX_SHOWN]
    facts["got"] = facts.get("got", "")[:MAX_SHOWN]
    details = details[:MAX_SHOWN]
    if not broken:
        return Verdict(score, details, **facts)
    return Verdict(
        0.0 if strict else score,
        f"{details}; wrong format: {broken}",
        strict_score=0.0,
        **facts,
    )
