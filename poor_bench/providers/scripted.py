"""The `scripted` provider: replays given completions and failures, for demos and tests.

The script's form is described in `scripted_script`. In llms.json:

    {"provider": "scripted", "name": "demo", "parameters": {"script": "scripts/demo.yaml"}}
    {"provider": "scripted", "name": "four", "parameters": {"responses": "4", "latency_ms": 20}}
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from poor_bench.errors import ConfigError, ProviderError, RunCancelledError
from poor_bench.models.completion import ChatRequest, Completion, Timing
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM
from poor_bench.ports import CallControl, Reachability
from poor_bench.providers.scripted_script import (
    ANY_PROMPT,
    SCRIPT_KEYS,
    Script,
    ScriptedReply,
    parse_script,
    reply_in_turn,
)
from poor_bench.providers.services import ProviderServices
from poor_bench.safe_files import load_yaml_text, open_regular, path_within


class ScriptedProvider:
    """Plays the script of one LLM; the same calls in the same order get the same replies."""

    def __init__(self, llm: LLM, services: ProviderServices) -> None:
        self._llm = llm
        self._clock = services.clock
        self._script = load_script(llm, services.workspace)
        self._turns: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def complete(self, request: ChatRequest, control: CallControl) -> Completion:
        """Return or raise what the script holds for the last user message."""
        started = self._clock.monotonic()
        reply = self._next_reply(_prompt_of(request))
        latency_ms = self._script.latency_ms if reply.latency_ms is None else reply.latency_ms
        self._wait(latency_ms / 1000, control)
        if reply.failure is not None:
            raise ProviderError(
                reply.message or f"scripted failure: {reply.failure.value}",
                kind=reply.failure,
                status=reply.status,
                retry_after_s=reply.retry_after_s,
            )
        return Completion(
            text=reply.text,
            thinking=reply.thinking,
            finish_reason=reply.finish_reason,
            usage=reply.usage,
            timing=Timing(total_ms=(self._clock.monotonic() - started) * 1000),
            prompt_truncated=reply.prompt_truncated,
        )

    def preload(self, control: CallControl) -> float | None:
        """Take as long as the script says; return that in milliseconds."""
        if self._script.load_ms:
            control.loading()
        self._wait(self._script.load_ms / 1000, control)
        return self._script.load_ms

    def unload(self) -> None:
        """Nothing is in memory."""

    def check(self) -> Reachability:
        """A script can always be asked."""
        return Reachability(reachable=True, model_present=True, models=(self._llm.name,))

    def close(self) -> None:
        """Nothing is open."""

    def _next_reply(self, prompt: str) -> ScriptedReply:
        with self._lock:
            early = reply_in_turn(self._script.failures or (), self._turn("failures", ""))
        if early is not None:
            return early
        rule = self._script.rule_for(prompt)
        if rule is None:
            raise ProviderError(
                f"the script of {self._llm.id} has no response for this prompt",
                kind=FailureKind.BAD_REQUEST,
                hint="add a response that fits it, or `default`",
            )
        pattern, replies = rule
        with self._lock:
            turn = self._turn("responses", "" if pattern == ANY_PROMPT else prompt)
        return reply_in_turn(replies, turn) or replies[-1]

    def _turn(self, list_name: str, prompt: str) -> int:
        key = list_name, prompt
        self._turns[key] += 1
        return self._turns[key] - 1

    def _wait(self, seconds: float, control: CallControl) -> None:
        allowed = control.timeouts.total_s
        self._clock.wait(min(seconds, allowed), control.cancelled)
        if control.cancelled():
            raise RunCancelledError("the run was stopped")
        if seconds > allowed:
            raise ProviderError(
                f"{self._llm.id}: no reply within {allowed:g} s", kind=FailureKind.TIMEOUT
            )


def load_script(llm: LLM, workspace: Path) -> Script:
    """Return the script of an LLM, from its parameters and the file they name.

    Raises:
        ConfigError: If there is no script, or it cannot be read.
    """
    parameters = llm.parameters
    raw: dict[str, Any] = {}
    where = llm.id
    if "script" in parameters:
        written = str(parameters["script"])
        where = f"{llm.id}: script {workspace / written}"
        raw.update(_read(workspace, written, where))
    raw.update({key: parameters[key] for key in SCRIPT_KEYS if key in parameters})
    if not raw:
        raise ConfigError(
            f"{llm.id}: a scripted LLM needs the parameter 'responses' or 'script'",
            hint='such as {"responses": ["first", "second"]}',
        )
    return parse_script(raw, where)


def _read(workspace: Path, written: str, where: str) -> Mapping[str, Any]:
    import yaml

    try:
        with open_regular(path_within(workspace, written)) as stream:
            content = load_yaml_text(stream.read().decode("utf-8"))
    except OSError as error:
        raise ConfigError(f"{where}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{where}: not a JSON or YAML file: {error}") from error
    if not isinstance(content, Mapping):
        raise ConfigError(f"{where}: expected a mapping such as {{responses: ...}}")
    return content


def _prompt_of(request: ChatRequest) -> str:
    users = [message.content for message in request.messages if message.role == "user"]
    return users[-1] if users else ""
