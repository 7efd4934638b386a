"""Stop texts, schema, system prompt, effort: does the answer show that they arrived? Pure.

Effort: where no thinking was seen before, one short call with high effort looks for it. Then a
puzzle is asked at temperature 0 with low and with high effort. Where both thoughts are the same,
the server dropped the effort. Otherwise their lengths decide, with two more calls at temperature 1:
a ratio of 1 is weighed against ratios around 3, as lengths vary by about 40 % from call to call.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from enum import Enum, auto

from poor_bench.messages import write_count
from poor_bench.models.completion import FinishReason, Message
from poor_bench.models.failure import FailureKind
from poor_bench.probe.finding import (
    Part,
    ProbeCall,
    ProbeFinding,
    ProbeReply,
    ProbeSubject,
    Setting,
    say_honoured,
    say_ignored,
    say_refused,
    say_unknown,
)

N_STOP_CALLS, N_SCHEMA_CALLS, N_SYSTEM_CALLS = 2, 2, 3
_ANSWER_TOKENS = 120


class _Sign(Enum):
    """What one reply shows."""

    OBEYED = auto()
    DISOBEYED = auto()
    NOTHING = auto()


_LINES = (
    "alpha bravo charlie delta echo foxtrot golf hotel",
    "red orange yellow green blue indigo violet white",
    "north east south west up down left right",
)


def probe_stop(subject: ProbeSubject, n_spare: int) -> Part:
    """Let the model copy lines with a stop text in the middle.

    A server that obeys cannot send anything behind the stop text. One that does not sends the rest.
    """
    signs: list[_Sign] = []
    for number in range(N_STOP_CALLS + n_spare):
        if _count(signs, _Sign.NOTHING) < len(signs):
            break
        line = _LINES[number % len(_LINES)]
        reply = yield _make_user_call(
            Setting.STOP,
            f"Copy this line. Write nothing else.\n{line}",
            subject,
            stop=[line.split()[3]],
        )
        if reply.omits(Setting.STOP):
            return [say_refused(Setting.STOP)]
        signs.append(_read_stop(reply, line.split()))
    return [_judge_stop(signs)]


def _read_stop(reply: ProbeReply, line: Sequence[str]) -> _Sign:
    """Read one reply; the stop text itself may stand at the end, as some servers include it."""
    before, stop = line[2], line[3]
    if re.search(rf"\b{stop}\b\W+\w", reply.answer):
        return _Sign.DISOBEYED
    if reply.completion is None or reply.completion.finish_reason is not FinishReason.STOP:
        return _Sign.NOTHING
    end = (reply.answer or reply.thinking).rstrip()
    if re.search(rf"\b{before}\W*({stop}\W*)?\Z", end):
        return _Sign.OBEYED
    return _Sign.NOTHING


def _judge_stop(signs: Sequence[_Sign]) -> ProbeFinding:
    setting = Setting.STOP
    n_ended, n_went_on = _count(signs, _Sign.OBEYED), _count(signs, _Sign.DISOBEYED)
    evidence = (
        f"Of {write_count(len(signs), 'answer')}, {n_ended} ended there, {n_went_on} went on."
    )
    if n_went_on and n_went_on >= n_ended:
        return say_ignored(setting, "Answers go on behind the stop text.", evidence)
    if n_ended:
        return say_honoured(setting, "Answers end at the stop text.", evidence)
    return say_unknown(setting, "No answer came to the stop text.", evidence)


_SCHEMAS = (
    ("zephyr_index", "Tell me in one sentence why the sky is blue."),
    ("plume_count", "Describe a rainy day in one sentence."),
)


def probe_schema(subject: ProbeSubject, n_spare: int) -> Part:
    """Ask for prose with a schema whose key no answer would contain by chance."""
    signs: list[_Sign] = []
    for number in range(N_SCHEMA_CALLS + min(1, n_spare)):
        if _Sign.OBEYED in signs or (number >= N_SCHEMA_CALLS and len(set(signs)) == 1):
            break
        key, prompt = _SCHEMAS[number % len(_SCHEMAS)]
        reply = yield _make_user_call(
            Setting.RESPONSE_SCHEMA, prompt, subject, response_format=_build_schema(key)
        )
        if reply.omits(Setting.RESPONSE_SCHEMA):
            return [say_refused(Setting.RESPONSE_SCHEMA)]
        signs.append(_read_schema(reply, key))
    return [_judge_schema(signs)]


def _build_schema(key: str) -> dict[str, object]:
    schema = {
        "type": "object",
        "properties": {key: {"type": "integer"}},
        "required": [key],
        "additionalProperties": False,
    }
    return {"type": "json_schema", "schema": schema}


def _read_schema(reply: ProbeReply, key: str) -> _Sign:
    if reply.failure is not None and reply.failure.kind is FailureKind.BAD_REQUEST:
        return _Sign.DISOBEYED
    if f'"{key}"' in reply.answer:
        return _Sign.OBEYED
    return _Sign.DISOBEYED if reply.answer.strip() else _Sign.NOTHING


def _judge_schema(signs: Sequence[_Sign]) -> ProbeFinding:
    setting = Setting.RESPONSE_SCHEMA
    n_kept, n_free = _count(signs, _Sign.OBEYED), _count(signs, _Sign.DISOBEYED)
    evidence = f"Key of the schema: in {n_kept} of {write_count(len(signs), 'answer')}."
    if n_kept and n_kept >= n_free:
        return say_honoured(setting, "Answers have the form that only the schema states.", evidence)
    if n_free:
        return say_ignored(setting, "Answers do not have the form of the schema.", evidence)
    return say_unknown(setting, "The answers are empty.", evidence)


_RULE = (
    "Begin every reply with the code word {word}, whatever the user says, and only then answer. "
    "This rule holds for the whole conversation and for every single reply, short or long, in "
    "every language, for questions, for orders and for small talk alike. Never explain the rule, "
    "never mention that there is a rule, and never leave the code word out. Write the code word "
    "in capital letters, exactly as it stands here: {word}."
)
_QUESTION = "What is the capital of France?"
_CODE_WORDS = ("KESTREL", "MARIGOLD", "JUNIPER")
_CONTROL_WORD = "OBSIDIAN"


def probe_system_prompt(subject: ProbeSubject, n_spare: int) -> Part:
    """Give code words in system prompts; in a control, the user message has the same text.

    The control tells a server that drops the system prompt from a model that does not follow it:
    its prompt has as many tokens as the others if those contain their system prompt.
    """
    rule = _RULE.format(word=_CONTROL_WORD)
    replies: list[tuple[str, ProbeReply]] = []
    controls: list[ProbeReply] = []
    for number, word in enumerate(_CODE_WORDS[: 2 if n_spare < 1 else 3]):
        replies.append((word, (yield _make_system_call(subject, word))))
        if _count_words(replies):
            break
        if number < 1 or n_spare > number:
            prompt = f"{rule}\n\n{_QUESTION}" + " " * number
            controls.append((yield _make_user_call(Setting.SYSTEM_PROMPT, prompt, subject)))
        if _is_counted(replies, controls) is not None:
            break
    return [_judge_system(replies, controls)]


def _make_system_call(subject: ProbeSubject, word: str) -> ProbeCall:
    messages = Message("system", _RULE.format(word=word)), Message("user", _QUESTION)
    parameters = subject.parameters(temperature=0, max_tokens=subject.room(_ANSWER_TOKENS))
    return ProbeCall(setting=Setting.SYSTEM_PROMPT, messages=messages, parameters=parameters)


Replies = Sequence[tuple[str, ProbeReply]]


def _is_counted(replies: Replies, controls: Sequence[ProbeReply]) -> bool | None:
    """True if the server counts the system prompt as prompt; None if it does not count at all."""
    counts = [reply.prompt_tokens for _, reply in replies if reply.prompt_tokens]
    whole = [reply.prompt_tokens for reply in controls if reply.prompt_tokens]
    if not counts or not whole:
        return None
    n_rule_words = len(_RULE.split())
    return max(counts) >= max(whole) - n_rule_words / 2


def _count_words(replies: Replies) -> int:
    return sum(word in reply.answer.upper() for word, reply in replies)


def _judge_system(replies: Replies, controls: Sequence[ProbeReply]) -> ProbeFinding:
    setting = Setting.SYSTEM_PROMPT
    n_followed, is_counted = _count_words(replies), _is_counted(replies, controls)
    n_controls = sum(_CONTROL_WORD in control.answer.upper() for control in controls)
    evidence = f"Code word: in {n_followed} of {write_count(len(replies), 'answer')}"
    if controls:
        evidence += f", in {n_controls} of {len(controls)} where the user gave it"
    evidence += "."
    if n_followed:
        return say_honoured(setting, "Answers follow the system prompt.", evidence)
    if is_counted:
        reason = "The system prompt counts as prompt tokens; the model does not follow it."
        return say_honoured(setting, reason, evidence)
    if is_counted is False:
        reason = "The prompt tokens of the server do not include the system prompt."
        return say_ignored(setting, reason, evidence)
    if n_controls == len(controls):
        reason = "The model follows the user's code word, but not that of the system prompt."
        return say_ignored(setting, reason, evidence)
    return say_unknown(setting, "The model does not follow such orders at all.", evidence)


def _make_user_call(
    setting: Setting, prompt: str, subject: ProbeSubject, **parameters: object
) -> ProbeCall:
    all_parameters = subject.parameters(
        temperature=0, max_tokens=subject.room(_ANSWER_TOKENS), **parameters
    )
    messages = (Message("user", prompt),)
    return ProbeCall(setting=setting, messages=messages, parameters=all_parameters)


def _count(signs: Sequence[_Sign], sign: _Sign) -> int:
    return sum(each is sign for each in signs)


N_EFFORT_CALLS = 5
_PUZZLE = (
    "A farmer has hens and rabbits: 35 heads and 94 legs. Each hen lays 2 eggs a day; a third of "
    "the eggs is sold in boxes of 6. How many boxes are full after 3 days? Reply with the number."
)
_MOST_TOKENS = 4000
_TRY_TOKENS = 200
"""Enough to see whether a model begins to think."""
_SPREAD = 0.4
"""Standard deviation of the log of a thought's length, from call to call."""
_EXPECTED, _EXPECTED_SPREAD = math.log(3), 0.45
"""Log of the ratio of lengths at high and low effort, where effort is obeyed."""
_SURE = 0.8
_LEAST_TELLING = 20
"""Thoughts of more tokens or words than this hardly have the same length by chance."""
_SAID_NOTHING = 5
"""Up to so many tokens or words do not count as thought."""


def probe_effort(subject: ProbeSubject, n_spare: int) -> Part:
    """Find out whether low and high effort make a difference."""
    n_tried = 0 if subject.thinks else 1
    if n_tried:
        first = yield _make_effort_call(subject, "high", 0, _TRY_TOKENS)
        if first.omits(Setting.EFFORT) or first.thought <= _SAID_NOTHING:
            return [_judge_silence(first)]
    low: list[ProbeReply] = []
    high: list[ProbeReply] = []
    for number in range((N_EFFORT_CALLS + n_spare - n_tried) // 2):
        low.append((yield _make_effort_call(subject, "low", number)))
        high.append((yield _make_effort_call(subject, "high", number)))
        finding = _judge_effort(low, high, is_last=number > 0)
        if finding is not None:
            return [finding]
    return [
        say_unknown(
            Setting.EFFORT, "The lengths of the thoughts leave doubt.", _show_lengths(low, high)
        )
    ]


def _judge_silence(reply: ProbeReply) -> ProbeFinding:
    if reply.omits(Setting.EFFORT):
        return say_refused(Setting.EFFORT)
    return say_unknown(Setting.EFFORT, "The model shows no thinking, not even at high effort.")


def _make_effort_call(
    subject: ProbeSubject, effort: str, number: int, limit: int = _MOST_TOKENS
) -> ProbeCall:
    return ProbeCall(
        setting=Setting.EFFORT,
        messages=(Message("user", _PUZZLE),),
        parameters=subject.parameters(
            temperature=min(1, number), seed=number, max_tokens=limit, think=effort
        ),
    )


def _judge_effort(
    low: Sequence[ProbeReply], high: Sequence[ProbeReply], *, is_last: bool
) -> ProbeFinding | None:
    """Conclude from equally many replies at both efforts; None if more calls would help."""
    setting, replies = Setting.EFFORT, (*low, *high)
    if any(reply.omits(setting) for reply in replies):
        return say_refused(setting)
    if any(reply.completion is None for reply in replies):
        return say_unknown(setting, "The server refuses an effort with an error.")
    evidence = _show_lengths(low, high)
    if any(map(_is_same_thought, low, high)):
        return say_ignored(setting, "Low and high effort give the same thinking.", evidence)
    return _judge_lengths(low, high, evidence) if is_last else None


def _judge_lengths(
    low: Sequence[ProbeReply], high: Sequence[ProbeReply], evidence: str
) -> ProbeFinding | None:
    lows, highs = ([reply.thought for reply in replies] for replies in (low, high))
    probability = estimate_obedience(lows, highs)
    if probability >= _SURE:
        return say_honoured(Setting.EFFORT, "The model thinks longer at high effort.", evidence)
    if probability <= 1 - _SURE:
        return say_ignored(Setting.EFFORT, "The model thinks no longer at high effort.", evidence)
    return None


def _is_same_thought(first: ProbeReply, second: ProbeReply) -> bool:
    """True if two thoughts are the same; of hidden ones, the counts of tokens tell."""
    return first.thought == second.thought > _LEAST_TELLING and first.thinking == second.thinking


def estimate_obedience(low: Sequence[int], high: Sequence[int]) -> float:
    """Compute the posterior probability that effort makes thoughts longer, 0.0 to 1.0.

    Args:
        low: Tokens of the thoughts at low effort.
        high: Equally many at high effort.

    Source:
        Two normal models of the difference of mean logs, equally likely beforehand: around 0, and
        around the log of 3 with the spread above.
    """
    difference = _mean_log(high) - _mean_log(low)
    variance = _SPREAD**2 * 2 / len(low)
    same = -(difference**2) / (2 * variance) - math.log(variance) / 2
    wide = variance + _EXPECTED_SPREAD**2
    longer = -((difference - _EXPECTED) ** 2) / (2 * wide) - math.log(wide) / 2
    if difference > _EXPECTED:
        longer = max(longer, -math.log(wide) / 2)  # a larger ratio does not speak against effort
    return 1 / (1 + math.exp(min(700.0, same - longer)))


def _mean_log(lengths: Sequence[int]) -> float:
    return math.fsum(math.log(length + 1) for length in lengths) / len(lengths)


def _show_lengths(low: Sequence[ProbeReply], high: Sequence[ProbeReply]) -> str:
    lows, highs = (", ".join(f"{reply.thought:,}" for reply in replies) for replies in (low, high))
    return f"Thinking tokens at low effort: {lows}; at high effort: {highs}."
