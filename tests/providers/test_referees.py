"""The makers' own clients understand our test servers, and read the same out of them as we do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from poor_bench.models.failure import FailureKind
from tests.providers.asking import MODELS, ask, failure_of, make_provider
from tests.providers.servers import anthropic_format, ollama_format, openai_format
from tests.providers.servers.fake_server import FakeServer, in_turn, json_answer, serving

pytestmark = pytest.mark.slow(reason="imports the clients of other firms")

if TYPE_CHECKING:  # each takes a second to import, which runs of other tests need not wait for
    import anthropic
    import ollama
    import openai

MESSAGES: Any = [{"role": "user", "content": "2+2?"}]


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with serving(in_turn(json_answer({}))) as server:
        yield server


@pytest.fixture
def ollama_client(server: FakeServer) -> Iterator[ollama.Client]:
    import ollama

    with ollama.Client(server.url) as client:
        yield client


def test_ollamas_client_agrees_on_a_stream(
    server: FakeServer, ollama_client: ollama.Client
) -> None:
    server.respond = ollama_format.ollama(ollama_format.reply("four", thinking="2 and 2"))
    chunks = list(ollama_client.chat(MODELS["ollama"], MESSAGES, stream=True))
    ours = ask(make_provider("ollama", server.url))
    assert "".join(chunk.message.content or "" for chunk in chunks) == ours.text
    assert "".join(chunk.message.thinking or "" for chunk in chunks) == ours.thinking
    assert chunks[-1].prompt_eval_count == ours.usage.prompt_tokens
    assert chunks[-1].eval_count == ours.usage.completion_tokens
    assert chunks[-1].done_reason == ours.finish_reason
    assert (chunks[-1].load_duration or 0) / 1e6 == ours.timing.load_ms


def test_ollamas_client_agrees_on_a_whole_reply(
    server: FakeServer, ollama_client: ollama.Client
) -> None:
    server.respond = ollama_format.ollama(ollama_format.whole("four"))
    theirs = ollama_client.chat(MODELS["ollama"], MESSAGES)
    assert theirs.message.content == ask(make_provider("ollama", server.url), stream=False).text


def test_ollamas_client_sends_options_as_we_do(
    server: FakeServer, ollama_client: ollama.Client
) -> None:
    server.respond = ollama_format.ollama(ollama_format.reply())
    options = {"temperature": 0, "num_ctx": 512, "stop": ["END"]}
    chat = ollama_client.chat(
        MODELS["ollama"], MESSAGES, stream=True, options=options, think=True, keep_alive="1m"
    )
    list(chat)
    ask(make_provider("ollama", server.url), **options, think=True, keep_alive="1m")
    theirs, ours = (request.body for request in server.asked("/api/chat"))
    assert {**theirs, "truncate": False, "tools": []} == {**ours, "tools": []}


def test_ollamas_client_agrees_on_the_installed_models(
    server: FakeServer, ollama_client: ollama.Client
) -> None:
    server.respond = ollama_format.ollama(ollama_format.reply())
    theirs = [model.model for model in ollama_client.list().models]
    assert tuple(theirs) == make_provider("ollama", server.url).check().models


def test_ollamas_client_agrees_on_an_error(
    server: FakeServer, ollama_client: ollama.Client
) -> None:
    import ollama

    server.respond = in_turn(json_answer({"error": "model 'x' not found"}, 404))
    with pytest.raises(ollama.ResponseError) as caught:
        ollama_client.chat(MODELS["ollama"], MESSAGES)
    ours = failure_of(make_provider("ollama", server.url))
    assert caught.value.status_code == ours.status
    assert caught.value.error in str(ours)
    assert ours.kind is FailureKind.MODEL_NOT_FOUND


def test_openais_client_agrees_on_a_stream(
    server: FakeServer, openai_client: openai.OpenAI
) -> None:
    server.respond = in_turn(openai_format.reply("four"))
    chunks = list(
        openai_client.chat.completions.create(
            model="gpt-test",
            messages=MESSAGES,
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    ours = ask(make_provider("openai", server.url))
    choices = [chunk.choices[0] for chunk in chunks if chunk.choices]
    assert "".join(choice.delta.content or "" for choice in choices) == ours.text
    assert choices[-1].finish_reason == ours.finish_reason
    usage = chunks[-1].usage
    assert usage is not None
    assert usage.prompt_tokens == ours.usage.prompt_tokens
    assert usage.completion_tokens == ours.usage.completion_tokens
    assert usage.completion_tokens_details is not None
    assert usage.completion_tokens_details.reasoning_tokens == ours.usage.thinking_tokens
    theirs, own = (request.body for request in server.requests)
    assert theirs == own


def test_openais_client_agrees_on_a_whole_reply(
    server: FakeServer, openai_client: openai.OpenAI
) -> None:
    server.respond = in_turn(openai_format.whole("four", "length"))
    theirs = openai_client.chat.completions.create(model="gpt-test", messages=MESSAGES)
    ours = ask(make_provider("openai", server.url), stream=False)
    assert theirs.choices[0].message.content == ours.text
    assert theirs.choices[0].finish_reason == ours.finish_reason
    assert theirs.system_fingerprint is not None
    assert theirs.system_fingerprint in (ours.model_digest or "")


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (401, "AuthenticationError", FailureKind.AUTH),
        (403, "PermissionDeniedError", FailureKind.AUTH),
        (404, "NotFoundError", FailureKind.MODEL_NOT_FOUND),
        (400, "BadRequestError", FailureKind.BAD_REQUEST),
        (422, "UnprocessableEntityError", FailureKind.BAD_REQUEST),
        (409, "ConflictError", FailureKind.SERVER_ERROR),
        (429, "RateLimitError", FailureKind.RATE_LIMITED),
        (500, "InternalServerError", FailureKind.SERVER_ERROR),
    ],
)
def test_openais_client_agrees_on_errors(
    server: FakeServer,
    openai_client: openai.OpenAI,
    status: int,
    error: str,
    kind: FailureKind,
) -> None:
    import openai

    server.respond = in_turn(openai_format.refusal(status, "so it is"))
    with pytest.raises(getattr(openai, error)) as caught:
        openai_client.chat.completions.create(model="gpt-test", messages=MESSAGES)
    ours = failure_of(make_provider("openai", server.url))
    assert (ours.kind, ours.status) == (kind, caught.value.status_code)


def test_anthropics_client_agrees_on_a_stream(
    server: FakeServer, anthropic_client: anthropic.Anthropic
) -> None:
    server.respond = in_turn(anthropic_format.reply("four", thinking="2 and 2"))
    with anthropic_client.messages.stream(
        model="claude-test", max_tokens=4096, messages=MESSAGES
    ) as stream:
        theirs = stream.get_final_message()
    ours = ask(make_provider("anthropic", server.url))
    thinking, text = theirs.content
    assert (thinking.type, text.type) == ("thinking", "text")
    assert (thinking.thinking, text.text) == (ours.thinking, ours.text)
    assert theirs.usage.output_tokens == ours.usage.completion_tokens
    assert theirs.usage.cache_read_input_tokens == ours.usage.cached_tokens
    assert theirs.model == ours.model_digest
    assert server.requests[0].body == server.requests[1].body


def test_anthropics_client_agrees_on_a_whole_reply(
    server: FakeServer, anthropic_client: anthropic.Anthropic
) -> None:
    content = [{"type": "text", "text": "four"}]
    server.respond = in_turn(anthropic_format.whole(content, "max_tokens"))
    theirs = anthropic_client.messages.create(model="claude-test", max_tokens=9, messages=MESSAGES)
    ours = ask(make_provider("anthropic", server.url), stream=False, max_tokens=9)
    assert theirs.content[0].type == "text"
    assert theirs.content[0].text == ours.text
    assert (theirs.stop_reason, ours.finish_reason) == ("max_tokens", "length")


@pytest.mark.parametrize(
    ("status", "name", "error", "kind"),
    [
        (401, "authentication_error", "AuthenticationError", FailureKind.AUTH),
        (403, "permission_error", "PermissionDeniedError", FailureKind.AUTH),
        (404, "not_found_error", "NotFoundError", FailureKind.MODEL_NOT_FOUND),
        (400, "invalid_request_error", "BadRequestError", FailureKind.BAD_REQUEST),
        (429, "rate_limit_error", "RateLimitError", FailureKind.RATE_LIMITED),
        (500, "api_error", "InternalServerError", FailureKind.SERVER_ERROR),
    ],
)
def test_anthropics_client_agrees_on_errors(
    server: FakeServer,
    anthropic_client: anthropic.Anthropic,
    status: int,
    name: str,
    error: str,
    kind: FailureKind,
) -> None:
    import anthropic

    server.respond = in_turn(anthropic_format.refusal(status, name, "so it is"))
    with pytest.raises(getattr(anthropic, error)) as caught:
        anthropic_client.messages.create(model="claude-test", max_tokens=9, messages=MESSAGES)
    ours = failure_of(make_provider("anthropic", server.url))
    assert (ours.kind, ours.status) == (kind, caught.value.status_code)
