"""Every failure that any server can cause comes out as the right kind, from every provider."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from poor_bench.errors import RunCancelledError
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import Timeouts
from poor_bench.ports import CallControl, Clock, Provider
from poor_bench.providers.http_chat import disable_streaming
from tests.providers.asking import ask, failure_of, make_provider
from tests.providers.fake_clock import FakeClock
from tests.providers.servers import anthropic_format, ollama_format, openai_format
from tests.providers.servers.fake_server import Answer, FakeServer, in_turn, json_answer, serving

KEY = "sk-secret-0123456789abcdef"
BEGINNINGS = {
    "ollama": ollama_format.stream(ollama_format.piece("4")),
    "openai": openai_format.stream(openai_format.chunk({"content": "4"})),
    "anthropic": anthropic_format.stream(
        anthropic_format.start(), *anthropic_format.block(0, "text", "4")
    ),
}
REPLIES = {
    "ollama": ollama_format.reply("four"),
    "openai": openai_format.reply("four"),
    "anthropic": anthropic_format.reply("four"),
}

every_provider = pytest.mark.parametrize("name", list(REPLIES))


def provider_at(name: str, server: FakeServer, clock: Clock | None = None) -> Provider:
    return make_provider(
        name, server.url, environ={"MY_KEY": KEY}, api_key_env="MY_KEY", clock=clock
    )


def error_body(name: str, message: str) -> Any:
    if name == "ollama":
        return {"error": message}
    return {"type": "error", "error": {"type": "some_error", "message": message}}


@every_provider
@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (401, "Incorrect API key provided", FailureKind.AUTH),
        (403, "not allowed", FailureKind.AUTH),
        (402, "Insufficient credits", FailureKind.QUOTA),
        (429, "slow down", FailureKind.RATE_LIMITED),
        (404, "model 'x' not found", FailureKind.MODEL_NOT_FOUND),
        (400, "prompt is too long: 300 tokens > 200 maximum", FailureKind.CONTEXT_OVERFLOW),
        (413, "request too large", FailureKind.CONTEXT_OVERFLOW),
        (400, "messages: at least one is needed", FailureKind.BAD_REQUEST),
        (408, "timed out", FailureKind.TIMEOUT),
        (500, "internal error", FailureKind.SERVER_ERROR),
        (503, "unavailable", FailureKind.SERVER_ERROR),
        (529, "overloaded", FailureKind.SERVER_ERROR),
    ],
)
def test_refusals_are_of_the_right_kind(
    name: str, status: int, message: str, kind: FailureKind
) -> None:
    with serving(in_turn(json_answer(error_body(name, message), status))) as server:
        error = failure_of(provider_at(name, server))
    assert (error.kind, error.status) == (kind, status)
    assert message in str(error)


@every_provider
def test_the_wait_that_a_server_asks_for_is_passed_on(name: str) -> None:
    answer = json_answer(error_body(name, "slow down"), 429, retry_after="7")
    with serving(in_turn(answer)) as server:
        assert failure_of(provider_at(name, server)).retry_after_s == 7


@every_provider
def test_a_web_page_with_an_error_status_is_named_as_one(name: str) -> None:
    page = b"<html><head><title>502 Bad Gateway</title></head><body><h1>nginx</h1></body></html>"
    answer = Answer(status=502, body=page, content_type="text/html")
    with serving(in_turn(answer)) as server:
        error = failure_of(provider_at(name, server))
    assert error.kind is FailureKind.SERVER_ERROR
    assert "a web page, '502 Bad Gateway'" in str(error)


@every_provider
@pytest.mark.parametrize("body", [b"<html><body>Please log in</body></html>", b"OK", b"[1]"])
def test_a_reply_that_is_not_json_is_malformed(name: str, body: bytes) -> None:
    with serving(in_turn(Answer(body=body, content_type="text/html"))) as server:
        error = failure_of(provider_at(name, server))
    assert error.kind is FailureKind.MALFORMED_REPLY


@every_provider
def test_a_redirect_is_not_followed_and_the_key_stays_here(name: str) -> None:
    with serving(in_turn(REPLIES[name])) as elsewhere:
        answer = Answer(status=307, headers={"Location": f"{elsewhere.url}/v1"})
        with serving(in_turn(answer)) as server:
            error = failure_of(provider_at(name, server))
        assert elsewhere.requests == []
    assert error.kind is FailureKind.BAD_REQUEST
    assert elsewhere.url in str(error)


@every_provider
def test_a_connection_that_is_closed_without_a_reply_is_a_connection_failure(name: str) -> None:
    with serving(in_turn(Answer(ending="silent"))) as server:
        server.released.set()
        error = failure_of(provider_at(name, server))
    assert error.kind is FailureKind.CONNECTION


@every_provider
def test_a_refused_connection_is_a_connection_failure(name: str) -> None:
    with serving(in_turn(REPLIES[name])) as server:
        provider = provider_at(name, server)
    error = failure_of(provider)
    assert error.kind is FailureKind.CONNECTION
    assert server.host in str(error)


def test_an_unknown_host_is_a_connection_failure() -> None:
    error = failure_of(make_provider("openai", "http://no-such-host.invalid/v1", environ={}))
    assert error.kind is FailureKind.CONNECTION
    assert "host" in str(error)


def test_a_server_without_tls_is_a_connection_failure() -> None:
    with serving(in_turn(REPLIES["openai"])) as server:
        error = failure_of(make_provider("openai", f"https://{server.host}/v1", environ={}))
    assert error.kind is FailureKind.CONNECTION
    assert "cannot be trusted" in str(error)


@every_provider
def test_a_reply_that_breaks_off_is_a_server_error(name: str) -> None:
    pieces = BEGINNINGS[name].pieces
    with serving(in_turn(Answer(pieces=pieces, ending="cut"))) as server:
        error = failure_of(provider_at(name, server))
    assert error.kind is FailureKind.SERVER_ERROR
    assert "stopped in the middle" in str(error)


class JumpingClock(FakeClock):
    """A clock that is far in the future as soon as a server has been reached."""

    def __init__(self, server: FakeServer, to: float) -> None:
        super().__init__()
        self._server = server
        self._to = to

    def monotonic(self) -> float:
        return self._to if self._server.reached.is_set() else 0.0


@every_provider
@pytest.mark.parametrize("ending", ["silent", "hang", "drip"])
def test_a_call_ends_when_its_time_is_over_whatever_the_server_does(name: str, ending: str) -> None:
    answer = Answer(pieces=BEGINNINGS[name].pieces, ending=ending)
    with serving(in_turn(answer)) as server:
        provider = provider_at(name, server, JumpingClock(server, 601))
        error = failure_of(provider)
    assert error.kind is FailureKind.TIMEOUT
    assert "no complete reply within 600 s" in str(error)


@every_provider
def test_a_call_ends_when_no_first_token_comes(name: str) -> None:
    with serving(in_turn(Answer(pieces=[b"\n"], ending="drip"))) as server:
        provider = provider_at(name, server, JumpingClock(server, 301))
        error = failure_of(provider)
    assert error.kind is FailureKind.TIMEOUT
    assert "no first token within 300 s" in str(error)


def test_a_reply_in_one_piece_has_no_first_token_to_wait_for() -> None:
    limits = disable_streaming(CallControl(timeouts=Timeouts(first_token_s=3, total_s=9))).timeouts
    assert (limits.first_token_s, limits.total_s) == (9, 9)


@every_provider
@pytest.mark.parametrize("ending", ["silent", "hang", "drip"])
def test_a_cancelled_call_ends_and_closes_its_connection(name: str, ending: str) -> None:
    answer = Answer(pieces=BEGINNINGS[name].pieces, ending=ending)
    with serving(in_turn(answer)) as server:
        control = CallControl(timeouts=Timeouts(), cancelled=server.reached.is_set)
        with pytest.raises(RunCancelledError):
            ask(provider_at(name, server), control)


@every_provider
@pytest.mark.parametrize("ending", ["hang", "drip"])
def test_a_reply_that_closes_its_connection_at_the_end_can_be_cancelled(
    name: str, ending: str
) -> None:
    closes = {"Connection": "close"}
    answer = Answer(pieces=BEGINNINGS[name].pieces, ending=ending, headers=closes)
    with serving(in_turn(answer)) as server:
        control = CallControl(timeouts=Timeouts(), cancelled=server.reached.is_set)
        with pytest.raises(RunCancelledError):
            ask(provider_at(name, server), control)


@every_provider
def test_a_call_that_is_cancelled_from_the_start_sends_nothing(name: str) -> None:
    with serving(in_turn(REPLIES[name])) as server:
        control = CallControl(timeouts=Timeouts(), cancelled=lambda: True)
        with pytest.raises(RunCancelledError):
            ask(provider_at(name, server), control)
        assert server.requests == []


@every_provider
def test_the_key_is_shown_nowhere_even_if_the_server_echoes_it(name: str) -> None:
    for status in (200, 400, 401, 500):
        answer = json_answer(error_body(name, f"bad header: Bearer {KEY} {KEY}"), status)
        with serving(in_turn(answer)) as server:
            error = failure_of(provider_at(name, server))
        assert KEY not in f"{error} {error!r} {error.hint}"
        assert "[key]" in str(error)


@every_provider
@pytest.mark.parametrize("key", ["one\ntwo", "one\r\nX-Evil: 1", "schlüssel", "a\x00b"])
def test_a_key_that_cannot_be_sent_is_refused_without_showing_it(name: str, key: str) -> None:
    with serving(in_turn(REPLIES[name])) as server:
        provider = make_provider(name, server.url, environ={"MY_KEY": key}, api_key_env="MY_KEY")
        error = failure_of(provider)
        assert server.requests == []
    assert error.kind is FailureKind.AUTH
    assert key not in str(error)
    assert error.__cause__ is None


@every_provider
def test_a_key_with_blanks_around_it_is_sent_without_them(name: str) -> None:
    with serving(in_turn(REPLIES[name])) as server:
        provider = make_provider(
            name, server.url, environ={"MY_KEY": f" {KEY}\n"}, api_key_env="MY_KEY"
        )
        ask(provider)
        headers = server.requests[0].headers
    assert headers.get("x-api-key", headers.get("authorization", "")).endswith(KEY)


@every_provider
def test_one_connection_serves_call_after_call(name: str) -> None:
    with serving(in_turn(REPLIES[name])) as server:
        provider = provider_at(name, server)
        for _ in range(5):
            assert ask(provider).text == "four"
        assert server.connections == 1


@every_provider
def test_a_connection_that_the_server_has_closed_in_the_meantime_is_replaced(name: str) -> None:
    answers = (REPLIES[name], Answer(ending="silent"), REPLIES[name])
    respond = ollama_format.ollama(*answers) if name == "ollama" else in_turn(*answers)
    with serving(respond) as server:
        server.released.set()
        provider = provider_at(name, server)
        assert [ask(provider).text for _ in range(2)] == ["four", "four"]


@pytest.mark.slow(reason="waits for real processes or limits")
@every_provider
def test_a_reply_that_is_complete_counts_although_the_body_stays_open(name: str) -> None:
    answer = Answer(pieces=REPLIES[name].pieces, ending="hang")
    with serving(ollama_format.ollama(answer) if name == "ollama" else in_turn(answer)) as server:
        assert ask(provider_at(name, server)).text == "four"


@pytest.mark.slow(reason="waits for real processes or limits")
@every_provider
def test_calls_from_many_threads_do_not_mix(name: str) -> None:
    replies: dict[str, Callable[[str], Answer]] = {
        "ollama": ollama_format.reply,
        "openai": openai_format.reply,
        "anthropic": anthropic_format.reply,
    }

    def echo(request: Any) -> Answer:
        messages = request.body.get("messages")
        return replies[name](messages[-1]["content"]) if messages else json_answer({})

    with serving(echo) as server:
        provider = provider_at(name, server)
        found: dict[int, str] = {}

        def call(number: int) -> None:
            found[number] = ask(provider, prompt=f"text {number}").text

        threads = [threading.Thread(target=call, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == {number: f"text {number}" for number in range(16)}


@every_provider
def test_a_reply_larger_than_allowed_is_given_up(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("poor_bench.providers.transport.reply.MOST_BYTES", 1000)
    answer = Answer(body=json.dumps({"x": "y" * 2000}).encode())
    with serving(in_turn(answer)) as server:
        assert failure_of(provider_at(name, server)).kind is FailureKind.MALFORMED_REPLY


@every_provider
def test_a_compressed_reply_is_read(name: str) -> None:
    body = gzip.compress(b"".join(REPLIES[name].pieces or ()))
    with serving(in_turn(Answer(body=body, headers={"Content-Encoding": "gzip"}))) as server:
        assert ask(provider_at(name, server)).text == "four"


@pytest.mark.slow(reason="unpacks a giant reply")
@every_provider
def test_a_small_reply_that_unpacks_to_a_giant_is_given_up(name: str) -> None:
    body = gzip.compress(b"[" * 40_000_000)
    with serving(in_turn(Answer(body=body, headers={"Content-Encoding": "gzip"}))) as server:
        error = failure_of(provider_at(name, server))
    assert error.kind is FailureKind.MALFORMED_REPLY
    assert "32 MiB" in str(error)


@every_provider
def test_half_surrogates_in_prompt_and_reply_do_no_harm(name: str) -> None:
    with serving(in_turn(REPLIES[name])) as server:
        assert ask(provider_at(name, server), prompt="half \ud83d").text == "four"


def test_a_parameter_that_json_cannot_hold_is_a_bad_request() -> None:
    with serving(in_turn(REPLIES["openai"])) as server:
        error = failure_of(provider_at("openai", server), extra_body={"x": object()})
    assert error.kind is FailureKind.BAD_REQUEST


@every_provider
def test_a_closed_provider_leaves_no_thread_behind(name: str) -> None:
    with serving(in_turn(REPLIES[name])) as server:
        provider = provider_at(name, server)
        ask(provider)
        watchdogs = [
            thread for thread in threading.enumerate() if thread.name == "poor-bench-watchdog"
        ]
        provider.close()
        assert watchdogs
        watchdogs[-1].join(timeout=5)
        assert not watchdogs[-1].is_alive()


@every_provider
def test_parameters_of_the_wrong_type_are_for_the_server_to_refuse(name: str) -> None:
    refusal = json_answer(error_body(name, "wrong type"), 400)
    wrong = {"stop": 5, "max_tokens": "many", "think": [1], "extra_body": "x", "temperature": {}}
    with serving(in_turn(refusal)) as server:
        error = failure_of(provider_at(name, server), response_format=7, **wrong)
    assert error.kind is FailureKind.BAD_REQUEST
