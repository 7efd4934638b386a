"""Verdict of an evaluator on one response, and the answer format that it wants."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Any, Self, TypedDict, Unpack

from poor_bench.messages import cut_text
from poor_bench.models.completion import FinishReason


class AnswerFormat(StrEnum):
    """Answer format that a prompt should request, so that the evaluator finds the answer."""

    JSON_OBJECT = "json_object"
    JSON_LIST = "json_list"
    JSON = "json"
    """Any JSON value."""
    NUMBER = "number"
    CHOICE = "choice"
    """The label of one of several given choices."""
    LIST = "list"
    """Several items, in whatever notation."""
    CODE = "code"
    DIFF = "diff"
    """A unified diff."""
    EXPRESSION = "expression"
    """A mathematical expression, plain or LaTeX."""
    TEXT = "text"
    """Nothing in particular."""


class Cause(StrEnum):
    """Why a response lost score, for machines; of several causes the first one here counts.

    An evaluator that states no cause leaves it empty.
    """

    NO_ANSWER = "no_answer"
    TRUNCATED = "truncated"
    MISSING_FUNCTION = "missing_function"
    ARGUMENTS = "arguments"
    """The function cannot be called with the arguments of the test."""
    MISSING_MODULE = "missing_module"
    SYNTAX = "syntax"
    TIME_LIMIT = "time_limit"
    CRASH = "crash"
    """An exception, or the end of the process."""
    WRONG_ANSWER = "wrong_answer"


MAX_DETAILS = 20_000
"""Characters of details, and of each other text of a verdict, that are kept."""
_CUT_MARK = "\n\n[cut: {} characters in all]"
_LONGEST_MARK = 60
_TEXTS = ("found", "extracted", "expected", "got", "cause")


class Verdict(tuple[float, str]):
    """A pair `(score, details)` that can say more.

    It unpacks and compares as the plain pair that every evaluator returns, so a drop-in evaluator
    may return `(0.5, "half of it")` and a built-in one adds how the answer was found.

    Attributes:
        strict_score: Score under the format rule; None where the rule was kept or there is none.
        found: How the answer was found (bare, fenced, in prose, repaired, ...); may be empty.
        extracted: The answer that was found, as it stands in the response.
        expected: What was expected, as text for a comparison.
        got: What was found, normalised like `expected`.
        cause: Why score was lost, a `Cause` or an id of the evaluator's own; may be empty.

    Example:
        >>> score, details = Verdict(1.0, "right", strict_score=0.0, found="fenced")
        >>> score
        1.0
    """

    strict_score: float | None
    found: str
    extracted: str
    expected: str
    got: str
    cause: str

    def __new__(
        cls,
        score: float,
        details: str,
        *,
        strict_score: float | None = None,
        found: str = "",
        extracted: str = "",
        expected: str = "",
        got: str = "",
        cause: str = "",
    ) -> Self:
        """Make the pair with what else is known."""
        verdict = super().__new__(cls, (score, details))
        verdict.strict_score = strict_score
        verdict.found = found
        verdict.extracted = extracted
        verdict.expected = expected
        verdict.got = got
        verdict.cause = cause
        return verdict

    @property
    def score(self) -> float:
        """Share of the test that was solved, 0.0 to 1.0."""
        return self[0]

    @property
    def details(self) -> str:
        """Why, in one sentence or a short Markdown list."""
        return self[1]


def check_verdict(returned: Any) -> Verdict:
    """Check what an evaluator returned, and bound the length of its texts.

    Raises:
        ValueError: If it is not a pair of a number from 0.0 to 1.0 and a text; the message says
            what was wrong with it.
    """
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise ValueError(f"expected a pair (score, details), got {_name_key(returned)}")
    score, details = returned
    strict = returned.strict_score if isinstance(returned, Verdict) else None
    for value in (score,) if strict is None else (score, strict):
        _require_unit_number(value)
    if not isinstance(details, str):
        raise ValueError(f"details must be a text, got {_name_key(details)}")
    if not isinstance(returned, Verdict):
        return Verdict(float(score), cut_details(details))
    return Verdict(
        score,
        cut_details(details),
        strict_score=strict,
        **{name: cut_details(str(getattr(returned, name))) for name in _TEXTS},
    )


def add_printed(verdict: Verdict, printed: str) -> Verdict:
    """Add what an evaluator printed to its details, in a block that it cannot leave."""
    if not printed.strip():
        return verdict
    quoted = "\n".join(f"    {line}" for line in printed.strip().splitlines())
    details = cut_details(f"{verdict.details}\n\nPrinted by the evaluator:\n\n{quoted}")
    return Verdict(verdict.score, details, **vars(verdict))


def cut_details(text: str) -> str:
    """Cut a text that is too long to be kept, and say so at its end; it may quote a model.

    Example:
        >>> cut_details("x" * 30_000)[-31:]
        '[cut: 30,000 characters in all]'
    """
    if len(text) <= MAX_DETAILS:
        return cut_text(text, MAX_DETAILS)
    mark = _CUT_MARK.format(f"{len(text):,}")
    return cut_text(text, MAX_DETAILS - _LONGEST_MARK) + mark


def _require_unit_number(value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"the score must be a number from 0.0 to 1.0, got {_name_key(value)}")
    if not math.isfinite(value) or not 0 <= value <= 1:
        raise ValueError(f"the score must be from 0.0 to 1.0, got {value!r}")


def _name_key(value: Any) -> str:
    return f"{type(value).__name__} {value!r:.80}"


MAX_SHOWN = 2_000
"""Characters of an answer that a verdict keeps; the response itself is stored in full."""


class VerdictFacts(TypedDict, total=False):
    """Facts of a verdict beside score and details; see `Verdict`."""

    found: str
    extracted: str
    expected: str
    got: str
    cause: str


def apply_format_rule(
    score: float, details: str, *, broken: str, strict: bool, **facts: Unpack[VerdictFacts]
) -> Verdict:
    """Make the verdict on an answer that may have broken the format rule.

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


NO_ANSWER = "no_answer"
UNCLOSED_THINKING = "unclosed_thinking"
PROMPT_TRUNCATED = "prompt_truncated"
KEY_HIDDEN = "key_hidden"
_MARKS = {
    FinishReason.LENGTH: "truncated",
    FinishReason.REFUSAL: "refusal",
    FinishReason.LOOP: "loop",
}
_REASONS = {
    FinishReason.LENGTH: "truncated at the token limit",
    FinishReason.REFUSAL: "the LLM refused",
    FinishReason.LOOP: "the server stopped a repetition",
}


def explain_no_answer(
    answer: str, *, finish: FinishReason, thinking_is_unclosed: bool = False
) -> Verdict | None:
    """Make the verdict on a response without an answer; None if there is one.

    Args:
        answer: The response without its thinking.
        finish: Why the LLM stopped.
        thinking_is_unclosed: Whether it stopped in the middle of thinking.
    """
    if answer.strip():
        return None
    reason = _REASONS.get(finish, "the response is empty")
    if thinking_is_unclosed:
        reason += " while still thinking"
    return Verdict(0.0, f"No answer: {reason}.", cause=Cause.NO_ANSWER)


def explain_cut_off(verdict: Verdict, finish: FinishReason) -> Verdict:
    """Explain a zero by the token limit if that cut the response off.

    Any other verdict is returned as it is: an answer that was found before the cut counts.
    """
    if finish is not FinishReason.LENGTH or verdict.score > 0:
        return verdict
    return Verdict(
        0.0,
        f"No answer: truncated at the token limit. {verdict.details}",
        **{**vars(verdict), "cause": Cause.TRUNCATED},
    )


def list_flags(
    *,
    finish: FinishReason,
    prompt_truncated: bool,
    key_hidden: bool = False,
    thinking_is_unclosed: bool,
    has_answer: bool,
) -> tuple[str, ...]:
    """List the flags of a response, in a fixed order."""
    marks = [_MARKS[finish]] if finish in _MARKS else []
    if not has_answer:
        marks.append(NO_ANSWER)
    if thinking_is_unclosed:
        marks.append(UNCLOSED_THINKING)
    if prompt_truncated:
        marks.append(PROMPT_TRUNCATED)
    if key_hidden:
        marks.append(KEY_HIDDEN)
    return tuple(marks)
