"""Whatever objects a server sends, the readers take them without raising."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.models.completion import Usage
from poor_bench.providers.anthropic_wire import AnthropicReplyReader
from poor_bench.providers.chat_wire import ReplyParts, ReplyReader
from poor_bench.providers.ollama_wire import OllamaReplyReader
from poor_bench.providers.openai_wire import OpenAIReplyReader

KEYS = [
    "choices",
    "delta",
    "message",
    "content",
    "text",
    "thinking",
    "reasoning",
    "refusal",
    "finish_reason",
    "usage",
    "type",
    "prompt_tokens",
    "completion_tokens_details",
    "model",
    "system_fingerprint",
    "timings",
    "prompt_ms",
    "done",
    "done_reason",
    "eval_count",
    "total_duration",
    "load_duration",
    "content_block",
    "stop_reason",
    "input_tokens",
    "output_tokens",
    "end_of_stream",
]
TYPES = ["text", "thinking", "message", "message_start", "message_delta", "content_block_delta"]
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(TYPES),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=15,
)


@pytest.mark.slow(reason="a long search")
@pytest.mark.parametrize("kind", ["ollama", "openai", "anthropic"])
@given(values=st.lists(st.dictionaries(st.sampled_from(KEYS), anything, max_size=6), max_size=5))
def test_no_object_makes_a_reader_raise(kind: str, values: list[dict[str, Any]]) -> None:
    readers: dict[str, ReplyReader] = {
        "ollama": OllamaReplyReader(),
        "openai": OpenAIReplyReader("m"),
        "anthropic": AnthropicReplyReader("m"),
    }
    reader = readers[kind]
    for value in values:
        reader.feed(value)
    reader.close()
    completion = reader.parts.to_completion(1.0, None)
    completion.text.encode("utf-8")
    assert isinstance(completion.usage, Usage)


def test_a_character_that_was_cut_in_two_is_made_whole() -> None:
    parts = ReplyParts(text=["smile \ud83d", "\ude00", " half \ud83d"])
    assert parts.to_completion(1.0, None).text == "smile \U0001f600 half \ufffd"


def test_only_the_same_piece_thirty_times_is_a_loop() -> None:
    assert ReplyParts(text=["a", *["la"] * 30]).repeats_itself
    assert not ReplyParts(text=["la"] * 29).repeats_itself
    assert not ReplyParts(text=["la", "la "] * 30).repeats_itself
