"""Servers that speak Ollama's API in front of others, as `ollama-proxy-plus` 0.1.0 and
`ollama-openai-proxy` 0.7.0 from PyPI did when they were tried."""

from __future__ import annotations

from typing import Any

import pytest

from poor_bench.errors import ProviderError
from poor_bench.models.completion import FinishReason
from poor_bench.models.failure import FailureKind
from tests.providers.asking import CONTROL, ask, make_provider
from tests.providers.fake_clock import FakeClock
from tests.providers.servers.fake_server import Answer, Request, json_answer, serving
from tests.providers.servers.ollama_format import line, stream

CREATED = "2026-11-22T18:32:50Z"
DIGEST = "sha256:0000000000000000000000000000000000000000000000007e253045c51e6655"
VERSION = {"version": "0.6.5"}
TAGS = {"models": [{"name": "local/m", "model": "local/m", "size": 0, "digest": DIGEST}]}


def proxy_plus(request: Request) -> Answer:
    """`ollama-proxy-plus`: counts words, and reports all of the time as generating."""
    fixed = {"/api/version": VERSION, "/api/tags": TAGS, "/api/ps": {"models": []}}
    if request.path in fixed:
        return json_answer(fixed[request.path])
    if not request.body["messages"]:
        return json_answer({"error": "Error code: 400 - messages must not be empty"}, 502)
    pieces = [_plus({"role": "assistant", "content": piece}) for piece in ("The ", "answer: ", "4")]
    counters = {
        "done_reason": "stop",
        "total_duration": 2_468_779_428,
        "load_duration": 0,
        "prompt_eval_count": 1,
        "prompt_eval_duration": 0,
        "eval_count": 3,
        "eval_duration": 2_468_787_878,
    }
    return stream(*pieces, _plus({"role": "assistant", "content": ""}, done=True, **counters))


def _plus(message: dict[str, str], *, done: bool = False, **more: Any) -> bytes:
    return line(
        {"model": "local/m", "created_at": CREATED, "message": message, "done": done, **more}
    )


def openai_proxy(request: Request) -> Answer:
    """`ollama-openai-proxy`: no `/api/ps`, chats streamed as if generated, made-up times."""
    fixed = {"/api/version": {"version": "0.1.42"}, "/api/tags": TAGS}
    if request.path in fixed:
        return json_answer(fixed[request.path])
    if request.path != "/api/chat":
        return json_answer({"detail": "Not Found"}, 404)
    if not request.body["messages"]:
        return json_answer({"detail": "messages: List should have at least 1 item"}, 400)
    if not request.body["stream"]:
        return json_answer(_generated(message={"role": "assistant", "content": "4"}) | MADE_UP)
    pieces = [_generated(response=piece) for piece in (None, "The ", "answer: ", "4")]
    ends = [_generated(response="", done=True, done_reason=why) for why in ("length", "stop")]
    return stream(*map(line, [*pieces, *ends]))


MADE_UP = {
    "done": True,
    "done_reason": "length",
    "total_duration": 1_000_000_000,
    "prompt_eval_count": 31,
    "prompt_eval_duration": 500_000_000,
    "eval_count": 4,
    "eval_duration": 500_000_000,
}


def _generated(**more: Any) -> dict[str, Any]:
    return {"model": "/models/m.gguf", "created_at": CREATED, "done": False, **more}


@pytest.mark.parametrize("proxy", [proxy_plus, openai_proxy])
def test_a_chat_is_read_without_figures_that_the_proxy_made_up(proxy: Any) -> None:
    with serving(proxy) as server:
        completion = ask(make_provider("ollama", server.url, name="local/m"))
    assert completion.text == "The answer: 4"
    timing = completion.timing
    assert (timing.load_ms, timing.prefill_ms, timing.decode_ms) == (None, None, None)
    assert completion.model_digest is None


def test_the_first_reason_for_the_end_counts() -> None:
    with serving(openai_proxy) as server:
        completion = ask(make_provider("ollama", server.url, name="local/m"))
    assert completion.finish_reason is FinishReason.LENGTH


def test_times_of_the_server_that_are_longer_than_ours_are_left_out() -> None:
    clock = FakeClock()

    def answer(request: Request) -> Answer:
        clock.seconds += 0.1
        return openai_proxy(request)

    with serving(answer) as server:
        provider = make_provider("ollama", server.url, name="local/m", clock=clock)
        completion = ask(provider, stream=False)
    assert completion.text == "4"
    assert completion.usage.completion_tokens == 4
    assert (completion.timing.prefill_ms, completion.timing.decode_ms) == (None, None)


@pytest.mark.parametrize("proxy", [proxy_plus, openai_proxy])
def test_a_model_that_was_not_preloaded_is_not_unloaded(proxy: Any) -> None:
    with serving(proxy) as server:
        provider = make_provider("ollama", server.url, name="local/m")
        with pytest.raises(ProviderError) as caught:
            provider.preload(CONTROL)
        provider.unload()
        asked = server.asked("/api/chat")
    assert caught.value.kind in {FailureKind.BAD_REQUEST, FailureKind.SERVER_ERROR}
    assert len(asked) == 1
