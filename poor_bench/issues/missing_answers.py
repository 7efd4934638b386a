"""Responses without an answer: truncated, lost in thinking, refused, looping."""

from __future__ import annotations

import re

from poor_bench.issues.background import Background
from poor_bench.issues.detector import Among, Detector, each
from poor_bench.issues.issue import Severity
from poor_bench.issues.repetition import repeated_tail
from poor_bench.issues.trial import Trial, quoted

_REFUSAL = re.compile(
    r"""^\W{0,3}
    (?:(?:i['\u2019]?m|i\s+am)\s+(?:very\s+|so\s+)?sorry|sorry|unfortunately|i\s+apologi[sz]e
        |as\s+an\s+ai(?:\s+language)?(?:\s+model|\s+assistant)?)?
    \W{0,3}(?:but\s+)?
    (?:i\s+(?:can(?:['\u2019]?t|not|\s+not)|won['\u2019]?t|will\s+not|must\s+decline
            |am\s+(?:unable|not\s+able))
        |i['\u2019]m\s+(?:unable|not\s+able))
    \s*(?:to\s+)?
    (?:assist|help|comply|provide|fulfil+|do\s+that|answer|complete|generate|create|engage|support
        |with\b|continue)""",
    re.IGNORECASE | re.VERBOSE,
)
_LONGEST_REFUSAL = 600


def _prompt_truncated(trial: Trial, _: Background) -> str | None:
    if "prompt_truncated" not in trial.result.marks:
        return None
    return f"the server counted {trial.result.prompt_tokens} prompt tokens, fewer than sent"


def _repetition(trial: Trial, _: Background) -> str | None:
    if "loop" in trial.result.marks:
        return "the server stopped a repetition"
    tail = repeated_tail(trial.result.response) or repeated_tail(trial.result.thinking)
    return f"ends in {tail.times} times {quoted(tail.unit)!r}" if tail else None


def _thinking_ate_budget(trial: Trial, _: Background) -> str | None:
    if not trial.is_cut_off or trial.answer.strip():
        return None
    if not (trial.result.thinking or trial.split.thinking or trial.split.is_unclosed):
        return None
    tokens = trial.result.completion_tokens
    spent = f"{tokens} tokens" if tokens else "all tokens"
    return f"{spent} were spent and no answer had begun"


def _truncated(trial: Trial, _: Background) -> str | None:
    return f"breaks off at {quoted(trial.result.response[-60:])!r}" if trial.is_cut_off else None


def _unclosed_thinking(trial: Trial, _: Background) -> str | None:
    if not trial.split.is_unclosed:
        return None
    return f"thinking breaks off at {quoted(trial.split.thinking[-60:])!r}"


def _refusal(trial: Trial, _: Background) -> str | None:
    if "refusal" in trial.result.marks:
        return f"the server reports a refusal: {quoted(trial.answer)!r}"
    if not trial.is_zero or len(trial.answer) > _LONGEST_REFUSAL:
        return None
    return quoted(trial.answer, 160) if _REFUSAL.match(trial.answer) else None


def _no_answer(trial: Trial, _: Background) -> str | None:
    if trial.answer.strip():
        return None
    return "the response holds thinking only" if trial.split.thinking else "the response is empty"


DETECTORS = (
    Detector(
        id="prompt_truncated",
        title="Prompt truncated",
        severity=Severity.HIGH,
        meaning="The server dropped the start of the prompt without an error.",
        advice="Raise num_ctx of the model and run these tests again.",
        find=each(_prompt_truncated),
    ),
    Detector(
        id="repetition_loop",
        title="Repetition loop",
        severity=Severity.MEDIUM,
        meaning="The model repeated itself until it was stopped.",
        advice="Raise temperature or repeat_penalty slightly, or use a less quantised model.",
        find=each(_repetition),
        among=Among.LOST,
    ),
    Detector(
        id="thinking_ate_budget",
        title="Token limit in thinking",
        severity=Severity.MEDIUM,
        meaning="The token limit was reached before the answer began.",
        advice="Raise max_tokens, lower the thinking effort, or turn thinking off.",
        find=each(_thinking_ate_budget),
        among=Among.LOST,
    ),
    Detector(
        id="truncated",
        title="Token limit reached",
        severity=Severity.MEDIUM,
        meaning="The answer is longer than max_tokens allows.",
        advice="Raise max_tokens, or ask for a shorter answer.",
        find=each(_truncated),
        among=Among.LOST,
    ),
    Detector(
        id="unclosed_thinking",
        title="Unfinished thinking",
        severity=Severity.MEDIUM,
        meaning="The model stopped while thinking and gave no answer.",
        advice="Check the model's chat template, or let the server separate thinking.",
        find=each(_unclosed_thinking),
        among=Among.LOST,
    ),
    Detector(
        id="refusal",
        title="Refusal",
        severity=Severity.MEDIUM,
        meaning="The model or its provider declined to answer.",
        advice="Reword the prompt, or state the purpose in the system prompt.",
        find=each(_refusal),
        among=Among.LOST,
    ),
    Detector(
        id="no_answer",
        title="No answer",
        severity=Severity.MEDIUM,
        meaning="The response is empty or contains only thinking.",
        advice="Check the model's chat template and stop sequences.",
        find=each(_no_answer),
        among=Among.LOST,
    ),
)
