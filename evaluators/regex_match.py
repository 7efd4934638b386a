"""Searches the answer for a regular expression and optionally compares one of its groups.

The search has a time limit. If the pattern exceeds it, the test stays pending and the failure names
the pattern, because the test is at fault, not the answer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from poor_bench.extraction.found import Found
from poor_bench.extraction.normalise import fold_answer
from poor_bench.extraction.thinking import without_thinking
from poor_bench.messages import write_count
from poor_bench.scoring import Verdict
from poor_bench.scoring.verdict import MAX_SHOWN, AnswerFormat

if TYPE_CHECKING:
    import regex


class Parameters(BaseModel):
    """Parameters of `regex_match`."""

    model_config = ConfigDict(extra="forbid")

    pattern: str = Field(
        min_length=1, description="Regular expression in the syntax of Python's `re`."
    )
    must: Literal["occur", "match_all", "not_occur"] = Field(
        default="occur",
        description="The pattern must occur, match the whole answer, or not occur.",
    )
    expected: str | None = Field(
        default=None, description="Expected text of `group` in the last match, ignoring case."
    )
    group: int | str = Field(default=0, description="Number or name of the group to compare.")
    ignore_case: bool = Field(default=True, description="Ignore case in the pattern.")
    dot_all: bool = Field(default=False, description="Let `.` match line breaks.")
    timeout_s: float = Field(default=1.0, gt=0, le=60, description="Time limit in seconds.")

    @model_validator(mode="after")
    def _can_be_searched(self) -> Self:
        pattern = _compile(self)
        if self.group not in pattern.groupindex and self.group not in range(pattern.groups + 1):
            raise ValueError(f"the pattern has no group {self.group!r}")
        if self.expected is not None and self.must == "not_occur":
            raise ValueError("`expected` cannot be combined with `must: not_occur`")
        return self


def evaluate(response: str, parameters: Mapping[str, Any]) -> Verdict:
    """Score 1.0 if the answer meets the requirement on the pattern, else 0.0."""
    wanted = Parameters.model_validate(parameters)
    answer = without_thinking(response)
    if not answer.strip():
        return Verdict(0.0, "no answer", found=Found.MISSING)
    match = _search(wanted, answer)
    if wanted.must == "not_occur":
        problem = f"the pattern occurs: {match[0]!r:.200}" if match else ""
    elif match is None:
        problem = "the pattern does not match the whole answer"
        if wanted.must == "occur":
            problem = "the pattern does not occur"
    else:
        problem = _explain_difference(match, wanted)
    return Verdict(
        0.0 if problem else 1.0,
        problem or "the requirement on the pattern is met",
        extracted=match[0][:MAX_SHOWN] if match else "",
        expected=wanted.expected or "",
        got=((match[wanted.group] or "") if match else answer.strip())[:MAX_SHOWN],
    )


def wants(_parameters: Mapping[str, Any]) -> AnswerFormat:
    """Describe the format that the prompt should ask for."""
    return AnswerFormat.TEXT


def _explain_difference(match: regex.Match[str], wanted: Parameters) -> str:
    if wanted.expected is None:
        return ""
    got = match[wanted.group] or ""
    if fold_answer(got) == fold_answer(wanted.expected):
        return ""
    return f"expected {wanted.expected!r:.200}, got {got!r:.200}"


def _search(wanted: Parameters, answer: str) -> regex.Match[str] | None:
    """Find the last match, or the one of the whole answer.

    Raises:
        TimeoutError: If it takes longer than allowed.
    """
    pattern = _compile(wanted)
    try:
        if wanted.must == "match_all":
            return pattern.fullmatch(answer.strip(), timeout=wanted.timeout_s)
        matches = deque(pattern.finditer(answer, timeout=wanted.timeout_s), maxlen=1)
    except TimeoutError as error:
        raise TimeoutError(
            f"pattern {wanted.pattern!r:.100} took longer than {wanted.timeout_s:g} s on an "
            f"answer of {write_count(len(answer), 'character')}"
        ) from error
    return matches[0] if matches else None


def _compile(wanted: Parameters) -> regex.Pattern[str]:
    import regex

    flags = regex.IGNORECASE if wanted.ignore_case else 0
    flags |= regex.DOTALL if wanted.dot_all else 0
    try:
        return regex.compile(wanted.pattern, flags | regex.MULTILINE)
    except regex.error as error:
        raise ValueError(f"the pattern is not a regular expression: {error}") from error
