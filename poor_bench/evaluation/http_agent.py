"""An agent behind an HTTP endpoint: the task goes in as JSON, the outcome comes back as JSON.

Request (POST, `application/json`):

    {"case_id": "search", "trial": 1, "directive": "...", "start_url": "https://...",
     "max_steps": 50, "time_limit_s": 600, "token_limit": null, "thinking": "high",
     "output_schema": null, "allow_private_networks": false, "credentials": {"SHOP_PASSWORD":
     "https://..."}, "llm": "ollama:gemma3:4b"}

`credentials` names environment variables and their origins; values are never sent. Reply, status
200; only `success` is required:

    {"success": true, "summary": "...", "error": "", "data": {}, "extracted_text": "",
     "actions": 7, "input_tokens": 1200, "output_tokens": 80,
     "steps": [{"text": "click Search", "url": "https://...", "error": ""}]}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from poor_bench.errors import AgentError, ProviderError
from poor_bench.evaluation.agent import (
    AgentOutcome,
    AgentServices,
    AgentTask,
    Step,
    TrialControl,
)
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import Timeouts
from poor_bench.ports import CallControl
from poor_bench.providers.transport.json_text import MalformedJsonError, dump_json, load_json
from poor_bench.providers.transport.server import HttpRequest, Server, TransportError

Count = Annotated[int, Field(ge=0)]
_SENT = (
    "case_id", "trial", "directive", "start_url", "max_steps", "time_limit_s", "token_limit",
    "thinking", "output_schema", "allow_private_networks", "credentials",
)  # fmt: skip
_OK = 200


class _StepReply(BaseModel):
    model_config = ConfigDict(extra="ignore")

    text: str = ""
    action: dict[str, Any] = Field(default_factory=dict)
    url: str = ""
    title: str = ""
    thought: str = ""
    result: str = ""
    error: str = ""
    duration_ms: float = 0.0


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    success: bool
    summary: str = ""
    error: str = ""
    data: dict[str, Any] = Field(default_factory=dict)
    extracted_text: str = ""
    actions: Count = 0
    input_tokens: Count = 0
    output_tokens: Count = 0
    steps: list[_StepReply] = Field(default_factory=list)


class HttpAgent:
    """Asks one endpoint; called from several threads at once."""

    def __init__(self, url: str, services: AgentServices) -> None:
        self._url = url
        self._services = services

    def run(self, task: AgentTask, control: TrialControl) -> AgentOutcome:
        """Send the task and wait for its outcome, for at most the time limit of the task.

        Raises:
            AgentError: If the endpoint cannot be reached, fails or replies something else.
            RunCancelledError: If `control.cancelled()` turned true.
        """
        try:
            reply = _parse(self._exchange(task, control), self._url)
        except ProviderError as error:
            if error.kind is FailureKind.TIMEOUT:
                limit = f"no outcome within the time limit of {task.time_limit_s:g} s"
                return AgentOutcome(success=False, error=limit)
            raise AgentError(f"{self._url}: {error}", kind=error.kind) from error
        for number, step in enumerate(reply.steps, start=1):
            control.note_step(Step(number=number, part="agent", **step.model_dump()))
        return AgentOutcome(**reply.model_dump(exclude={"steps"}))

    def _exchange(self, task: AgentTask, control: TrialControl) -> bytes:
        limit = task.time_limit_s
        timeouts = Timeouts(connect_s=min(10.0, limit), first_token_s=limit, total_s=limit)
        call = CallControl(timeouts=timeouts, cancelled=control.cancelled)
        server = Server(self._url, self._services.environ, self._services.clock)
        try:
            with server.exchange(_request(task, self._url), call) as reply:
                body = reply.read()
        except TransportError as error:
            message = f"{self._url} cannot be reached: {error}"
            raise AgentError(message, kind=FailureKind.CONNECTION) from error
        finally:
            server.close()
        if reply.status != _OK:
            message = f"{self._url} answered with status {reply.status}"
            raise AgentError(message, kind=FailureKind.SERVER_ERROR)
        return body


def _request(task: AgentTask, url: str) -> HttpRequest:
    body: dict[str, Any] = {name: _plain(getattr(task, name)) for name in _SENT}
    body["llm"] = task.llm.id if task.llm else None
    query = urlsplit(url).query
    return HttpRequest(
        method="POST",
        path=f"?{query}" if query else "",
        headers={"Content-Type": "application/json", "Accept": "application/json"},
        body=dump_json(body),
    )


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def _parse(body: bytes, url: str) -> _Reply:
    try:
        return _Reply.model_validate(load_json(body))
    except MalformedJsonError as error:
        reason = "is not a JSON object"
        raise _malformed(url, reason) from error
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"]))
        raise _malformed(url, f"is not an outcome: {place}: {fault['msg']}") from error


def _malformed(url: str, reason: str) -> AgentError:
    hint = "the form of the reply is described in docs/suites.md"
    return AgentError(f"the reply of {url} {reason}", kind=FailureKind.MALFORMED_REPLY, hint=hint)
