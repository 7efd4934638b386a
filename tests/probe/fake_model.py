"""A small stochastic model behind a server that may drop settings: no network, no waiting.

It draws words from a table of logits, with a stream of random numbers per seed and the rounding
noise of parallel servers; it copies, follows orders and recalls code words as often as its skill
says. What it cannot show (effort of a model that does not think) is named by `hidden`.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poor_bench.models.completion import Completion, FinishReason, Message, Timing, Usage
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.probe.finding import ProbeCall, ProbeReply, Setting

N_WORDS, N_CONTEXTS = 24, 512
_LOGITS = np.random.default_rng(7).normal(size=(N_CONTEXTS, N_WORDS))
_GREETING = ["Sure!", "Here", "are", "60", "random", "English", "nouns:"]
TOKENS_PER_WORD = 1.4
_DROPPED_KEYS = {
    Setting.SEED: "seed",
    Setting.TEMPERATURE: "temperature",
    Setting.MAX_TOKENS: "max_tokens",
    Setting.NUM_CTX: "num_ctx",
    Setting.STOP: "stop",
    Setting.RESPONSE_SCHEMA: "response_format",
    Setting.EFFORT: "think",
}


@dataclass(kw_only=True)
class FakeModel:
    """One model behind one server."""

    dropped: frozenset[Setting] = frozenset()
    peakedness: float = 1.5
    """Spread of the logits: 1 draws nearly any word, 3 mostly a few."""
    noise: float = 0.0
    """Spread of what rounding adds to the logits."""
    default_temperature: float = 0.8
    default_seed: int | None = None
    """Seed of requests without one; None for another one each time."""
    counts_tokens: bool = True
    skill: float = 0.98
    """How often it does what it is told."""
    thinks: bool = False
    hides_thinking: bool = False
    greets: bool = False
    has_default_system: bool = False
    context: int = 4096
    overflow: str = "half"
    """What happens to prompts that are too long: `error`, `cut` or `half` (as Ollama)."""
    caches: bool = False
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    _cache: dict[str, ProbeReply] = field(default_factory=dict)

    @property
    def hidden(self) -> frozenset[Setting]:
        """Settings that nobody could tell from the answers."""
        hidden = set() if self.thinks else {Setting.EFFORT}
        always_alike = not self.default_temperature or self.default_seed is not None
        if Setting.TEMPERATURE in self.dropped and always_alike:
            hidden.add(Setting.SEED)
        return frozenset(hidden)

    def answer(self, call: ProbeCall) -> ProbeReply:
        """Answer one call."""
        key = repr((call.messages, dict(call.parameters)))
        if self.caches and key in self._cache:
            return self._cache[key]
        reply = self._answer(call)
        self._cache[key] = reply
        return reply

    def _answer(self, call: ProbeCall) -> ProbeReply:
        gone = {_DROPPED_KEYS.get(setting) for setting in self.dropped}
        kept = {key: value for key, value in call.parameters.items() if key not in gone}
        messages = [
            message
            for message in call.messages
            if message.role == "user" or Setting.SYSTEM_PROMPT not in self.dropped
        ]
        prompt_tokens = self._count_prompt(messages)
        context = min(int(kept.get("num_ctx", self.context)), 32_768)
        is_cut = prompt_tokens > context
        if is_cut and self.overflow == "error":
            message = f"the prompt has {prompt_tokens} tokens, the context size is {context}"
            failure = Failure(kind=FailureKind.CONTEXT_OVERFLOW, message=message)
            return ProbeReply(failure=failure)
        if is_cut:
            prompt_tokens = context if self.overflow == "cut" else context - (context - 4) // 2
        stream = self._open_stream(kept)
        thinking = self._think(messages, kept, stream)
        text = self._write(messages, kept, stream, is_cut=is_cut)
        return self._finish(prompt_tokens, thinking, text, kept)

    def _count_prompt(self, messages: list[Message]) -> int:
        n_words = sum(len(message.content.split()) for message in messages)
        default = 25 if self.has_default_system and messages[0].role == "user" else 0
        return int(n_words * 1.1) + 6 * len(messages) + default

    def _open_stream(self, kept: Mapping[str, Any]) -> np.random.Generator:
        seed = kept.get("seed", self.default_seed)
        return np.random.default_rng(self.rng.integers(2**31) if seed is None else seed)

    def _think(
        self, messages: list[Message], kept: Mapping[str, Any], stream: np.random.Generator
    ) -> list[str]:
        think = kept.get("think")
        if not self.thinks or think is False:
            return []
        length = {"low": 120, "high": 480}.get(str(think), 240)
        if "rabbits" not in messages[-1].content:
            length //= 4
        if not kept.get("temperature", self.default_temperature):
            stream = np.random.default_rng(zlib.crc32(f"{messages[-1].content}{length}".encode()))
        n_words = max(6, int(length * np.exp(stream.normal(0, 0.4))))
        return [f"so{number}" for number in stream.integers(0, 50, n_words)]

    def _write(
        self,
        messages: list[Message],
        kept: Mapping[str, Any],
        stream: np.random.Generator,
        *,
        is_cut: bool,
    ) -> list[str]:
        prompt = messages[-1].content
        is_willing = self.rng.random() < self.skill
        if "response_format" in kept:
            key = next(iter(kept["response_format"]["schema"]["properties"]))
            return ["{" + f'"{key}":', "3}"]
        if prompt.startswith("Copy this line"):
            line = prompt.splitlines()[-1] if is_willing else "I will copy it"
            return _stop_at(line.split(), kept.get("stop"))
        if "code word at the beginning" in prompt:
            found = re.search(r"code word is (\w+)", prompt)
            return [found[1] if found and is_willing and not is_cut else "unknown"]
        ordered = re.findall(r"code word ([A-Z]{5,})", " ".join(m.content for m in messages))
        if ordered:
            return [*([ordered[0]] if is_willing else []), "Paris", "is", "the", "capital."]
        if "random English nouns" in prompt:
            return [*(_GREETING if self.greets else []), *self._draw(kept, stream)]
        return ["The", "sky", "is", "blue", "since", "air", "scatters", "blue", "light", "more."]

    def _draw(self, kept: Mapping[str, Any], stream: np.random.Generator) -> list[str]:
        temperature = kept.get("temperature", self.default_temperature)
        gumbel = stream.gumbel(size=(60, N_WORDS)) * temperature
        rounding = self.rng.normal(0, self.noise, size=(60, N_WORDS)) if self.noise else 0
        moves = gumbel + rounding
        place, words = 1, []
        for move in moves:
            word = int((_LOGITS[place] * self.peakedness + move).argmax())
            words.append(f"noun{word}")
            place = (place * 31 + word * 7 + 3) % N_CONTEXTS
        return words

    def _finish(
        self, prompt_tokens: int, thinking: list[str], text: list[str], kept: Mapping[str, Any]
    ) -> ProbeReply:
        limit = int(kept.get("max_tokens", 100_000) / TOKENS_PER_WORD)
        is_cut_off = len(thinking) + len(text) > limit
        thinking, text = thinking[:limit], text[: max(0, limit - len(thinking))]
        tokens = int((len(thinking) + len(text)) * TOKENS_PER_WORD) + 1
        thinking_tokens = int(len(thinking) * TOKENS_PER_WORD)
        usage = Usage(
            prompt_tokens=prompt_tokens,
            completion_tokens=tokens,
            thinking_tokens=thinking_tokens if self.hides_thinking else None,
        )
        completion = Completion(
            text=" ".join(text),
            thinking="" if self.hides_thinking else " ".join(thinking),
            finish_reason=FinishReason.LENGTH if is_cut_off else FinishReason.STOP,
            usage=usage if self.counts_tokens or self.hides_thinking else Usage(),
            timing=Timing(total_ms=1.0),
        )
        return ProbeReply(completion=completion)


def _stop_at(words: list[str], stop: list[str] | None) -> list[str]:
    return words[: words.index(stop[0])] if stop and stop[0] in words else words


def draw_model(rng: np.random.Generator, dropped: frozenset[Setting]) -> FakeModel:
    """Draw a model and a server of some kind that drop these settings."""
    return FakeModel(
        dropped=dropped,
        peakedness=rng.uniform(0.8, 2.5),
        noise=rng.choice([0.0, 0.0, 0.01, 0.03]),
        default_temperature=rng.choice([0.0, 0.6, 0.7, 0.8, 1.0], p=[0.08, 0.23, 0.23, 0.23, 0.23]),
        default_seed=rng.choice([None, 42], p=[0.85, 0.15]),
        counts_tokens=rng.random() < 0.75,
        skill=rng.choice([0.98, 0.6], p=[0.75, 0.25]),
        thinks=rng.random() < 0.5,
        hides_thinking=rng.random() < 0.15,
        greets=rng.random() < 0.3,
        has_default_system=rng.random() < 0.3,
        context=int(rng.choice([2048, 4096, 32_768])),
        overflow=str(rng.choice(["error", "cut", "half"])),
        caches=rng.random() < 0.1,
        rng=rng,
    )
