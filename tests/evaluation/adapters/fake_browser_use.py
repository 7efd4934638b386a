"""What our adapter uses of browser-use 0.13, without a browser.

Its agent asks the LLM for one answer a step, tells each step, and stops at `done`.
"""

from __future__ import annotations

import asyncio
import base64
import sys
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel


class Answer(BaseModel):
    """What the LLM has to answer."""

    next_goal: str
    action: list[dict[str, Any]]


@dataclass
class Message:
    role: str
    text: str


class History:
    """What is left of a run."""

    def __init__(self) -> None:
        self.history: list[dict[str, Any]] = []

    def is_successful(self) -> bool | None:
        done = self._done()
        return None if done is None else bool(done["success"])

    def final_result(self) -> str | None:
        done = self._done()
        return None if done is None else str(done["text"])

    def errors(self) -> list[str | None]:
        return [None for _ in self.history]

    def extracted_content(self) -> list[str]:
        return [str(action) for action in self.history if "extract" in action]

    def action_names(self) -> list[str]:
        return [next(iter(action)) for action in self.history]

    def _done(self) -> dict[str, Any] | None:
        return self.history[-1].get("done") if self.history else None


@dataclass
class Library:
    """The module `browser_use`, and what was done with it."""

    agents: list[dict[str, Any]] = field(default_factory=list)
    browsers: list[dict[str, Any]] = field(default_factory=list)
    n_killed: int = 0
    starts: bool = True
    hangs: bool = False


def install(monkeypatch: pytest.MonkeyPatch) -> Library:
    """Put the library where it is imported from."""
    library = Library()

    class Browser:
        def __init__(self, **settings: Any) -> None:
            library.browsers.append(settings)

        async def kill(self) -> None:
            library.n_killed += 1

    class Agent:
        def __init__(self, **settings: Any) -> None:
            library.agents.append(settings)

        async def run(self, max_steps: int) -> History:
            return await _run(library, library.agents[-1], max_steps)

    modules = {
        "browser_use": {"Agent": Agent, "Browser": Browser},
        "browser_use.browser.profile": {"ProxySettings": SimpleNamespace},
        "browser_use.llm.views": {
            "ChatInvokeUsage": SimpleNamespace,
            "ChatInvokeCompletion": SimpleNamespace,
        },
    }
    for name, content in modules.items():
        module = ModuleType(name)
        module.__dict__.update(content)
        monkeypatch.setitem(sys.modules, name, module)
    return library


async def _run(library: Library, settings: dict[str, Any], max_steps: int) -> History:
    history = History()
    if library.hangs:
        await asyncio.Event().wait()
    for number in range(1, max_steps + 1):
        if not library.starts or await settings["register_should_stop_callback"]():
            break
        asked = [Message("system", "Act."), Message("user", settings["task"])]
        try:
            answer = (await settings["llm"].ainvoke(asked, Answer)).completion
        except Exception:  # noqa: BLE001 - the library counts failures, and goes on
            continue
        _tell(settings, answer, number)
        history.history += answer.action
        if "done" in answer.action[-1]:
            break
    return history


def _tell(settings: dict[str, Any], answer: Answer, number: int) -> None:
    picture = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
    state = SimpleNamespace(url="https://shop.example", title="Shop", screenshot=picture)
    actions = [
        SimpleNamespace(model_dump=lambda action=action, **_options: action)
        for action in answer.action
    ]
    output = SimpleNamespace(action=actions, next_goal=answer.next_goal)
    settings["register_new_step_callback"](state, output, number)
