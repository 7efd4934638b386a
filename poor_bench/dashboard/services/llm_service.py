"""What the page of LLMs asks: who can be reached, what a local server has, one prompt."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from poor_bench.config.llm_names import llm_named
from poor_bench.dashboard.services.background import Answer, Background
from poor_bench.errors import RunRefusedError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import Completion, Message
from poor_bench.ports import Reachability

if TYPE_CHECKING:
    from poor_bench.dashboard.services.services import Services
    from poor_bench.models.llm import LLM

_AT_ONCE = 8
Checks = Mapping[str, Reachability]
Found = tuple[dict[str, Any], ...]


class LLMService:
    """Asks endpoints in the background; shared by all browsers."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._checks: Background[Checks] = Background(patience_s=0.2)
        self._found: Background[Found] = Background(patience_s=0.2)

    def checks(self, look: Hashable) -> Answer[Checks]:
        """Return LLM id to whether it can be asked, as far as that is known by now.

        Args:
            look: Another value asks the endpoints again.
        """
        workspace = self._services.workspace()
        version = (id(workspace), look)
        return self._checks.ask("checks", version, lambda: self._check(workspace.llms))

    def discovered(self, endpoint: str, look: Hashable) -> Answer[Found]:
        """Return the models of an Ollama server that are not listed yet, as entries.

        Args:
            endpoint: Base URL; the default server where empty.
            look: Another value asks the server again.

        Raises:
            ConfigError: If the endpoint is not a URL.
            ProviderError: If the server cannot be asked.
        """
        llms = self._services.workspace().llms
        known = {(llm.provider, llm.name) for llm in llms}
        answer = self._found.ask(endpoint, look, lambda: self._discover(endpoint))
        new = (entry for entry in answer.value or () if ("ollama", entry["name"]) not in known)
        return Answer(
            value=None if answer.value is None else tuple(new), is_current=answer.is_current
        )

    def ask(self, llm_id: str, prompt: str) -> Completion:
        """Return what an LLM answers to one prompt; nothing is stored.

        Raises:
            ConfigError: If there is no such LLM, or its settings cannot be used.
            ProviderError: If there is no answer to be had.
            RunRefusedError: If a run is in progress, whose times it would spoil.
        """
        if self._services.runs.state().is_active:
            raise RunRefusedError("a run is in progress", hint="Wait until it ends, or cancel it.")
        llm = llm_named(llm_id, self._services.workspace().llms)
        system = [Message("system", llm.base_system_prompt)] if llm.base_system_prompt else []
        manager = self._manager()
        try:
            manager.preload(llm)
            return manager.complete(llm, (*system, Message("user", prompt)))
        finally:
            manager.close()

    def _check(self, llms: tuple[LLM, ...]) -> Checks:
        manager = self._manager()
        try:
            with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
                found = pool.map(manager.check, llms)
                return dict(zip([llm.id for llm in llms], found, strict=True))
        finally:
            manager.close()

    def _discover(self, endpoint: str) -> Found:
        manager = self._manager()
        try:
            return tuple(manager.discover(endpoint))
        finally:
            manager.close()

    def _manager(self) -> LLMManager:
        return LLMManager(self._services.config().data_dir)
