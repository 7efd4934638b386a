from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.models.completion import FinishReason
from poor_bench.models.failure import FailureKind
from poor_bench.ports import Provider
from poor_bench.providers.ollama_wire import is_prompt_truncated
from tests.providers.asking import CONTROL, ask, failure_of, make_provider
from tests.providers.servers import ollama_format as wire
from tests.providers.servers import openai_format
from tests.providers.servers.fake_server import Answer, Request, json_answer, serving

NO_THINKING = json_answer({"error": '"qwen3:1.7b" does not support thinking'}, 400)


def ollama(url: str, **settings: Any) -> Provider:
    return make_provider("ollama", url, **settings)


@pytest.mark.parametrize("answer", [wire.reply("four", "2 and 2"), wire.whole("four", "2 and 2")])
def test_text_thinking_and_counters_are_read(answer: Answer) -> None:
    with serving(wire.ollama(answer)) as server:
        completion = ask(ollama(server.url))
    assert (completion.text, completion.thinking) == ("four", "2 and 2")
    assert completion.finish_reason is FinishReason.STOP
    assert (completion.usage.prompt_tokens, completion.usage.completion_tokens) == (26, 3)
    timing = completion.timing
    assert (timing.load_ms, timing.prefill_ms, timing.decode_ms) == (1000, 500, 2500)
    assert timing.queue_ms == 1000
    assert completion.notes == ()


def test_parameters_become_options_and_fields() -> None:
    with serving(wire.ollama(wire.reply())) as server:
        ask(
            ollama(server.url),
            system="Be brief.",
            temperature=0,
            max_tokens=50,
            num_ctx=8192,
            num_gpu=0,
            stop="END",
            think="low",
            keep_alive="10m",
            response_format={"type": "json_schema", "schema": {"type": "object"}},
            extra_body={"options": {"typical_p": 0.9}},
        )
        body = server.requests[0].body
    assert body["options"] == {
        "temperature": 0,
        "num_predict": 50,
        "num_ctx": 8192,
        "num_gpu": 0,
        "stop": ["END"],
        "typical_p": 0.9,
    }
    assert (body["think"], body["keep_alive"]) == ("low", "10m")
    assert body["format"] == {"type": "object"}
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert (body["stream"], body["truncate"]) == (True, False)


def test_a_model_that_cannot_think_is_asked_once_more_and_the_refusal_remembered() -> None:
    with serving(wire.ollama(NO_THINKING, wire.reply())) as server:
        provider = ollama(server.url)
        first, second = ask(provider, think=True), ask(provider, think=True)
        bodies = [request.body for request in server.asked("/api/chat")]
    assert ["think" in body for body in bodies] == [True, False, False]
    assert first.notes == second.notes
    assert "does not support thinking" in first.notes[0]


def test_a_level_of_thinking_that_is_not_known_becomes_plain_thinking() -> None:
    refusal = json_answer({"error": 'think value "high" is not supported for this model'}, 400)
    with serving(wire.ollama(refusal, wire.reply())) as server:
        completion = ask(ollama(server.url), think="high")
        bodies = [request.body for request in server.asked("/api/chat")]
    assert [body["think"] for body in bodies] == ["high", True]
    assert "levels" in completion.notes[0]


def test_the_token_limit_is_a_finish_reason() -> None:
    with serving(wire.ollama(wire.reply(done_reason="length"))) as server:
        assert ask(ollama(server.url)).finish_reason is FinishReason.LENGTH


def test_a_stream_that_repeats_itself_and_ends_unfinished_is_a_loop() -> None:
    with serving(wire.ollama(wire.stream(*[wire.piece("la ")] * 31))) as server:
        completion = ask(ollama(server.url))
    assert completion.finish_reason is FinishReason.LOOP
    assert completion.text == "la " * 31


def test_a_stream_that_ends_unfinished_is_a_server_error() -> None:
    with serving(wire.ollama(wire.stream(wire.piece("The answer is")))) as server:
        error = failure_of(ollama(server.url))
    assert error.kind is FailureKind.SERVER_ERROR


def test_an_error_within_the_stream_is_a_failure() -> None:
    answer = wire.stream(wire.piece("4"), wire.line({"error": "model runner has stopped"}))
    with serving(wire.ollama(answer)) as server:
        error = failure_of(ollama(server.url))
    assert error.kind is FailureKind.SERVER_ERROR
    assert "model runner has stopped" in str(error)


def test_the_digest_of_the_loaded_model_is_asked_for_once() -> None:
    with serving(wire.ollama(wire.reply(), ps=wire.TAGS)) as server:
        provider = ollama(server.url)
        digests = [ask(provider).model_digest for _ in range(3)]
        asked = server.asked("/api/ps")
    assert digests == [wire.DIGEST] * 3
    assert len(asked) == 1


def test_memory_and_gpu_share_are_of_the_loaded_model_alone() -> None:
    loaded = {
        "models": [{**wire.TAGS["models"][0], "size": 4_000_000_000, "size_vram": 3_000_000_000}]
    }
    with serving(wire.ollama(wire.reply(), ps=loaded)) as server:
        completion = ask(ollama(server.url))
    assert (completion.memory_bytes, completion.gpu_share) == (4_000_000_000, 0.75)
    with serving(wire.ollama(wire.reply())) as server:
        completion = ask(ollama(server.url))
    assert (completion.memory_bytes, completion.gpu_share) == (None, None)


def test_the_digest_comes_from_the_installed_models_otherwise() -> None:
    with serving(wire.ollama(wire.reply())) as server:
        assert ask(ollama(server.url)).model_digest == wire.DIGEST


def test_a_cut_prompt_is_marked() -> None:
    loaded = {"models": [{**wire.TAGS["models"][0], "context_length": 4096}]}
    answer = wire.reply(prompt_eval_count=2050)
    with serving(wire.ollama(answer, ps=loaded)) as server:
        provider = ollama(server.url)
        assert ask(provider, prompt="word " * 8000).prompt_truncated
        assert not ask(provider, prompt="short").prompt_truncated


def test_preloading_sends_no_message_and_the_same_options() -> None:
    with serving(wire.ollama(wire.whole("", done_reason="load"))) as server:
        took = ollama(server.url, parameters={"num_ctx": 512}).preload(CONTROL)
        body = server.requests[0].body
    assert body["messages"] == []
    assert body["options"] == {"num_ctx": 512, "num_predict": 1}
    assert took == 0


def test_unloading_drops_the_model_and_never_raises() -> None:
    with serving(wire.ollama(json_answer({"error": "no"}, 500))) as server:
        ollama(server.url).unload()
        assert server.requests[0].body["keep_alive"] == 0


@pytest.mark.parametrize(("name", "present"), [("qwen3:1.7b", True), ("missing", False)])
def test_check_says_whether_the_model_is_installed(name: str, present: bool) -> None:
    with serving(wire.ollama(wire.reply())) as server:
        found = ollama(server.url, name=name).check()
    assert (found.reachable, found.model_present) == (True, present)
    assert found.models == ("qwen3:1.7b",)


def test_a_name_without_tag_is_the_latest() -> None:
    tags = {"models": [{"name": "llama3:latest", "model": "llama3:latest"}]}
    with serving(wire.ollama(wire.reply(), tags=tags)) as server:
        assert ollama(server.url, name="llama3").check().model_present


def test_nobody_there_says_how_to_start_ollama() -> None:
    with serving(wire.ollama(wire.reply())) as server:
        url = server.url
    provider = ollama(url)
    error = failure_of(provider)
    assert error.kind is FailureKind.CONNECTION
    assert "ollama serve" in error.hint
    found = provider.check()
    assert not found.reachable
    assert "ollama serve" in found.message


def test_an_unknown_model_says_how_to_get_it() -> None:
    answer = json_answer({"error": "model 'qwen3:1.7b' not found"}, 404)
    with serving(wire.ollama(answer)) as server:
        error = failure_of(ollama(server.url))
    assert error.kind is FailureKind.MODEL_NOT_FOUND
    assert error.hint == "get it with `ollama pull qwen3:1.7b`"


def test_an_endpoint_with_v1_is_asked_by_the_native_api() -> None:
    with serving(wire.ollama(wire.reply("4"))) as server:
        provider = ollama(f"{server.url}/v1")
        assert [ask(provider).text for _ in range(2)] == ["4", "4"]
        paths = [request.path for request in server.requests]
    assert paths.count("/api/version") == 1
    assert paths.count("/api/chat") == 2


def test_an_endpoint_with_v1_and_no_native_api_is_asked_by_openais() -> None:
    def respond(request: Request) -> Answer:
        if request.path == "/v1/models":
            return json_answer({"data": [{"id": "qwen3:1.7b"}]})
        is_chat = request.path == "/v1/chat/completions"
        return openai_format.reply("4") if is_chat else json_answer({"detail": "Not Found"}, 404)

    with serving(respond) as server:
        provider = ollama(f"{server.url}/v1")
        assert [ask(provider).text for _ in range(2)] == ["4", "4"]
        assert provider.preload(CONTROL) is None
        assert provider.check().model_present
        assert len(server.asked("/api/version")) == 1


def test_a_single_object_over_several_lines_is_understood() -> None:
    value = json.loads(wire.last())
    value["message"]["content"] = "4"
    answer = Answer(body=json.dumps(value, indent=2).encode())
    with serving(wire.ollama(answer)) as server:
        assert ask(ollama(server.url)).text == "4"


@pytest.mark.parametrize(
    ("prompt_tokens", "num_ctx"),
    [(2050, 4096), (2051, 4096), (16387, 32768), (32770, 65536), (4096, 4096)],
)
def test_counts_that_users_reported_are_recognised(prompt_tokens: int, num_ctx: int) -> None:
    assert is_prompt_truncated(prompt_tokens, 1_000_000, num_ctx)
    assert is_prompt_truncated(prompt_tokens, 1_000_000, None)


def test_the_same_count_in_another_context_is_none() -> None:
    assert not is_prompt_truncated(2050, 1_000_000, 8192)


def test_a_prompt_that_cannot_have_been_longer_than_the_context_was_not_cut() -> None:
    assert not is_prompt_truncated(2050, 4096, 4096)


def test_without_a_count_nothing_is_claimed() -> None:
    assert not is_prompt_truncated(None, 1_000_000, 4096)


@given(st.integers(512, 262_144), st.integers(0, 64), st.booleans(), st.integers(1, 100_000))
def test_what_the_server_does_to_a_long_prompt_is_always_found(
    num_ctx: int, num_keep: int, adds_bos: bool, tokens_over: int
) -> None:
    keep = num_keep + adds_bos
    left = num_ctx - max((num_ctx - keep) // 2, 1)
    prompt_bytes = num_ctx + tokens_over
    assert is_prompt_truncated(left, prompt_bytes, num_ctx, num_keep)


@given(st.integers(512, 262_144), st.data())
def test_a_prompt_that_fits_is_hardly_ever_accused(num_ctx: int, data: st.DataObject) -> None:
    tokens = data.draw(st.integers(1, num_ctx - 1))
    accused = is_prompt_truncated(tokens, tokens * 4, num_ctx)
    assert not accused or abs(tokens - num_ctx // 2) <= 3
