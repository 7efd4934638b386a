"""Effort: does the model think longer where it is told to? Pure.

Where no thinking was seen before, one short call with high effort looks for it. Then a puzzle is
asked at temperature 0 with low and with high effort. Where both thoughts are the same,
the server dropped the effort. Otherwise their lengths decide, with two more calls at temperature 1:
a ratio of 1 is weighed against ratios around 3, as lengths vary by about 40 % from call to call.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from poor_bench.models.completion import Message
from poor_bench.probe.finding import (
    Part,
    ProbeCall,
    ProbeFinding,
    ProbeReply,
    ProbeSubject,
    Setting,
    honoured,
    ignored,
    refused,
    unknown,
)

N_CALLS = 5
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
        first = yield _call(subject, "high", 0, _TRY_TOKENS)
        if first.omits(Setting.EFFORT) or first.thought <= _SAID_NOTHING:
            return [_judge_silence(first)]
    low: list[ProbeReply] = []
    high: list[ProbeReply] = []
    for number in range((N_CALLS + n_spare - n_tried) // 2):
        low.append((yield _call(subject, "low", number)))
        high.append((yield _call(subject, "high", number)))
        finding = _judge(low, high, is_last=number > 0)
        if finding is not None:
            return [finding]
    return [unknown(Setting.EFFORT, "The lengths of the thoughts leave doubt.", _show(low, high))]


def _judge_silence(reply: ProbeReply) -> ProbeFinding:
    if reply.omits(Setting.EFFORT):
        return refused(Setting.EFFORT)
    return unknown(Setting.EFFORT, "The model shows no thinking, not even at high effort.")


def _call(subject: ProbeSubject, effort: str, number: int, limit: int = _MOST_TOKENS) -> ProbeCall:
    return ProbeCall(
        setting=Setting.EFFORT,
        messages=(Message("user", _PUZZLE),),
        parameters=subject.parameters(
            temperature=min(1, number), seed=number, max_tokens=limit, think=effort
        ),
    )


def _judge(
    low: Sequence[ProbeReply], high: Sequence[ProbeReply], *, is_last: bool
) -> ProbeFinding | None:
    """Conclude from equally many replies at both efforts; None if more calls would help."""
    setting, replies = Setting.EFFORT, (*low, *high)
    if any(reply.omits(setting) for reply in replies):
        return refused(setting)
    if any(reply.completion is None for reply in replies):
        return unknown(setting, "The server refuses an effort with an error.")
    evidence = _show(low, high)
    if any(map(_is_same, low, high)):
        return ignored(setting, "Low and high effort give the same thinking.", evidence)
    return _judge_lengths(low, high, evidence) if is_last else None


def _judge_lengths(
    low: Sequence[ProbeReply], high: Sequence[ProbeReply], evidence: str
) -> ProbeFinding | None:
    lows, highs = ([reply.thought for reply in replies] for replies in (low, high))
    probability = probability_obeyed(lows, highs)
    if probability >= _SURE:
        return honoured(Setting.EFFORT, "The model thinks longer at high effort.", evidence)
    if probability <= 1 - _SURE:
        return ignored(Setting.EFFORT, "The model thinks no longer at high effort.", evidence)
    return None


def _is_same(first: ProbeReply, second: ProbeReply) -> bool:
    """True if two thoughts are the same; of hidden ones, the counts of tokens tell."""
    return first.thought == second.thought > _LEAST_TELLING and first.thinking == second.thinking


def probability_obeyed(low: Sequence[int], high: Sequence[int]) -> float:
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


def _show(low: Sequence[ProbeReply], high: Sequence[ProbeReply]) -> str:
    lows, highs = (", ".join(f"{reply.thought:,}" for reply in replies) for replies in (low, high))
    return f"Thinking tokens at low effort: {lows}; at high effort: {highs}."
