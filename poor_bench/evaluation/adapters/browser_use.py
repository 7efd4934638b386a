"""The agent of the library browser-use, as the profile `...adapters.browser_use:agent`.

It acts with the LLM of the case, whatever its provider, and through the same filtering proxy as our
own agent. Its telemetry and its cloud stay switched off. It sees no screenshots.

Source:
    https://github.com/browser-use/browser-use, version 0.13 (MIT licence).
"""

from __future__ import annotations

import asyncio
import base64
import importlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from poor_bench.errors import (
    AgentError,
    ConfigError,
    PoorBenchError,
    RunCancelledError,
)
from poor_bench.evaluation.agent import (
    AgentOutcome,
    AgentServices,
    AgentTask,
    Step,
    TrialControl,
)
from poor_bench.evaluation.browser.opening import find_chromium
from poor_bench.evaluation.browser.proxy import FilteringProxy
from poor_bench.extraction.json_value import extract_json
from poor_bench.extras import import_extra
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import Completion, Message
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM

_ROLES: dict[str, Literal["system", "user", "assistant"]] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
}


class ManagedChat:
    """Answers browser-use through our own manager of LLMs; one object for each trial.

    Attributes:
        failure: Why the LLM could not be asked; None while it could.
        input_tokens: All that was asked so far.
        output_tokens: All that was answered so far.
    """

    _verified_api_keys = True

    def __init__(self, llms: LLMManager, llm: LLM, cancelled: Callable[[], bool]) -> None:
        self.failure: PoorBenchError | None = None
        self.input_tokens = 0
        self.output_tokens = 0
        self.model = self.name = self.model_name = llm.name
        self.provider = llm.provider
        self._llms = llms
        self._llm = llm
        self._cancelled = cancelled

    async def ainvoke(
        self, messages: Sequence[Any], output_format: type[Any] | None = None, **_further: Any
    ) -> Any:
        """Ask the LLM, in the form of browser-use.

        Args:
            messages: Of browser-use; only their text is sent on.
            output_format: A pydantic model that the answer must be; None for any text.

        Raises:
            PoorBenchError: If the LLM cannot be asked; it is kept in `failure`.
            ValueError: If the answer is not of the wanted form.
        """
        sent = tuple(Message(_ROLES[message.role], message.text) for message in messages)
        try:
            completion = await asyncio.to_thread(self._ask, sent, output_format)
        except PoorBenchError as error:
            self.failure = error
            raise
        return _wrap(completion, _parse(completion.text, output_format))

    def _ask(self, messages: tuple[Message, ...], output_format: type[Any] | None) -> Completion:
        parameters = dict(self._llm.parameters)
        if output_format is not None:
            schema = output_format.model_json_schema()
            parameters["response_format"] = {
                "type": "json_schema",
                "schema": schema,
                "strict": False,
            }
        completion = self._llms.complete(self._llm, messages, self._cancelled, parameters)
        self.input_tokens += completion.usage.prompt_tokens or 0
        self.output_tokens += completion.usage.completion_tokens or 0
        return completion


def _parse(text: str, output_format: type[Any] | None) -> Any:
    if output_format is None:
        return text
    found = extract_json(text, lambda value: isinstance(value, dict))
    if found is None:
        raise ValueError("the model's answer does not contain a JSON object")
    return output_format.model_validate(found.value)


def _wrap(completion: Completion, value: Any) -> Any:
    views = importlib.import_module("browser_use.llm.views")
    n_input = completion.usage.prompt_tokens or 0
    n_output = completion.usage.completion_tokens or 0
    usage = views.ChatInvokeUsage(
        prompt_tokens=n_input,
        prompt_cached_tokens=completion.usage.cached_tokens,
        prompt_cache_creation_tokens=None,
        prompt_image_tokens=None,
        completion_tokens=n_output,
        total_tokens=n_input + n_output,
    )
    return views.ChatInvokeCompletion(completion=value, usage=usage)


_SWITCHED_OFF = {
    "ANONYMIZED_TELEMETRY": "false",
    "BROWSER_USE_CLOUD_SYNC": "false",
    "BROWSER_USE_SETUP_LOGGING": "false",
}
_FLAGS = ("--disable-quic", "--proxy-bypass-list=<-loopback>", "--disable-background-networking")
_SCHEMA = "\n\nThe text of `done` must be one JSON object that keeps this JSON Schema:\n"


def agent(services: AgentServices) -> BrowserUseAgent:
    """Make the agent; the library is imported here.

    Raises:
        MissingExtraError: If browser-use is not installed.
    """
    for name, value in _SWITCHED_OFF.items():
        os.environ.setdefault(name, value)
    library = import_extra("browser_use", "this profile needs", "browser-use>=0.13")
    return BrowserUseAgent(services, library)


class BrowserUseAgent:
    """Runs trials; each has a browser of its own with a fresh profile."""

    def __init__(self, services: AgentServices, library: Any) -> None:
        self._services = services
        self._library = library

    def run(self, task: AgentTask, control: TrialControl) -> AgentOutcome:
        """Carry out one task; a playbook is ignored.

        Raises:
            ConfigError: If the case has no LLM.
            ProviderError: If the LLM cannot be asked.
            AgentError: If the browser cannot be started.
            RunCancelledError: If the run was stopped.
        """
        if task.llm is None:
            raise ConfigError(f"case {task.case_id} needs an LLM, but none is available")
        chat = ManagedChat(self._services.llms, task.llm, control.cancelled)
        try:
            history = asyncio.run(self._act(task, control, chat))
        except TimeoutError:
            error = f"the time limit of {task.time_limit_s:g} s is over"
            return _read_outcome(AgentOutcome(success=False, error=error), chat)
        if control.cancelled():
            raise RunCancelledError("the run was stopped")
        if chat.failure is not None:
            raise chat.failure
        if not history.history:
            raise AgentError("browser-use did not start its browser", kind=FailureKind.AGENT)
        return _read_outcome(_build_outcome(history, task), chat)

    async def _act(self, task: AgentTask, control: TrialControl, chat: ManagedChat) -> Any:
        with (
            TemporaryDirectory(prefix="poor-bench-profile-") as profile,
            FilteringProxy(allow_private=task.allow_private_networks) as proxy,
        ):
            browser = self._open_browser(task, profile, proxy.address)
            acting = self._library.Agent(
                task=_write_task(task),
                llm=chat,
                browser=browser,
                sensitive_data=self._find_credentials(task) or None,
                initial_actions=_list_opening_actions(task),
                register_new_step_callback=_step_noter(task.folder, control),
                register_should_stop_callback=_make_stopper(control, chat),
                use_vision=False,
                use_judge=False,
                calculate_cost=False,
                enable_signal_handler=False,
                directly_open_url=False,
                file_system_path=str(task.folder),
            )
            try:
                run = acting.run(max_steps=task.max_steps)
                return await asyncio.wait_for(run, task.time_limit_s)
            finally:
                await browser.kill()

    def _open_browser(self, task: AgentTask, profile: str, proxy_address: str) -> Any:
        settings = importlib.import_module("browser_use.browser.profile")
        return self._library.Browser(
            headless=True,
            executable_path=find_chromium(self._services.environ),
            user_data_dir=profile,
            downloads_path=str(task.folder),
            chromium_sandbox=os.geteuid() != 0,
            enable_default_extensions=False,
            proxy=settings.ProxySettings(server=proxy_address),
            args=list(_FLAGS),
        )

    def _find_credentials(self, task: AgentTask) -> dict[str, dict[str, str]]:
        """Origin to names and values: browser-use types each only there."""
        found: dict[str, dict[str, str]] = {}
        for name, origin in task.credentials.items():
            found.setdefault(origin, {})[name] = self._services.environ[name]
        return found


def _write_task(task: AgentTask) -> str:
    if task.output_schema is None:
        return task.directive
    return f"{task.directive}{_SCHEMA}{json.dumps(task.output_schema)}"


def _list_opening_actions(task: AgentTask) -> list[dict[str, Any]] | None:
    return [{"navigate": {"url": task.start_url, "new_tab": False}}] if task.start_url else None


def _make_stopper(control: TrialControl, chat: ManagedChat) -> Callable[[], Any]:
    async def must_stop() -> bool:
        return control.cancelled() or chat.failure is not None

    return must_stop


def _step_noter(folder: Path, control: TrialControl) -> Callable[[Any, Any, int], None]:
    def note(state: Any, output: Any, number: int) -> None:
        actions = [action.model_dump(exclude_none=True, mode="json") for action in output.action]
        control.note_step(
            Step(
                number=number,
                part="agent",
                action={"actions": actions},
                text="; ".join(json.dumps(action, ensure_ascii=False) for action in actions),
                url=state.url,
                title=state.title,
                thought=output.next_goal or "",
                screenshot=_save_screenshot(state, folder, number),
            )
        )

    return note


def _save_screenshot(state: Any, folder: Path, number: int) -> str:
    """Write what the page looked like before a step; return the name of the file."""
    if not state.screenshot:
        return ""
    name = f"step-{number:03}.png"
    (folder / name).write_bytes(base64.b64decode(state.screenshot))
    return name


def _build_outcome(history: Any, task: AgentTask) -> AgentOutcome:
    success = bool(history.is_successful())
    summary = history.final_result() or ""
    errors = [error for error in history.errors() if error]
    found = extract_json(summary, lambda value: isinstance(value, dict))
    error = "" if success else errors[-1] if errors else f"not done after {task.max_steps} steps"
    return AgentOutcome(
        success=success,
        summary=summary,
        error=error,
        data=found.value if found and task.output_schema else {},
        extracted_text="\n".join(history.extracted_content()),
        actions=len([name for name in history.action_names() if name != "done"]),
    )


def _read_outcome(outcome: AgentOutcome, chat: ManagedChat) -> AgentOutcome:
    return replace(
        outcome, input_tokens=chat.input_tokens, output_tokens=chat.output_tokens, mode="agent"
    )
