from __future__ import annotations

from typing import Any

import pytest

from poor_bench.models.completion import FinishReason
from poor_bench.models.failure import FailureKind
from poor_bench.ports import Provider
from tests.providers.asking import CONTROL, KEYS, ask, failure_of, make_provider
from tests.providers.servers import anthropic_format as wire
from tests.providers.servers.fake_server import Answer, in_turn, json_answer, serving

THINKING = {"type": "thinking", "thinking": "2 and 2", "signature": "x"}
REDACTED = {"type": "redacted_thinking", "data": "xyz"}
TEXT = {"type": "text", "text": "four"}


def anthropic(url: str, **settings: Any) -> Provider:
    environ = {**KEYS, "ANTHROPIC_BASE_URL": url}
    return make_provider("anthropic", None, environ=environ, **settings)


@pytest.mark.parametrize(
    "answer",
    [wire.reply("four", thinking="2 and 2"), wire.whole([THINKING, REDACTED, TEXT])],
    ids=["streamed", "whole"],
)
def test_text_thinking_and_usage_are_read(answer: Answer) -> None:
    with serving(in_turn(answer)) as server:
        completion = ask(anthropic(server.url))
    assert (completion.text, completion.thinking) == ("four", "2 and 2")
    assert completion.finish_reason is FinishReason.STOP
    usage = completion.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens) == (20, 15, 5)
    assert completion.model_digest == "claude-test-20260101"


def test_the_request_is_what_the_documentation_wants() -> None:
    with serving(in_turn(wire.reply())) as server:
        ask(anthropic(server.url), system="Be brief.", stop="END", temperature=0.5, seed=1)
        request = server.requests[0]
    assert request.path == "/v1/messages"
    assert request.headers["x-api-key"] == KEYS["ANTHROPIC_API_KEY"]
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert request.body == {
        "model": "claude-test",
        "max_tokens": 4096,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "2+2?"}],
        "stop_sequences": ["END"],
        "temperature": 0.5,
        "stream": True,
    }


def test_a_sampling_parameter_is_dropped_once_it_is_refused() -> None:
    refusal = wire.refusal(
        400, "invalid_request_error", "`temperature` is deprecated for this model."
    )
    with serving(in_turn(refusal, wire.reply())) as server:
        provider = anthropic(server.url)
        completions = [ask(provider, temperature=0.5) for _ in range(2)]
        bodies = [request.body for request in server.requests]
    assert ["temperature" in body for body in bodies] == [True, False, False]
    assert all("temperature" in completion.notes[0] for completion in completions)


def test_of_two_parameters_that_exclude_each_other_temperature_stays() -> None:
    refusal = wire.refusal(
        400,
        "invalid_request_error",
        "`temperature` and `top_p` cannot both be specified for this model.",
    )
    with serving(in_turn(refusal, wire.reply())) as server:
        ask(anthropic(server.url), temperature=0.5, top_p=0.9)
        body = server.requests[-1].body
    assert "top_p" not in body
    assert body["temperature"] == 0.5


def test_a_model_that_does_not_think_adaptively_is_given_a_budget() -> None:
    refusal = wire.refusal(
        400, "invalid_request_error", "adaptive thinking is not supported on this model"
    )
    with serving(in_turn(refusal, wire.reply())) as server:
        completion = ask(anthropic(server.url), think="high")
        first, second = (request.body for request in server.requests)
    assert first["thinking"] == {"type": "adaptive"}
    assert first["output_config"] == {"effort": "high"}
    assert second["thinking"] == {"type": "enabled", "budget_tokens": 16384}
    assert "output_config" not in second
    assert second["max_tokens"] > 16384
    assert "budget" in completion.notes[0]


@pytest.mark.parametrize(
    ("think", "max_tokens", "thinking"),
    [
        (False, None, {"type": "disabled"}),
        (True, None, {"type": "adaptive"}),
        (3000, None, {"type": "enabled", "budget_tokens": 3000}),
        (9000, 4000, {"type": "enabled", "budget_tokens": 3999}),
    ],
)
def test_thinking_is_translated(think: Any, max_tokens: Any, thinking: dict[str, Any]) -> None:
    with serving(in_turn(wire.reply())) as server:
        ask(anthropic(server.url), think=think, max_tokens=max_tokens)
        assert server.requests[0].body["thinking"] == thinking


def test_a_schema_and_an_effort_stand_side_by_side() -> None:
    schema = {"type": "object"}
    with serving(in_turn(wire.reply())) as server:
        ask(
            anthropic(server.url),
            think="low",
            response_format={"type": "json_schema", "schema": schema},
        )
        body = server.requests[0].body
    assert body["output_config"] == {
        "effort": "low",
        "format": {"type": "json_schema", "schema": schema},
    }


@pytest.mark.parametrize(
    "message",
    [
        "output_config.format: this model does not support structured outputs",
        "output_config: Extra inputs are not permitted",
        "'claude-test' does not support output format",
    ],
)
def test_a_model_without_structured_output_is_asked_without_a_schema(message: str) -> None:
    refusal = wire.refusal(400, "invalid_request_error", message)
    wanted = {"type": "json_schema", "schema": {"type": "object"}}
    with serving(in_turn(refusal, wire.reply())) as server:
        completion = ask(anthropic(server.url), response_format=wanted, temperature=0.5)
        first, second = (request.body for request in server.requests)
    assert "output_config" in first
    assert second == {key: first[key] for key in first if key != "output_config"}
    assert "output_config.format" in completion.notes[0]


def test_a_schema_that_is_wrong_is_not_left_out() -> None:
    refusal = wire.refusal(
        400, "invalid_request_error", "output_config.format.schema: type must be an object"
    )
    with serving(in_turn(refusal, wire.reply())) as server:
        wanted = {"type": "json_schema", "schema": {"type": "array"}}
        error = failure_of(anthropic(server.url), response_format=wanted)
        assert len(server.requests) == 1
    assert error.kind is FailureKind.BAD_REQUEST


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("max_tokens", FinishReason.LENGTH),
        ("model_context_window_exceeded", FinishReason.LENGTH),
        ("refusal", FinishReason.REFUSAL),
        ("stop_sequence", FinishReason.STOP),
        ("pause_turn", FinishReason.OTHER),
    ],
)
def test_stop_reasons_are_translated(reason: str, expected: FinishReason) -> None:
    with serving(in_turn(wire.reply("4", reason))) as server:
        assert ask(anthropic(server.url)).finish_reason is expected


def test_an_error_within_the_stream_is_a_failure() -> None:
    error = wire.event(
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    )
    with serving(in_turn(wire.stream(wire.start(), error))) as server:
        assert failure_of(anthropic(server.url)).kind is FailureKind.SERVER_ERROR


def test_a_stream_that_is_cut_is_a_server_error() -> None:
    answer = wire.stream(wire.start(), *wire.block(0, "text", "4"), ending="cut")
    with serving(in_turn(answer)) as server:
        assert failure_of(anthropic(server.url)).kind is FailureKind.SERVER_ERROR


def test_a_missing_key_names_its_variable_and_sends_nothing() -> None:
    with serving(in_turn(wire.reply())) as server:
        environ = {"ANTHROPIC_API_KEY": "", "OTHER": "x"}
        provider = make_provider("anthropic", None, environ=environ)
        error = failure_of(provider)
        assert server.requests == []
    assert error.kind is FailureKind.AUTH
    assert "ANTHROPIC_API_KEY" in str(error)


def test_check_lists_the_models() -> None:
    with serving(in_turn(json_answer({"data": [{"id": "claude-test"}]}))) as server:
        found = anthropic(server.url).check()
        assert server.requests[0].path.startswith("/v1/models")
    assert found.model_present


def test_there_is_nothing_to_load() -> None:
    with serving(in_turn(wire.reply())) as server:
        provider = anthropic(server.url)
        provider.unload()
        assert provider.preload(CONTROL) is None
        assert server.requests == []
