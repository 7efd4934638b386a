"""Providers that speak OpenAI's chat completions: OpenAI itself and every compatible server."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from poor_bench.models.completion import ChatRequest, Completion
from poor_bench.models.llm import LLM
from poor_bench.ports import CallControl, Reachability
from poor_bench.providers.api_keys import key_variable
from poor_bench.providers.endpoint import resolve_endpoint
from poor_bench.providers.failures import Asked
from poor_bench.providers.http_chat import CHECKING, HttpChat, names_in, reachability
from poor_bench.providers.openai_wire import OpenAIWire, find_dialect
from poor_bench.providers.services import ProviderServices

if TYPE_CHECKING:
    from poor_bench.providers.openai_batches import OpenAIBatches


class OpenAIProvider:
    """One LLM behind an OpenAI-compatible server; see `poor_bench.ports.Provider`."""

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
        server = urlsplit(url).netloc
        asked = Asked(
            server=server,
            model=llm.name,
            start_hint=f"check that a server is running at {url}?",
            model_hint="check the exact name in the server's list of models",
            key_variable=key_variable(llm, services.environ),
        )
        self._llm = llm
        self._dialect = find_dialect(llm.provider)
        self._wire = OpenAIWire(llm.name, self._dialect)
        self._chat = HttpChat(llm, services, url, asked)

    def complete(self, request: ChatRequest, control: CallControl) -> Completion:
        """Ask the LLM; see `poor_bench.ports.Provider.complete`."""
        return self._chat.complete(self._wire, request, control)

    def open_batches(self) -> OpenAIBatches:
        """Open the batches of the LLM's account; see `poor_bench.ports.OffersBatches`."""
        from poor_bench.providers.openai_batches import OpenAIBatches

        return OpenAIBatches(self._chat, self._wire)

    def preload(self, control: CallControl) -> float | None:
        """Return None: such servers have no step for it."""
        return None

    def unload(self) -> None:
        """Do nothing: such servers have no step for it."""

    def check(self) -> Reachability:
        """Ask the server for its list of models."""
        found = reachability(self._llm.name, self.list_served)
        if found.model_present is False and self._dialect.takes_any_model_name:
            return replace(found, model_present=None, message="")
        return found

    def list_served(self) -> list[str]:
        """Return the names of the models that the server lists.

        Raises:
            ProviderError: If the server cannot be asked or has no such list.
        """
        return names_in(self._chat.get(self._wire, "/models", CHECKING), "data", "id")

    def close(self) -> None:
        """Close the connections."""
        self._chat.close()
