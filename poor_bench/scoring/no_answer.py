"""Responses without an answer: told apart from wrong answers."""

from __future__ import annotations

from poor_bench.models.completion import FinishReason
from poor_bench.scoring.verdict import Verdict

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


def no_answer_verdict(
    answer: str, *, finish: FinishReason, thinking_is_unclosed: bool = False
) -> Verdict | None:
    """Return the verdict on a response whose answer is empty; None where there is an answer.

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
    return Verdict(0.0, f"No answer: {reason}.")


def explain_cut_off(verdict: Verdict, finish: FinishReason) -> Verdict:
    """Return a zero for a response that the token limit cut off as "no answer", with the reason.

    Any other verdict is returned as it is: an answer that was found before the cut counts.
    """
    if finish is not FinishReason.LENGTH or verdict.score > 0:
        return verdict
    return Verdict(
        0.0,
        f"No answer: truncated at the token limit. {verdict.details}",
        strict_score=verdict.strict_score,
        found=verdict.found,
        extracted=verdict.extracted,
        expected=verdict.expected,
        got=verdict.got,
    )


def marks_of(
    *,
    finish: FinishReason,
    prompt_truncated: bool,
    key_hidden: bool = False,
    thinking_is_unclosed: bool,
    has_answer: bool,
) -> tuple[str, ...]:
    """Return what is remarkable about a response, in a fixed order."""
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
