"""From the profile of a case to the agent that it names: a browser, yours, or an HTTP endpoint.

An endpoint receives the task as JSON and replies with the outcome. Request (POST,
`application/json`):

    {"case_id": "search", "trial": 1, "directive": "...", "start_url": "https://...",
     "max_steps": 50, "time_limit_s": 600, "token_limit": null, "thinking": "high",
     "output_schema": null, "allow_private_networks": false, "credentials": {"SHOP_PASSWORD":
     "https://..."}, "llm": "ollama:gemma3:4b"}

`credentials` names environment variables and their origins; values are never sent. Reply, status
200; only `success` is required, null stands for a default:

    {"success": true, "summary": "...", "error": "", "data": {}, "extracted_text": "",
     "actions": 7, "input_tokens": 1200, "output_tokens": 80,
     "steps": [{"text": "click Search", "url": "https://...", "error": ""}]}

An endpoint that cannot be reached, or that a gateway or its status 4xx refuses, could not be run.
Everything else is a failure of the agent: a crash (status 500, a connection closed before the
reply) and a reply of another form.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from poor_bench.errors import (
    AgentError,
    PoorBenchError,
    ProviderError,
    RunCancelledError,
    describe_crash,
)
from poor_bench.evaluation.agent import (
    AgentOutcome,
    AgentServices,
    AgentTask,
    AgentUnderTest,
    Step,
    TrialControl,
    read_outcome,
    read_step,
    write_plain_fields,
)
from poor_bench.evaluation.browser.addresses import split_web_url
from poor_bench.evaluation.browser.redaction import Redactor, make_redactor
from poor_bench.evaluation.factories import import_factory
from poor_bench.evaluation.suite_file import DEFAULT_PROFILE
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import Timeouts
from poor_bench.ports import CallControl
from poor_bench.providers.transport.reply import (
    MalformedJsonError,
    dump_json,
    load_json,
)
from poor_bench.providers.transport.server import HttpRequest, Server, TransportError, is_hang_up

_LONGEST_TRACEBACK = 20_000


class Profiles:
    """Makes each agent once, at its first use."""

    def __init__(self, services: AgentServices) -> None:
        self._services = services
        self._agents: dict[str, AgentUnderTest] = {}
        self._lock = threading.Lock()

    def agent(self, profile: str) -> AgentUnderTest:
        """Look up the agent of a profile; make it at its first use.

        Raises:
            ConfigError: If its factory does not exist.
            MissingExtraError: If it needs a package that is not installed.
            AgentError: If its factory fails.
        """
        with self._lock:
            if profile not in self._agents:
                self._agents[profile] = self._create(profile)
            return self._agents[profile]

    def _create(self, profile: str) -> AgentUnderTest:
        if profile == DEFAULT_PROFILE:
            from poor_bench.evaluation.browser.agent import BrowserAgent

            return BrowserAgent(self._services)
        if split_web_url(profile) is not None:
            return HttpAgent(profile, self._services)
        factory = import_factory(profile)
        try:
            return CustomAgent(factory(self._services), profile, self._services.environ)
        except PoorBenchError:
            raise
        except Exception as error:
            message = f"the factory {profile} raised {describe_crash(error)}"
            raise AgentError(message, kind=FailureKind.AGENT) from error


class CustomAgent:
    """An agent of the user: a crash or a bad outcome is a failure of the agent under test."""

    def __init__(self, agent: AgentUnderTest, profile: str, environ: Mapping[str, str]) -> None:
        self._agent = agent
        self._environ = environ
        self._profile = profile

    def run(self, task: AgentTask, control: TrialControl) -> AgentOutcome:
        """Carry out one task.

        Raises:
            PoorBenchError: If the agent raises one, to say that the failure is not its own.
            RunCancelledError: If the run was stopped.
        """
        checked = TrialControl(
            cancelled=control.cancelled,
            note_step=lambda step: control.note_step(_check_step(step)),
        )
        try:
            outcome = self._agent.run(task, checked)
        except RunCancelledError as error:
            if control.cancelled():
                raise
            return self._report_crash(error, task)
        except PoorBenchError:
            raise
        except BaseException as error:  # noqa: BLE001 - even sys.exit() must not end the run
            return self._report_crash(error, task)
        return self._read(outcome)

    def _report_crash(self, error: BaseException, task: AgentTask) -> AgentOutcome:
        redactor = make_redactor(task.credentials, task.llm, self._environ, self._profile)
        own = error.__traceback__.tb_next if error.__traceback__ else None
        lines = traceback.format_exception(type(error), error, own)
        return AgentOutcome(
            success=False,
            error=f"agent {self._profile} raised {describe_crash(error, hide=redactor.text)}",
            traceback=redactor.text("".join(lines))[-_LONGEST_TRACEBACK:],
        )

    def _read(self, returned: object) -> AgentOutcome:
        if not isinstance(returned, AgentOutcome):
            error = f"agent {self._profile} returned {type(returned).__name__}, not AgentOutcome"
            return AgentOutcome(success=False, error=error)
        try:
            return read_outcome(write_plain_fields(returned))
        except ValueError as error:
            message = f"agent {self._profile} returned a bad AgentOutcome: {error}"
            return AgentOutcome(success=False, error=message)


def _check_step(step: object) -> Step:
    if not isinstance(step, Step):
        raise TypeError(f"note_step() takes a Step, not {type(step).__name__}")
    return read_step(write_plain_fields(step))


_SENT = (
    "case_id", "trial", "directive", "start_url", "max_steps", "time_limit_s", "token_limit",
    "thinking", "output_schema", "allow_private_networks", "credentials",
)  # fmt: skip
_READ = (
    "success", "summary", "error", "data", "extracted_text", "actions", "input_tokens",
    "output_tokens",
)  # fmt: skip
_READ_OF_STEP = ("text", "action", "url", "title", "thought", "result", "error", "duration_ms")
_OWN = {"part": "agent"}
_OK = 200
_CRASHED = frozenset(range(500, 600)) - {502, 503, 504}
"""5xx of the agent itself; 502 to 504 come from a gateway, or from a server that is overloaded."""
_LONGEST_REPLY = 20_000
_SHOWN = 200


class HttpAgent:
    """Posts tasks to one endpoint; called from several threads at once."""

    def __init__(self, url: str, services: AgentServices) -> None:
        self._url = url
        self._services = services

    def run(self, task: AgentTask, control: TrialControl) -> AgentOutcome:
        """Send the task and wait for its outcome, for at most the time limit of the task.

        Raises:
            AgentError: If the endpoint cannot be reached, or refuses the request.
            RunCancelledError: If `control.cancelled()` turned true.
        """
        redactor = make_redactor(task.credentials, task.llm, self._services.environ, self._url)
        try:
            reply = self._exchange(task, control, redactor)
        except _BadReplyError as error:
            return AgentOutcome(success=False, error=str(error), traceback=error.reply)
        except ProviderError as error:
            if error.kind is FailureKind.TIMEOUT:
                limit = f"no outcome within the time limit of {task.time_limit_s:g} s"
                return AgentOutcome(success=False, error=limit)
            raise AgentError(f"{self._url}: {error}", kind=error.kind) from error
        return self._read(reply, control, redactor)

    def _exchange(self, task: AgentTask, control: TrialControl, redactor: Redactor) -> bytes:
        limit = task.time_limit_s
        timeouts = Timeouts(connect_s=min(10.0, limit), first_token_s=limit, total_s=limit)
        call = CallControl(timeouts=timeouts, cancelled=control.cancelled)
        server = Server(self._url, self._services.environ, self._services.clock)
        try:
            with server.exchange(_request(task, self._url), call) as reply:
                body = reply.read()
        except TransportError as error:
            raise self._make_unreachable_error(error) from error
        finally:
            server.close()
        if reply.status != _OK:
            raise self._report_refusal(reply.status, _read_text(body, redactor))
        return body

    def _make_unreachable_error(self, error: TransportError) -> Exception:
        if error.replied or is_hang_up(error.cause):
            return _BadReplyError(f"{self._url} closed the connection before its reply was whole")
        message = f"cannot reach {self._url}: {error}"
        return AgentError(message, kind=FailureKind.CONNECTION)

    def _report_refusal(self, status: int, text: str) -> Exception:
        said = f": {' '.join(text.split())[:_SHOWN]}" if text.strip() else ""
        message = f"{self._url} replied with status {status}{said}"
        if status in _CRASHED:
            return _BadReplyError(message, text)
        return AgentError(message, kind=FailureKind.SERVER_ERROR)

    def _read(self, body: bytes, control: TrialControl, redactor: Redactor) -> AgentOutcome:
        try:
            reply = load_json(body)
            steps = _read_steps(reply.get("steps") or [])
            outcome = read_outcome({**{name: reply.get(name) for name in _READ}, "mode": "agent"})
        except (MalformedJsonError, ValueError) as error:
            fault = "a JSON object" if isinstance(error, MalformedJsonError) else f"valid: {error}"
            message = f"the reply of {self._url} is not {fault}; see docs/suites.md"
            text = _read_text(body, redactor)[:_LONGEST_REPLY]
            return AgentOutcome(success=False, error=message, traceback=text)
        for step in steps:
            control.note_step(step)
        return outcome


class _BadReplyError(Exception):
    """A failure of the agent under test, with what it replied."""

    def __init__(self, message: str, reply: str = "") -> None:
        super().__init__(message)
        self.reply = reply[:_LONGEST_REPLY]


def _read_text(body: bytes, redactor: Redactor) -> str:
    """Text of a reply without secrets, which are not found any more once it is cut."""
    return redactor.text(body.decode(errors="replace"))


def _read_steps(written: object) -> list[Step]:
    """Read the steps of a reply.

    Raises:
        ValueError: If they have another form.
    """
    if not isinstance(written, list) or not all(isinstance(each, Mapping) for each in written):
        raise ValueError("steps: must be a list of objects")
    return [
        read_step({**{name: each.get(name) for name in _READ_OF_STEP}, "number": number, **_OWN})
        for number, each in enumerate(written, start=1)
    ]


def _request(task: AgentTask, url: str) -> HttpRequest:
    body: dict[str, Any] = {name: _write_plain(getattr(task, name)) for name in _SENT}
    body["llm"] = task.llm.id if task.llm else None
    query = urlsplit(url).query
    return HttpRequest(
        method="POST",
        path=f"?{query}" if query else "",
        headers={"Content-Type": "application/json", "Accept": "application/json"},
        body=dump_json(body),
    )


def _write_plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value
