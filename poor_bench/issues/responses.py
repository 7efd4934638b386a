"""Issues that keep a model from answering: failed runs, no answer, repetition, other language."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

from poor_bench.issues.detector import (
    Among,
    Detector,
    IssueSeverity,
    Trial,
    build_detectors,
    never,
    shorten_quote,
)
from poor_bench.models.failure import FailureKind

_KINDS = {
    FailureKind.CONNECTION: (
        "Endpoint not reachable",
        "Cannot connect to the model's endpoint.",
        "Start the server, or correct `endpoint` in llms.json.",
    ),
    FailureKind.TIMEOUT: (
        "Timeout",
        "Connecting, the first token or the whole reply took longer than allowed.",
        "Lower max_tokens, turn thinking off, or raise the model's timeouts.",
    ),
    FailureKind.RATE_LIMITED: (
        "Rate limit",
        "The endpoint accepts fewer requests than were sent; retries did not help.",
        "Set `requests_per_minute` or a lower `concurrency` for the model.",
    ),
    FailureKind.SERVER_ERROR: (
        "Server error",
        "The server failed or closed the connection.",
        "Run again. If the error stays, check the server's log, for example for lack of memory.",
    ),
    FailureKind.AUTH: (
        "Key refused",
        "The key is missing, wrong, or not allowed to use this model.",
        "Set the environment variable that `api_key_env` names.",
    ),
    FailureKind.QUOTA: (
        "Quota used up",
        "The account has no credit or quota left.",
        "Top up the account; the tests stay pending.",
    ),
    FailureKind.MODEL_NOT_FOUND: (
        "Model not found",
        "The endpoint does not serve this model.",
        "Pull the model, or correct its name in llms.json.",
    ),
    FailureKind.BAD_REQUEST: (
        "Request refused",
        "The server rejected the request.",
        "Remove or correct the parameter named in the message.",
    ),
    FailureKind.SETTINGS: (
        "Invalid settings",
        "The model's entry in llms.json is not valid, or needs a package that is not installed.",
        "Correct the setting named in the message.",
    ),
    FailureKind.CONTEXT_OVERFLOW: (
        "Prompt too long",
        "The prompt is longer than the model's context.",
        "Raise num_ctx, or shorten the prompt.",
    ),
    FailureKind.CANCELLED: (
        "Batch cancelled",
        "The batch was cancelled before the request was answered.",
        "Run the tests again, live or in a new batch.",
    ),
    FailureKind.MALFORMED_REPLY: (
        "Malformed reply",
        "The server's reply does not follow its documented format.",
        "Check that `provider` matches the server at the endpoint.",
    ),
    FailureKind.EVALUATOR: (
        "Evaluator failed",
        "The evaluator raised an error or returned an invalid value.",
        "Fix the evaluator, then rescore. Responses are stored.",
    ),
    FailureKind.SANDBOX: (
        "Sandbox failed",
        "The code could not be run for a reason outside the code.",
        "Run the sandbox self-test, then rescore.",
    ),
    FailureKind.JUDGE: (
        "Judge failed",
        "The judge could not be reached, or its reply could not be read.",
        "Check the judge model, then rescore.",
    ),
    FailureKind.AGENT: (
        "Agent not run",
        "The browser or the endpoint of the agent failed, not the agent itself.",
        "Read the message, then run the suite again.",
    ),
    FailureKind.INTERNAL: (
        "Internal error",
        "An error in poor_bench itself.",
        "Report the message. The tests stay pending.",
    ),
    FailureKind.OLDER_TOOL: (
        "Failure of an older tool",
        "An older tool stored a transport error as a response with score 0.",
        "Run these tests again. Until then they count as failed, not as wrong.",
    ),
}


def _find_failure(trial: Trial) -> FailureKind | None:
    return None if trial.result.failure is None else trial.result.failure.kind


def _quote_failure(trial: Trial) -> str:
    return shorten_quote(trial.result.failure.message, 200) if trial.result.failure else ""


FAILED_RUNS = build_detectors(
    _KINDS,
    _find_failure,
    _quote_failure,
    severity=IssueSeverity.HIGH,
    among=Among.FAILED,
    explains_loss=never,
    prefix="failed_",
)


_TAIL = 2000
_LONGEST_UNIT = 300
_LEAST_LENGTH = 200
_LEAST_TIMES = 5
_END = 16
"""Characters at the end that a piece before it must end with, too."""


@dataclass(frozen=True, slots=True)
class RepeatedTail:
    """Repeated piece at the end of a text, counted in its last 2,000 characters."""

    unit: str
    times: int


def find_repeated_tail(text: str) -> RepeatedTail | None:
    """Find the repetition at the end of `text`, or None.

    A loop is a piece of up to 300 characters that stands at the end at least 5 times in a row,
    over at least 200 characters. The time needed does not depend on the length of the text.

    Args:
        text: A response, or thinking.

    Example:
        >>> find_repeated_tail("The answer is " + "no, wait. " * 50)
        RepeatedTail(unit=' no, wait.', times=50)
    """
    tail = text[-_TAIL:].rstrip()
    longest = min(_LONGEST_UNIT, len(tail) // _LEAST_TIMES)
    end = tail[-_END:]
    place = tail.rfind(end, 0, len(tail) - 1)
    while len(tail) >= _LEAST_LENGTH and (period := len(tail) - len(end) - place) <= longest:
        least = max(_LEAST_LENGTH, _LEAST_TIMES * period)
        if least <= len(tail) and tail[-least:-period] == tail[period - least :]:
            return _describe(tail, period)
        place = tail.rfind(end, 0, place + len(end) - 1)
    return None


def _describe(tail: str, period: int) -> RepeatedTail:
    start = len(tail) - period
    while start >= period and tail[start - period : start] == tail[start : start + period]:
        start -= period
    return RepeatedTail(tail[start : start + period], (len(tail) - start) // period)


def _prompt_truncated(trial: Trial) -> str | None:
    if "prompt_truncated" not in trial.result.marks:
        return None
    return f"the server counted {trial.result.prompt_tokens} prompt tokens, fewer than sent"


def _repetition(trial: Trial) -> str | None:
    if "loop" in trial.result.marks:
        return "the server stopped a repetition"
    tail = find_repeated_tail(trial.result.response) or find_repeated_tail(trial.result.thinking)
    return f"ends in {tail.times} times {shorten_quote(tail.unit)!r}" if tail else None


def _thinking_ate_budget(trial: Trial) -> str | None:
    if not trial.is_cut_off or trial.answer.strip():
        return None
    if not (trial.result.thinking or trial.split.thinking or trial.split.is_unclosed):
        return None
    tokens = trial.result.completion_tokens
    spent = f"{tokens} tokens" if tokens else "all tokens"
    return f"{spent} were spent and no answer had begun"


def _find_truncation(trial: Trial) -> str | None:
    return (
        f"breaks off at {shorten_quote(trial.result.response[-60:])!r}"
        if trial.is_cut_off
        else None
    )


def _find_unclosed_thinking(trial: Trial) -> str | None:
    if not trial.split.is_unclosed:
        return None
    return f"thinking breaks off at {shorten_quote(trial.split.thinking[-60:])!r}"


def _refusal(trial: Trial) -> str | None:
    if "refusal" in trial.result.marks:
        return f"the server reports a refusal: {shorten_quote(trial.answer)!r}"
    from poor_bench.extraction.refusal import find_refusal

    return shorten_quote(find_refusal(trial.answer), 160) or None if trial.is_zero else None


def _no_answer(trial: Trial) -> str | None:
    if trial.answer.strip():
        return None
    return "the response holds thinking only" if trial.split.thinking else "the response is empty"


_MISSING = (
    Detector(
        id="prompt_truncated",
        title="Prompt truncated",
        severity=IssueSeverity.HIGH,
        meaning="The server dropped the start of the prompt without an error.",
        advice="Raise num_ctx of the model and run these tests again.",
        check=_prompt_truncated,
    ),
    Detector(
        id="repetition_loop",
        title="Repetition loop",
        severity=IssueSeverity.MEDIUM,
        meaning="The model repeated itself until it was stopped.",
        advice="Raise temperature or repeat_penalty slightly, or use a less quantised model.",
        check=_repetition,
        among=Among.LOST,
    ),
    Detector(
        id="thinking_ate_budget",
        title="Token limit in thinking",
        severity=IssueSeverity.MEDIUM,
        meaning="The token limit was reached before the answer began.",
        advice="Raise max_tokens, lower the thinking effort, or turn thinking off.",
        check=_thinking_ate_budget,
        among=Among.LOST,
    ),
    Detector(
        id="truncated",
        title="Token limit reached",
        severity=IssueSeverity.MEDIUM,
        meaning="The answer is longer than max_tokens allows.",
        advice="Raise max_tokens, or ask for a shorter answer.",
        check=_find_truncation,
        among=Among.LOST,
    ),
    Detector(
        id="unclosed_thinking",
        title="Unfinished thinking",
        severity=IssueSeverity.MEDIUM,
        meaning="The model stopped while thinking and gave no answer.",
        advice="Check the model's chat template, or let the server separate thinking.",
        check=_find_unclosed_thinking,
        among=Among.LOST,
    ),
    Detector(
        id="refusal",
        title="Refusal",
        severity=IssueSeverity.MEDIUM,
        meaning="The model or its provider declined to answer.",
        advice="Reword the prompt, or state the purpose in the system prompt.",
        check=_refusal,
        among=Among.LOST,
    ),
    Detector(
        id="no_answer",
        title="No answer",
        severity=IssueSeverity.MEDIUM,
        meaning="The response is empty or contains only thinking.",
        advice="Check the model's chat template and stop sequences.",
        check=_no_answer,
        among=Among.LOST,
    ),
)


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


def _wrong_language(trial: Trial) -> str | None:
    prompt = trial.result.prompt
    if not prompt or not _NOT_ASCII.search(trial.answer[:_LONGEST_SEARCH]):
        return None
    known = _scripts(prompt)
    answered = _scripts(trial.answer)
    letters = answered.total()
    for script, count in answered.most_common(1):
        if letters >= _LEAST_LETTERS and count >= _LEAST_SHARE * letters and script not in known:
            answer = shorten_quote(trial.answer)
            return f"{count} of {letters} letters are {script.title()}: {answer!r}"
    return None


_LANGUAGE = (
    Detector(
        id="wrong_language",
        title="Answer in another language",
        severity=IssueSeverity.MEDIUM,
        meaning="The answer uses a script that does not occur in the prompt.",
        advice="State the language of the answer in the prompt. Quantised models drift more often.",
        check=_wrong_language,
        among=Among.LOST,
    ),
)


_THINKING_ALOUD = re.compile(
    r"^\W*(?:okay|ok|alright|hmm+|let(?:'s| me) (?:think|see|break)|wait|so,|we need to"
    r"|first, i (?:need|have|should)|the user (?:wants|is asking|asks|asked))\b",
    re.IGNORECASE,
)
_LEAST_LEAK = 200


def _find_leaked_markers(trial: Trial) -> str | None:
    if trial.result.score is None or trial.split.is_unclosed:
        return None
    if trial.split.thinking:
        return f"marked thinking in the response: {shorten_quote(trial.split.thinking)!r}"
    if trial.is_lost and len(trial.answer) >= _LEAST_LEAK and _THINKING_ALOUD.match(trial.answer):
        return f"the answer begins with {shorten_quote(trial.answer)!r}"
    return None


_LEAKS = (
    Detector(
        id="thinking_leaked",
        title="Thinking in the answer",
        severity=IssueSeverity.LOW,
        meaning="The answer contains thinking that should be separate.",
        advice="Set `think` for this model so that the server separates thinking.",
        check=_find_leaked_markers,
        explains_loss=never,
    ),
)


RESPONSES = (*_MISSING, *_LANGUAGE, *_LEAKS)
