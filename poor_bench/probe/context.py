"""num_ctx: is a prompt cut that is longer, or shorter, than the context that was asked for? Pure.

A prompt of up to 4,400 words is asked with room for it (the model's own num_ctx, or 8,192 tokens),
one of 1,000 words with 512 tokens. Each word is a token at least, so a smaller count of prompt
tokens means that the prompt was cut. Where tokens are not counted, a code word at the beginning of
the prompt tells: what is cut is the beginning.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass, replace
from itertools import cycle, islice

from poor_bench.models.completion import Message
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
    say_unknown,
)

N_CALLS = 2
_USUAL_CONTEXT = 8192
"""What is asked for where the model has no num_ctx."""
_MOST_WORDS = 4400
"""More tokens than the 4,096 that servers cut to most often; longer prompts cost too much time."""
_SMALL_CONTEXT, _SMALL_WORDS = 512, 1000
_FILLED = 0.62
"""Words per token of context: rare tokenizers need 1.5 tokens for a common word."""
_FILLER = (
    "the river runs down to the old town and the people walk along the road to the market with "
    "bread and milk and fish in the cold wind of the morning while the sun comes up over the "
    "green hill and a dog sleeps by the door of the small house"
)
_ANSWER_TOKENS = 40


@dataclass(frozen=True, slots=True)
class _PromptReading:
    """What one reply shows."""

    is_whole: bool | None
    """True if the whole prompt was read; None if that does not show."""
    is_error: bool = False
    """True if the server refused the prompt as too long, instead of cutting it."""
    context: int | None = None
    """Tokens of context that the reply gives away."""


def probe_context(subject: ProbeSubject, n_spare: int) -> Part:
    """Find out whether num_ctx decides how much of a prompt is read."""
    own = subject.own.get("num_ctx")
    wanted = own if isinstance(own, int) and own > 0 else None
    is_sent = Setting.NUM_CTX not in subject.unsent
    asked = wanted or _USUAL_CONTEXT
    large_words = min(_MOST_WORDS, int(asked * _FILLED))
    large = yield from _read_prompt(subject, large_words, asked if is_sent else None)
    if not is_sent:
        return [_judge_unsent(large, wanted, large_words)]
    small_words = min(_SMALL_WORDS, int(large_words * 0.8))
    small_context = _SMALL_CONTEXT if small_words == _SMALL_WORDS else asked // 4
    small = yield from _read_prompt(subject, small_words, small_context)
    if n_spare and large.is_whole is None and not small.is_whole:
        large = yield from _read_prompt(subject, large_words, asked)
    elif n_spare and large.is_whole and small.is_whole is None:
        small = yield from _read_prompt(subject, small_words, small_context)
    return [_judge(large, small, asked, wanted)]


def _read_prompt(
    subject: ProbeSubject, n_words: int, num_ctx: int | None
) -> Generator[ProbeCall, ProbeReply, _PromptReading]:
    changes = {} if num_ctx is None else {"num_ctx": num_ctx}
    filler = " ".join(islice(cycle(_FILLER.split()), n_words))
    prompt = (
        f"The code word is {subject.nonce}. Remember it.\n\n{filler}\n\n"
        "What is the code word at the beginning of this message? Reply with the code word only."
    )
    reply = yield ProbeCall(
        setting=Setting.NUM_CTX,
        messages=(Message("user", prompt),),
        parameters=subject.parameters(
            temperature=0, max_tokens=subject.room(_ANSWER_TOKENS), **changes
        ),
    )
    return _read(reply, n_words, subject.nonce)


def _read(reply: ProbeReply, n_words: int, code_word: str) -> _PromptReading:
    if reply.failure is not None:
        is_overflow = reply.failure.kind is FailureKind.CONTEXT_OVERFLOW
        context = _find_context(reply.failure.message) if is_overflow else None
        return _PromptReading(
            is_whole=False if is_overflow else None, is_error=is_overflow, context=context
        )
    tokens = reply.prompt_tokens
    is_told_cut = reply.completion is not None and reply.completion.prompt_truncated
    if is_told_cut or (tokens is not None and tokens < n_words):
        return _PromptReading(
            is_whole=False, context=None if tokens is None else estimate_context(tokens)
        )
    if tokens is not None:
        return _PromptReading(is_whole=True)
    is_recalled = code_word.lower() in f"{reply.answer} {reply.thinking}".lower()
    return _PromptReading(is_whole=True if is_recalled else None)


_NUMBER = re.compile(r"\d[\d,]*")
_LEAST_CONTEXT = 128


def _find_context(message: str) -> int | None:
    """Find the context in a refusal: it is the smaller one of the two counts of tokens."""
    numbers = (int(number.replace(",", "")) for number in _NUMBER.findall(message))
    return min((number for number in numbers if number >= _LEAST_CONTEXT), default=None)


_USUAL_SIZES = tuple(256 << power for power in range(10))
_NEAR = 0.02


def estimate_context(prompt_tokens: int) -> int:
    """Estimate the context from the prompt tokens that a cut left.

    Servers cut to the whole context, or (Ollama, see `ollama_wire`) to about the half of it.

    Example:
        >>> estimate_context(4095), estimate_context(2050), estimate_context(3000)
        (4096, 4096, 3000)
    """
    for size in _USUAL_SIZES:
        if size * (1 - _NEAR) <= prompt_tokens <= size:
            return size
        if size / 2 < prompt_tokens <= size / 2 * (1 + _NEAR):
            return size
    return prompt_tokens


def _judge(
    large: _PromptReading, small: _PromptReading, asked: int, wanted: int | None
) -> ProbeFinding:
    setting = Setting.NUM_CTX
    evidence = f"{_describe(large, asked)} {_describe(small, None)}"
    if large.is_whole is False:
        return _judge_cut(large, small, asked, wanted, evidence)
    if small.is_whole:
        return say_ignored(setting, "A prompt that is longer than num_ctx is read whole.", evidence)
    if large.is_whole is None:
        return say_unknown(setting, "The server does not count tokens, and no code word came back.")
    if small.is_whole is None:
        return say_honoured(setting, "A long prompt is read whole, a shorter one is not.", evidence)
    return say_honoured(setting, "Prompts are cut where num_ctx says.", evidence)


def _judge_cut(
    large: _PromptReading, small: _PromptReading, asked: int, wanted: int | None, evidence: str
) -> ProbeFinding:
    setting, context = Setting.NUM_CTX, large.context
    is_wider = bool(context and small.context and context > small.context * 1.5)
    if is_wider and small.is_whole is False and wanted is None:
        return say_honoured(setting, f"num_ctx is obeyed up to {context:,} tokens.", evidence)
    size = f"{context:,}" if context else "less than asked"
    reason = f"A prompt that fits {asked:,} tokens is cut."
    return say_ignored(setting, reason, evidence, note=f"context cut to {size}")


def _judge_unsent(large: _PromptReading, wanted: int | None, n_words: int) -> ProbeFinding:
    setting = Setting.NUM_CTX
    reason = "The provider's API has no num_ctx; it is not sent."
    if large.is_whole is False:
        size = f"{large.context:,}" if large.context else "less than that"
        how = "refused" if large.is_error else "cut without a word"
        evidence = f"A prompt of {n_words:,} words was {how}."
        if wanted or not large.is_error:
            return say_ignored(setting, reason, evidence, note=f"context cut to {size}")
    else:
        seen = "was read whole" if large.is_whole else "was answered"
        evidence = f"A prompt of {n_words:,} words {seen}."
    finding = say_ignored(setting, reason, evidence)
    return finding if wanted else replace(finding, note="")


def _describe(read: _PromptReading, asked: int | None) -> str:
    prompt = f"A prompt within {asked:,} tokens" if asked else "One beyond its num_ctx"
    size = f" to {read.context:,} tokens" if read.context else ""
    if read.is_whole is None:
        return f"{prompt} was answered, but not from its beginning."
    if read.is_error:
        limit = f" (context of {read.context:,} tokens)" if read.context else ""
        return f"{prompt} was refused as too long{limit}."
    return f"{prompt} was read whole." if read.is_whole else f"{prompt} was cut{size}."
