from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from poor_bench.calls.caller import SystemClock
from poor_bench.errors import AgentError, RunCancelledError
from poor_bench.evaluation.agent import AgentOutcome, AgentServices, AgentTask, Step, TrialControl
from poor_bench.evaluation.profiles import HttpAgent
from poor_bench.llm_manager import LLMManager
from poor_bench.models.failure import FailureKind


class Endpoint:
    """An endpoint that answers what it is told to, and keeps what it was asked."""

    def __init__(self) -> None:
        self.status = 200
        self.hangs_up = False
        self.body: bytes = b'{"success": true}'
        self.silent = threading.Event()
        self.silent.set()
        self.asked: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_port}/agent?key=1"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                endpoint.asked.append(json.loads(self.rfile.read(length)))
                endpoint.paths.append(self.path)
                endpoint.silent.wait(30)
                if endpoint.hangs_up:
                    self.close_connection = True
                    return
                self.send_response(endpoint.status)
                self.send_header("Content-Length", str(len(endpoint.body)))
                self.end_headers()
                self.wfile.write(endpoint.body)

            def log_message(self, *args: Any) -> None:
                """Say nothing."""

        return Handler


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    found = Endpoint()
    thread = threading.Thread(target=found.server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield found
    found.silent.set()
    found.server.shutdown()
    found.server.server_close()
    thread.join()


def ask(url: str, control: TrialControl | None = None, **fields: Any) -> AgentOutcome:
    clock = SystemClock()
    services = AgentServices(
        data_dir=Path(), llms=LLMManager(clock=clock), environ={"PW": "secret"}, clock=clock
    )
    values = {"case_id": "one", "trial": 2, "directive": "Buy.", "folder": Path()}
    task = AgentTask(**{**values, **fields})
    return HttpAgent(url, services).run(task, control or TrialControl())


def test_task_goes_in_and_outcome_comes_back(endpoint: Endpoint) -> None:
    steps: list[Step] = []
    endpoint.body = json.dumps(
        {
            "success": True,
            "summary": "Bought.",
            "data": {"id": 7},
            "actions": 3,
            "input_tokens": 10,
            "steps": [{"text": "click Buy", "url": "https://shop.example"}],
            "something": "new",
        }
    ).encode()
    outcome = ask(
        endpoint.url,
        TrialControl(note_step=steps.append),
        credentials={"PW": "https://shop.example"},
        output_schema={"type": "object"},
    )
    assert (outcome.success, outcome.summary, outcome.data) == (True, "Bought.", {"id": 7})
    assert (outcome.actions, outcome.input_tokens, outcome.mode) == (3, 10, "agent")
    assert [(step.number, step.text) for step in steps] == [(1, "click Buy")]
    (asked,) = endpoint.asked
    assert (asked["directive"], asked["trial"], asked["llm"]) == ("Buy.", 2, None)
    assert asked["credentials"] == {"PW": "https://shop.example"}
    assert "secret" not in json.dumps(asked)
    assert endpoint.paths == ["/agent?key=1"]


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (500, b"Traceback: oops", "status 500: Traceback: oops"),
        (200, b"<html>", "is not a JSON object"),
        (200, b"[]", "is not a JSON object"),
        (200, b"{}", "success: Field required"),
        (200, b'{"success": null}', "success: Field required"),
        (200, b'{"success": "yes"}', "success: Input should be a valid boolean"),
        (200, b'{"success": true, "actions": -1}', "actions: "),
        (200, b'{"success": true, "actions": 2.5}', "actions: "),
        (200, b'{"success": true, "steps": [3]}', "steps: "),
    ],
)
def test_a_crash_or_a_bad_reply_is_a_failure_of_the_agent_with_what_it_said(
    endpoint: Endpoint, status: int, body: bytes, words: str
) -> None:
    endpoint.status, endpoint.body = status, body
    outcome = ask(endpoint.url)
    assert not outcome.success
    assert words in outcome.error
    assert endpoint.url in outcome.error
    assert outcome.traceback == body.decode()


@pytest.mark.parametrize("status", [301, 401, 404, 429, 502, 503, 504])
def test_an_endpoint_that_is_not_the_agent_or_not_there_could_not_be_run(
    endpoint: Endpoint, status: int
) -> None:
    endpoint.status, endpoint.body = status, b"go away"
    with pytest.raises(AgentError, match=f"status {status}: go away"):
        ask(endpoint.url)


def test_a_connection_that_breaks_before_the_reply_is_a_crash_of_the_agent(
    endpoint: Endpoint,
) -> None:
    endpoint.hangs_up = True
    outcome = ask(endpoint.url)
    assert not outcome.success
    assert "closed the connection" in outcome.error


def test_null_stands_for_a_default_and_whole_numbers_may_have_a_point(endpoint: Endpoint) -> None:
    endpoint.body = (
        b'{"success": true, "actions": 2.0, "input_tokens": null, "output_tokens": 7.0,'
        b'"summary": null, "data": null, "steps": [{"text": null, "action": null}]}'
    )
    outcome = ask(endpoint.url)
    assert outcome == AgentOutcome(success=True, actions=2, output_tokens=7)
    assert isinstance(outcome.actions, int)


def test_endpoint_that_is_not_there_is_told(endpoint: Endpoint) -> None:
    url = endpoint.url.replace(str(endpoint.server.server_port), "1")
    with pytest.raises(AgentError, match="cannot reach") as caught:
        ask(url)
    assert caught.value.kind is FailureKind.CONNECTION


def test_agent_that_takes_too_long_has_failed(endpoint: Endpoint) -> None:
    endpoint.silent.clear()
    outcome = ask(endpoint.url, time_limit_s=0.2)
    assert not outcome.success
    assert outcome.error == "no outcome within the time limit of 0.2 s"


def test_waiting_for_an_agent_can_be_cancelled(endpoint: Endpoint) -> None:
    endpoint.silent.clear()
    with pytest.raises(RunCancelledError):
        ask(endpoint.url, TrialControl(cancelled=lambda: bool(endpoint.asked)))
