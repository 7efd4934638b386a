from __future__ import annotations

from typing import Any

import pytest

from poor_bench.models.completion import FinishReason
from poor_bench.models.failure import FailureKind
from poor_bench.ports import Provider
from tests.providers.asking import CONTROL, KEYS, ask, failure_of, make_provider
from tests.providers.servers import openai_format as wire
from tests.providers.servers.fake_server import Answer, in_turn, json_answer, serving


def openai(url: str, provider: str = "openai", **settings: Any) -> Provider:
    return make_provider(provider, f"{url}/v1", **settings)


@pytest.mark.parametrize(
    "answer",
    [wire.reply("four", thinking="2 and 2"), wire.whole("four", reasoning_content="2 and 2")],
    ids=["streamed", "whole"],
)
def test_text_thinking_and_usage_are_read(answer: Answer) -> None:
    with serving(in_turn(answer)) as server:
        completion = ask(openai(server.url))
        request = server.requests[0]
    assert (completion.text, completion.thinking) == ("four", "2 and 2")
    assert completion.finish_reason is FinishReason.STOP
    usage = completion.usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (19, 10)
    assert (usage.thinking_tokens, usage.cached_tokens) == (6, 4)
    assert completion.model_digest == "gpt-test-2026-01-01 fp_1"
    assert request.path == "/v1/chat/completions"


def test_a_stream_with_usage_is_asked_for() -> None:
    with serving(in_turn(wire.reply())) as server:
        ask(openai(server.url), max_tokens=20, temperature=0, stop=["END"], seed=7)
        body = server.requests[0].body
    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})
    assert (body["max_tokens"], body["temperature"], body["seed"]) == (20, 0, 7)
    assert body["stop"] == ["END"]


def test_a_reply_in_one_piece_can_be_asked_for() -> None:
    with serving(in_turn(wire.whole("4"))) as server:
        assert ask(openai(server.url), stream=False).text == "4"
        assert "stream" not in server.requests[0].body


@pytest.mark.parametrize(
    ("wanted", "sent"),
    [
        ("json", {"type": "json_object"}),
        (
            {"type": "json_schema", "schema": {"type": "object"}},
            {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": {"type": "object"}, "strict": True},
            },
        ),
    ],
)
def test_a_response_format_is_translated(wanted: Any, sent: Any) -> None:
    with serving(in_turn(wire.reply())) as server:
        ask(openai(server.url), response_format=wanted)
        assert server.requests[0].body["response_format"] == sent


@pytest.mark.parametrize(
    ("provider", "think", "sent"),
    [
        ("openai", True, {"reasoning_effort": "medium"}),
        ("openai", False, {"reasoning_effort": "none"}),
        ("openai", "high", {"reasoning_effort": "high"}),
        ("openrouter", False, {"reasoning": {"enabled": False}}),
        ("openrouter", "max", {"reasoning": {"effort": "xhigh"}}),
        ("llamacpp", False, {"chat_template_kwargs": {"enable_thinking": False}}),
        ("mistral", True, {}),
    ],
)
def test_thinking_is_asked_for_in_the_servers_own_way(
    provider: str, think: Any, sent: dict[str, Any]
) -> None:
    with serving(in_turn(wire.reply())) as server:
        ask(openai(server.url, provider), think=think)
        body = server.requests[0].body
    plain = {"model", "messages", "stream", "stream_options"}
    assert {key: value for key, value in body.items() if key not in plain} == sent


def test_a_renamed_limit_is_sent_by_its_new_name_from_then_on() -> None:
    refusal = wire.refusal(
        400,
        "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead.",
        code="unsupported_parameter",
        param="max_tokens",
    )
    with serving(in_turn(refusal, wire.reply())) as server:
        provider = openai(server.url)
        first, second = ask(provider, max_tokens=9), ask(provider, max_tokens=9)
        bodies = [request.body for request in server.requests]
    assert [body.get("max_tokens") for body in bodies] == [9, None, None]
    assert [body.get("max_completion_tokens") for body in bodies] == [None, 9, 9]
    assert first.notes == second.notes
    assert "max_completion_tokens" in first.notes[0]


def test_several_refused_parameters_are_left_out_one_after_the_other() -> None:
    refusals = [
        wire.refusal(
            400,
            "Unsupported value: 'temperature' does not support 0.2 with this model. "
            "Only the default (1) value is supported.",
            code="unsupported_value",
            param="temperature",
        ),
        json_answer(
            {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}, 422
        ),
    ]
    with serving(in_turn(*refusals, wire.reply())) as server:
        completion = ask(openai(server.url), temperature=0.2, seed=1, top_p=0.9)
        body = server.requests[-1].body
    assert "temperature" not in body
    assert "seed" not in body
    assert body["top_p"] == 0.9
    assert len(completion.notes) == 2


def test_an_effort_that_is_not_known_becomes_the_nearest_one() -> None:
    refusal = wire.refusal(
        400,
        "Unsupported value: 'none' is not supported with this model.",
        code="unsupported_value",
        param="reasoning_effort",
    )
    with serving(in_turn(refusal, refusal, wire.reply())) as server:
        ask(openai(server.url), think=False)
        bodies = [request.body for request in server.requests]
    assert [body.get("reasoning_effort") for body in bodies] == ["none", "minimal", None]


def test_a_value_out_of_range_is_the_users_to_mend() -> None:
    refusal = wire.refusal(
        400,
        "Invalid 'temperature': decimal above maximum value. Expected <= 2, got 5.",
        code="decimal_above_max_value",
        param="temperature",
    )
    with serving(in_turn(refusal, wire.reply())) as server:
        error = failure_of(openai(server.url), temperature=5)
    assert error.kind is FailureKind.BAD_REQUEST
    assert "above maximum" in str(error)


def test_a_server_that_refuses_the_same_again_and_again_is_given_up() -> None:
    refusal = wire.refusal(400, "unknown field seed", param="seed")
    with serving(in_turn(refusal)) as server:
        error = failure_of(openai(server.url), seed=1)
        assert len(server.requests) == 2
    assert error.kind is FailureKind.BAD_REQUEST


@pytest.mark.parametrize(
    ("answer", "text", "reason"),
    [
        (wire.reply("4", "length"), "4", FinishReason.LENGTH),
        (wire.reply("", "length"), "", FinishReason.LENGTH),
        (wire.reply("", "content_filter"), "", FinishReason.REFUSAL),
        (wire.whole(None, refusal="I cannot help."), "I cannot help.", FinishReason.REFUSAL),
        (wire.whole("", "tool_calls"), "", FinishReason.OTHER),
    ],
)
def test_finish_reasons_are_translated(answer: Answer, text: str, reason: FinishReason) -> None:
    with serving(in_turn(answer)) as server:
        completion = ask(openai(server.url))
    assert (completion.text, completion.finish_reason) == (text, reason)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_both_names_of_the_thinking_field_are_known(field: str) -> None:
    answer = wire.stream(wire.chunk({field: "hm"}), wire.chunk({"content": "4"}, "stop"), wire.DONE)
    with serving(in_turn(answer)) as server:
        completion = ask(openai(server.url))
    assert (completion.thinking, completion.text) == ("hm", "4")


def test_content_in_typed_parts_is_read() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    content = [thinking, {"type": "text", "text": "4"}]
    answer = wire.stream(wire.chunk({"content": content}, "stop"), wire.DONE)
    with serving(in_turn(answer)) as server:
        completion = ask(openai(server.url, "mistral"))
    assert (completion.thinking, completion.text) == ("hm", "4")


def test_comments_and_a_missing_end_do_no_harm() -> None:
    answer = wire.stream(
        b": PROCESSING\n\n", wire.chunk({"content": "4"}), wire.chunk({}, "stop").rstrip()
    )
    with serving(in_turn(answer)) as server:
        assert ask(openai(server.url)).text == "4"


def test_timings_of_llamacpp_are_read() -> None:
    last = wire.chunk({}, "stop", timings={"prompt_ms": 12.5, "predicted_ms": 80})
    answer = wire.stream(wire.chunk({"content": "4"}), last, wire.DONE)
    with serving(in_turn(answer)) as server:
        timing = ask(openai(server.url, "llamacpp")).timing
    assert (timing.prefill_ms, timing.decode_ms) == (12.5, 80)


def test_an_error_within_the_stream_is_a_failure() -> None:
    error = wire.event({"error": {"code": 429, "message": "Rate limit exceeded"}})
    with serving(in_turn(wire.stream(wire.chunk({"content": "4"}), error))) as server:
        found = failure_of(openai(server.url))
    assert (found.kind, found.status) == (FailureKind.RATE_LIMITED, 429)


def test_an_error_within_a_choice_is_a_failure() -> None:
    choice = {"index": 0, "error": {"code": 502, "message": "upstream died"}}
    with serving(in_turn(json_answer({"choices": [choice]}))) as server:
        assert failure_of(openai(server.url)).kind is FailureKind.SERVER_ERROR


def test_a_stream_that_is_cut_is_a_server_error() -> None:
    answer = wire.stream(wire.chunk({"content": "4"}), ending="cut")
    with serving(in_turn(answer)) as server:
        assert failure_of(openai(server.url)).kind is FailureKind.SERVER_ERROR


@pytest.mark.parametrize("body", [b'{"object": "nothing"}', b"", b"{}"])
def test_a_reply_without_an_answer_is_malformed(body: bytes) -> None:
    with serving(in_turn(Answer(body=body))) as server:
        assert failure_of(openai(server.url)).kind is FailureKind.MALFORMED_REPLY


def test_check_lists_the_models() -> None:
    with serving(in_turn(json_answer({"data": [{"id": "gpt-test"}, {"id": "other"}]}))) as server:
        found = openai(server.url).check()
        assert server.requests[0].path == "/v1/models"
    assert (found.reachable, found.model_present) == (True, True)
    assert found.models == ("gpt-test", "other")


def test_check_without_a_list_of_models_leaves_presence_open() -> None:
    with serving(in_turn(Answer(status=404, body=b"not found"))) as server:
        found = openai(server.url).check()
    assert (found.reachable, found.model_present) == (True, None)


def test_there_is_nothing_to_load() -> None:
    with serving(in_turn(wire.reply())) as server:
        provider = openai(server.url)
        provider.unload()
        assert provider.preload(CONTROL) is None
        assert server.requests == []


def test_the_key_goes_into_the_header_only_where_it_is_named() -> None:
    with serving(in_turn(wire.reply())) as server:
        ask(openai(server.url))
        ask(openai(server.url, api_key_env="OPENAI_API_KEY"))
        headers = [request.headers.get("authorization") for request in server.requests]
    assert headers == [None, f"Bearer {KEYS['OPENAI_API_KEY']}"]


def test_an_unknown_provider_with_an_endpoint_speaks_openai() -> None:
    with serving(in_turn(wire.reply("4"))) as server:
        assert ask(make_provider("my-gateway", server.url)).text == "4"
        assert server.requests[0].path == "/v1/chat/completions"


def test_the_path_of_a_models_file_stays_on_its_server() -> None:
    answer = wire.whole("4", model="/home/me/models/smol.gguf")
    with serving(in_turn(answer)) as server:
        assert ask(openai(server.url)).model_digest == "smol.gguf fp_1"


def test_a_reply_in_one_piece_has_no_time_to_its_first_token() -> None:
    with serving(in_turn(wire.reply("4"), wire.whole("4"))) as server:
        provider = openai(server.url)
        timings = [ask(provider).timing for _ in range(2)]
    assert [timing.first_token_ms for timing in timings] == [0, None]


@pytest.mark.parametrize(("provider", "present"), [("openai", False), ("llamacpp", None)])
def test_llamacpp_answers_to_every_name(provider: str, present: bool | None) -> None:
    with serving(in_turn(json_answer({"data": [{"id": "other"}]}))) as server:
        assert openai(server.url, provider).check().model_present is present
