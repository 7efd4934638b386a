"""The specification's face of running tests: providers of one method, rows as dicts.

`WorkspaceRunner` is the typed interface; nothing in the package imports this module.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from poor_bench.config_manager import ConfigManager, build_row, config_errors_as_value_errors
from poor_bench.errors import PoorBenchError, ProviderError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import ChatRequest, Completion, Message, Timing
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM, build_base_llm_id
from poor_bench.ports import CallControl, Provider, Reachability
from poor_bench.workspace_folder import WorkspaceFolder
from poor_bench.workspace_runner import WorkspaceRunner


class LLMProvider(ABC):
    """Base of providers: a subclass answers prompts and needs nothing else."""

    @abstractmethod
    def generate_response(self, prompt: str, system_prompt: str, parameters: dict[str, Any]) -> str:
        """Answer a prompt.

        Args:
            prompt: The user message.
            system_prompt: The system message; may be empty.
            parameters: `model`, the name of the model, and the parameters of llms.json.
        """


class _CatalogProvider(LLMProvider):
    """A provider that the package knows by name."""

    name: ClassVar[str]

    def __init__(self, endpoint: str | None = None, api_key_env: str | None = None) -> None:
        """Connect to nothing yet.

        Args:
            endpoint: Base URL; the provider's default if None.
            api_key_env: Environment variable of the key; the provider's default if None.
        """
        self.endpoint = endpoint
        self.api_key_env = api_key_env

    def generate_response(self, prompt: str, system_prompt: str, parameters: dict[str, Any]) -> str:
        """Send a prompt to the model `parameters["model"]`; failed requests are repeated.

        Raises:
            ValueError: If `parameters` does not name a model.
            ConfigError: If the endpoint is not a URL.
            ProviderError: If the model does not answer.
        """
        llm = self._llm(dict(parameters))
        system = (Message("system", system_prompt),) if system_prompt else ()
        manager = LLMManager()
        try:
            return manager.complete(llm, (*system, Message("user", prompt))).text
        finally:
            manager.close()

    def _llm(self, parameters: dict[str, Any]) -> LLM:
        model = parameters.pop("model", None)
        if not model:
            raise ValueError('parameters must name a model, such as {"model": "gemma3:1b"}')
        return LLM(
            id=build_base_llm_id(self.name, model),
            provider=self.name,
            name=model,
            endpoint=self.endpoint,
            api_key_env=self.api_key_env,
            parameters=parameters,
        )


class OllamaProvider(_CatalogProvider):
    """Models of an Ollama server, by default at `$OLLAMA_HOST` or port 11434 of this machine."""

    name = "ollama"


class OpenAIProvider(_CatalogProvider):
    """Models of OpenAI, or of a compatible server at `endpoint`."""

    name = "openai"


class AnthropicProvider(_CatalogProvider):
    """Models of Anthropic."""

    name = "anthropic"


class OpenRouterProvider(_CatalogProvider):
    """Models behind OpenRouter."""

    name = "openrouter"


class LLM7Provider(_CatalogProvider):
    """Models behind LLM7."""

    name = "llm7"


class TestRunner:
    """Runs single tests of one workspace.

    Attributes:
        llm_providers: Providers by the name that llms.json gives. Add your own, or replace one.
    """

    __test__ = False  # pytest collects classes of this name

    def __init__(self, config: ConfigManager | None = None) -> None:
        """Open nothing yet.

        Args:
            config: The workspace; the default one if None.
        """
        self.config = config or ConfigManager()
        self.llm_providers: dict[str, LLMProvider] = {
            kind.name: kind()
            for kind in (
                OllamaProvider,
                OpenAIProvider,
                AnthropicProvider,
                OpenRouterProvider,
                LLM7Provider,
            )
        }
        self._included = dict(self.llm_providers)
        self._own: dict[str, Callable[[LLM], Provider]] = {}
        self._manager = LLMManager(self.config.base_path, own_providers=self._own)

    def run_test(self, test_id: str, llm_id: str) -> dict[str, Any]:
        """Run one test on one LLM, whatever is stored, and store its row.

        Returns:
            The row. A trial that failed to run has the score None and says why in `details`.

        Raises:
            ValueError: If the test, the LLM or its provider is unknown. Also if a file of the
                workspace is not valid.
            StoreError: If the row cannot be stored.
        """
        self._note_own_providers()
        folder = WorkspaceFolder(self.config.base_path, is_own_provider=self._own.__contains__)
        with config_errors_as_value_errors():
            return build_row(WorkspaceRunner(folder, self._manager).run_test(test_id, llm_id))

    def close(self) -> None:
        """Free the models and connections."""
        self._manager.close()

    def _note_own_providers(self) -> None:
        """Hand the manager the providers that were added or replaced."""
        own = {
            name: self._make_own
            for name, provider in self.llm_providers.items()
            if provider is not self._included.get(name)
        }
        if own.keys() != self._own.keys():
            self._manager.close()
            self._own.clear()
            self._own.update(own)

    def _make_own(self, llm: LLM) -> _OwnProvider:
        return _OwnProvider(self.llm_providers, llm)


class _OwnProvider:
    """The user's provider of one LLM; see `poor_bench.ports.Provider`."""

    def __init__(self, providers: Mapping[str, LLMProvider], llm: LLM) -> None:
        self._providers = providers
        self._llm = llm

    def complete(self, request: ChatRequest, control: CallControl) -> Completion:
        """Ask the provider; a crash in it is a failure of this request."""
        started = time.perf_counter()
        by_role = {message.role: message.content for message in request.messages}
        parameters = {"model": self._llm.name, **request.parameters}
        provider = self._providers[self._llm.provider]
        try:
            text = provider.generate_response(
                by_role["user"], by_role.get("system", ""), parameters
            )
        except PoorBenchError:
            raise
        except Exception as error:
            raise self._report_failure(f"raised {type(error).__name__}: {error}") from error
        if not isinstance(text, str):
            raise self._report_failure(f"must return a text, not {type(text).__name__}")
        return Completion(text=text, timing=Timing(total_ms=(time.perf_counter() - started) * 1000))

    def _report_failure(self, what: str) -> ProviderError:
        message = f"the provider {self._llm.provider!r} {what}"
        return ProviderError(message, kind=FailureKind.BAD_REQUEST)

    def preload(self, control: CallControl) -> float | None:
        """Do nothing: own providers have no such step."""
        return None

    def unload(self) -> None:
        """Do nothing: own providers have no such step."""

    def check(self) -> Reachability:
        """Report the provider as reachable."""
        return Reachability(reachable=True)

    def close(self) -> None:
        """Do nothing: the provider belongs to the user."""
