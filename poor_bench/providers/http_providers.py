"""Providers over HTTP with no step to load a model: OpenAI, compatible servers, Anthropic."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poor_bench.models.completion import ChatRequest, Completion
from poor_bench.models.llm import LLM
from poor_bench.ports import BatchApi, CallControl, Reachability
from poor_bench.providers.anthropic_wire import AnthropicWire
from poor_bench.providers.catalog import ProviderServices
from poor_bench.providers.endpoint import resolve_endpoint
from poor_bench.providers.http_chat import CHECKING, HttpChat, describe_reachability, read_names
from poor_bench.providers.openai_wire import OpenAIWire, find_dialect

if TYPE_CHECKING:
    from poor_bench.providers.chat_wire import ChatWire


class _HttpProvider:
    """One LLM behind one server; see `poor_bench.ports.Provider`."""

    _models_path = "/models"

    def __init__(self, llm: LLM, wire: ChatWire, chat: HttpChat) -> None:
        self._llm = llm
        self._wire = wire
        self._chat = chat

    def complete(self, request: ChatRequest, control: CallControl) -> Completion:
        """Ask the LLM; see `poor_bench.ports.Provider.complete`."""
        return self._chat.complete(self._wire, request, control)

    def preload(self, control: CallControl) -> float | None:
        """Give None: such servers have no step for it."""
        return None

    def unload(self) -> None:
        """Do nothing: such servers have no step for it."""

    def check(self) -> Reachability:
        """Ask the server for its list of models."""
        return describe_reachability(self._llm.name, self.list_served)

    def list_served(self) -> list[str]:
        """List the names of the models that the server has.

        Raises:
            ProviderError: If the server cannot be asked or has no such list.
        """
        return read_names(self._chat.get(self._wire, self._models_path, CHECKING), "data", "id")

    def close(self) -> None:
        """Close the connections."""
        self._chat.close()


class OpenAIProvider(_HttpProvider):
    """One LLM behind a server that speaks OpenAI's chat completions."""

    def __init__(self, llm: LLM, services: ProviderServices, endpoint: str | None = None) -> None:
        """Connect to nothing yet.

        Args:
            llm: What to ask.
            services: Clock and environment.
            endpoint: Base URL, where it is not the one that `llm` stands for.

        Raises:
            ConfigError: If the endpoint cannot be used.
        """
        url = endpoint or resolve_endpoint(llm, services.environ)
        chat = HttpChat(
            llm,
            services,
            url,
            start_hint=f"check that a server is running at {url}?",
            model_hint="check the exact name in the server's list of models",
        )
        self._dialect = find_dialect(llm.provider)
        super().__init__(llm, OpenAIWire(llm.name, self._dialect), chat)

    def open_batches(self) -> BatchApi:
        """Open the batches of the LLM's account; see `poor_bench.ports.OffersBatches`."""
        from poor_bench.providers.batches import OpenAIBatches

        return OpenAIBatches(self._chat, self._wire)

    def check(self) -> Reachability:
        """Ask the server for its list of models."""
        found = super().check()
        if found.model_present is False and self._dialect.takes_any_model_name:
            return replace(found, model_present=None, message="")
        return found


class AnthropicProvider(_HttpProvider):
    """One Claude model by the Messages API."""

    _models_path = "/v1/models?limit=1000"

    def __init__(self, llm: LLM, services: ProviderServices) -> None:
        """Connect to nothing yet.

        Raises:
            ConfigError: If the endpoint cannot be used.
        """
        url = resolve_endpoint(llm, services.environ)
        chat = HttpChat(llm, services, url, model_hint="names look like claude-sonnet-4-5")
        super().__init__(llm, AnthropicWire(llm.name), chat)

    def open_batches(self) -> BatchApi:
        """Open the batches of the LLM's account; see `poor_bench.ports.OffersBatches`."""
        from poor_bench.providers.batches import AnthropicBatches

        return AnthropicBatches(self._chat, self._wire)
