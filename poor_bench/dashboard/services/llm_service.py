"""What the page of LLMs asks: who can be reached, what a local server has, one prompt."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from poor_bench.config.names import find_llm, llm_named, make_unknown_llm_error
from poor_bench.dashboard.services.computations import Computations, Computed, Requests
from poor_bench.dashboard.services.running import WAIT, name_other_run
from poor_bench.dashboard.services.stored_results import StoredResults
from poor_bench.dashboard.services.workspace_watch import WorkspaceWatch
from poor_bench.errors import RunRefusedError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import Completion, Message
from poor_bench.models.llm import LLM
from poor_bench.pool.pool import check_llms
from poor_bench.ports import Reachability
from poor_bench.probe.report import ProbeReport, list_notes

Checks = Mapping[str, Reachability]
FoundLLMs = tuple[dict[str, Any], ...]


class LLMService:
    """Asks endpoints in the background; shared by all browsers."""

    def __init__(
        self,
        files: WorkspaceWatch,
        results: StoredResults,
        is_running: Callable[[], bool],
        requests: Requests,
    ) -> None:
        """Ask nothing yet.

        Args:
            files: The workspace.
            results: Its results.
            is_running: True while a run goes on, whose times a prompt would spoil.
            requests: What the checks of endpoints give way to.
        """
        self._files = files
        self._results = results
        self._is_running = is_running
        self._checks: Computations[Checks] = Computations(patience_s=0.2, requests=requests)
        self._found: Computations[FoundLLMs] = Computations(patience_s=0.2)

    def get(self, llm_id: str) -> LLM | None:
        """Find a configured LLM; None if only its results are left.

        Raises:
            ConfigError: If the workspace is not valid.
        """
        return self._files.workspace().llms_by_id.get(llm_id)

    def name(self, llm_id: str) -> str:
        """Name an LLM for screens: its label, or its id."""
        llm = self._files.get_known_workspace().llms_by_id.get(llm_id)
        return llm.label or llm.id if llm is not None else llm_id

    def labels(self) -> dict[str, str]:
        """List the names of LLMs that have one besides their id, by LLM id."""
        llms = self._files.get_known_workspace().llms
        return {llm.id: llm.label for llm in llms if llm.label}

    def id_named(self, name: str) -> str:
        """Find the id of the LLM that a name means, also of one that only has results.

        Args:
            name: See `poor_bench.config.names`.

        Raises:
            ConfigError: If the workspace is not valid, or the name means no LLM, or several.
            StoreError: If the results cannot be read.
        """
        llms = self._files.workspace().llms
        llm = find_llm(name, llms)
        if llm is not None:
            return llm.id
        stored = self._results.table().llm_ids
        if name in stored:
            return name
        raise make_unknown_llm_error(name, llms, stored)

    def settings_notes(self) -> dict[str, Sequence[str]]:
        """List what probes found of settings, such as `seed ignored`, by LLM id.

        Raises:
            ConfigError: If the workspace is not valid.
            StoreError: If the results cannot be read.
        """
        return list_notes(self.probes())

    def probes(self) -> dict[str, ProbeReport]:
        """Load the probes of settings that still hold, by LLM id.

        Raises:
            ConfigError: If the workspace is not valid.
            StoreError: If the results cannot be read.
        """
        return self._files.config().load_current_probes()

    def n_results(self, llm_id: str) -> int:
        """Count the stored results of an LLM.

        Raises:
            ConfigError: If the workspace is not valid.
            StoreError: If the results cannot be read.
        """
        return len(self._results.read_stored().find_rows(llm_id))

    def checks(self, look: Hashable) -> Computed[Checks]:
        """Check which LLMs can be asked, as far as that is known by now.

        Args:
            look: Another value asks the endpoints again.
        """
        workspace = self._files.workspace()
        version = (workspace.version, look)
        return self._checks.ask("checks", version, lambda: self._check(workspace.llms))

    def discover(self, endpoint: str, look: Hashable) -> Computed[FoundLLMs]:
        """Find the models of an Ollama server that are not listed yet, as entries.

        Args:
            endpoint: Base URL; the default server where empty.
            look: Another value asks the server again.

        Raises:
            ConfigError: If the endpoint is not a URL.
            ProviderError: If the server cannot be asked.
        """
        llms = self._files.workspace().llms
        known = {(llm.provider, llm.name) for llm in llms}
        answer = self._found.ask(endpoint, look, lambda: self._discover(endpoint))
        new = (entry for entry in answer.value or () if ("ollama", entry["name"]) not in known)
        return Computed(
            value=None if answer.value is None else tuple(new), is_current=answer.is_current
        )

    def ask(self, llm_id: str, prompt: str) -> Completion:
        """Show the answer of an LLM to one prompt; nothing is stored.

        Raises:
            ConfigError: If the LLM does not exist, or its settings cannot be used.
            ProviderError: If no answer comes.
            RunRefusedError: If a run is in progress, whose times it would spoil.
        """
        if self._is_running():
            raise RunRefusedError(name_other_run(), hint=WAIT)
        llm = llm_named(llm_id, self._files.workspace().llms)
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
            return check_llms(manager, llms)
        finally:
            manager.close()

    def _discover(self, endpoint: str) -> FoundLLMs:
        manager = self._manager()
        try:
            return tuple(manager.discover(endpoint))
        finally:
            manager.close()

    def _manager(self) -> LLMManager:
        return LLMManager(self._files.config().data_dir)
