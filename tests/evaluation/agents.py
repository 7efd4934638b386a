"""Agents that suites of tests name as `tests.evaluation.agents:...`."""

from __future__ import annotations

import base64
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from poor_bench.errors import AgentError, ConfigError, RunCancelledError
from poor_bench.evaluation.agent import (
    AgentOutcome,
    AgentServices,
    AgentTask,
    Step,
    TrialControl,
)
from poor_bench.models.completion import Message
from poor_bench.models.failure import FailureKind
from tests.waiting import wait_for

SECRET = "correct horse"
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""The smallest PNG there is."""


class FunctionAgent:
    """Does what a function says."""

    def __init__(self, function: Callable[[AgentTask, TrialControl], Any]) -> None:
        self._function = function

    def run(self, task: AgentTask, control: TrialControl) -> Any:
        return self._function(task, control)


def echo(_services: AgentServices) -> FunctionAgent:
    """Succeeds, and tells what it was given."""

    def run(task: AgentTask, control: TrialControl) -> AgentOutcome:
        (task.folder / "step-1.png").write_bytes(PIXEL)
        action = {"action": "open", "url": task.start_url}
        control.note_step(
            Step(number=1, part="agent", action=action, text="opened", screenshot="step-1.png")
        )
        data = {"server": task.playbook_params.get("server"), "llm": task.llm and task.llm.id}
        return AgentOutcome(success=True, summary=task.directive, data=data, actions=1)

    return FunctionAgent(run)


def leaking(services: AgentServices) -> FunctionAgent:
    """Says a secret wherever it can."""

    def run(task: AgentTask, control: TrialControl) -> AgentOutcome:
        secret = services.environ["SHOP_PASSWORD"]
        control.note_step(Step(number=1, part="agent", text=f"typed {secret}", thought=secret))
        if "fail" in task.directive:
            raise AgentError(f"broke at {secret}", kind=FailureKind.AGENT)
        return AgentOutcome(success=True, summary=secret, data={"seen": [secret]})

    return FunctionAgent(run)


def raising(_services: AgentServices) -> FunctionAgent:
    """Raises something of its own."""

    def run(task: AgentTask, control: TrialControl) -> AgentOutcome:
        raise KeyError("oops")

    return FunctionAgent(run)


def stubborn(_services: AgentServices) -> FunctionAgent:
    """Works on until it is told to stop, and then claims success."""

    def run(task: AgentTask, control: TrialControl) -> AgentOutcome:
        wait_for(control.cancelled)
        return AgentOutcome(success=True, actions=4, input_tokens=50)

    return FunctionAgent(run)


def leaving(_services: AgentServices) -> FunctionAgent:
    """Ends the process, as scripts do."""

    def run(task: AgentTask, control: TrialControl) -> AgentOutcome:
        sys.exit(3)

    return FunctionAgent(run)


def giving_in(_services: AgentServices) -> FunctionAgent:
    """Says that the run was stopped, which it was not."""

    def run(task: AgentTask, control: TrialControl) -> AgentOutcome:
        raise RunCancelledError("I had enough")

    return FunctionAgent(run)


def loose(_services: AgentServices) -> FunctionAgent:
    """Returns nulls and numbers with a point, as plain data from elsewhere have them."""
    fields: dict[str, Any] = {"actions": 2.0, "input_tokens": None, "summary": None, "data": None}
    return FunctionAgent(lambda task, control: AgentOutcome(success=True, **fields))


def counting_badly(_services: AgentServices) -> FunctionAgent:
    """Returns a number of actions that cannot be."""
    fields: dict[str, Any] = {"actions": 2.5}
    return FunctionAgent(lambda task, control: AgentOutcome(success=True, **fields))


def mumbling_steps(_services: AgentServices) -> FunctionAgent:
    """Reports a step that is not one."""

    def run(task: AgentTask, control: TrialControl) -> AgentOutcome:
        step: Any = {"text": "did it"}
        control.note_step(step)
        return AgentOutcome(success=True)

    return FunctionAgent(run)


def asking(services: AgentServices) -> FunctionAgent:
    """Asks its model one question; it does not care why there is no answer."""

    def run(task: AgentTask, control: TrialControl) -> AgentOutcome:
        assert task.llm is not None
        try:
            services.llms.complete(task.llm, (Message("user", "Hi"),))
        except Exception as error:  # noqa: BLE001 - an agent of a user
            return AgentOutcome(success=False, error=str(error))
        return AgentOutcome(success=True)

    return FunctionAgent(run)


def spending(_services: AgentServices) -> FunctionAgent:
    """Uses a million tokens each way."""
    tokens = {"input_tokens": 1_000_000, "output_tokens": 1_000_000}
    return FunctionAgent(lambda task, control: AgentOutcome(success=True, **tokens))


def by_playbook(_services: AgentServices) -> FunctionAgent:
    """Succeeds as a playbook does, without a model."""
    return FunctionAgent(lambda task, control: AgentOutcome(success=True, mode="playbook"))


def mumbling(_services: AgentServices) -> FunctionAgent:
    """Returns something that is no outcome."""
    return FunctionAgent(lambda task, control: "done")


class Thing:
    """Something that JSON cannot hold, and that knows a secret."""

    def __str__(self) -> str:
        return f"Thing({SECRET})"


def exotic(_services: AgentServices) -> FunctionAgent:
    """Returns data that are no plain data."""
    data = {"thing": Thing(), "set": {1}, "tuple": (1, 2), "huge": 2**70}
    return FunctionAgent(lambda task, control: AgentOutcome(success=True, data=data))


def swallowing(_services: AgentServices) -> FunctionAgent:
    """Goes on whatever happens to its steps."""

    def run(task: AgentTask, control: TrialControl) -> AgentOutcome:
        with suppress(Exception):
            control.note_step(Step(number=1, part="agent", text="did it"))
        return AgentOutcome(success=True)

    return FunctionAgent(run)


def broken(_services: AgentServices) -> FunctionAgent:
    """Cannot be made."""
    raise ConfigError("no licence", hint="buy one")


def every_other(_services: AgentServices) -> FunctionAgent:
    """Succeeds in trials of odd numbers."""

    def run(task: AgentTask, control: TrialControl) -> AgentOutcome:
        return AgentOutcome(success=task.trial % 2 == 1, error="unlucky")

    return FunctionAgent(run)


def meeting(_services: AgentServices) -> FunctionAgent:
    """Goes on only once two trials are there at the same time."""
    barrier = threading.Barrier(2)

    def run(task: AgentTask, control: TrialControl) -> AgentOutcome:
        barrier.wait(timeout=30)
        return AgentOutcome(success=True)

    return FunctionAgent(run)


def endless(_services: AgentServices) -> FunctionAgent:
    """Acts until it is told to stop; its first case ends at once."""

    def run(task: AgentTask, control: TrialControl) -> AgentOutcome:
        if task.case_id == "quick":
            return AgentOutcome(success=True)
        control.note_step(Step(number=1, part="agent", text="waiting"))
        wait_for(control.cancelled)
        raise RunCancelledError("stopped")

    return FunctionAgent(run)


def hello_server() -> Callable[..., list[bytes]]:
    """Return an application that says hello."""

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [b"hello"]

    return application


def no_server() -> str:
    """Return something that is no application."""
    return "nothing"
