"""The `anthropic` provider: Claude by the Messages API."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from poor_bench.models.completion import ChatRequest, Completion
from poor_bench.models.llm import LLM
from poor_bench.ports import CallControl, Reachability
from poor_bench.providers.anthropic_wire import AnthropicWire
from poor_bench.providers.api_keys import key_variable
from poor_bench.providers.endpoint import resolve_endpoint
from poor_bench.providers.failures import Asked
from poor_bench.providers.http_chat import CHECKING, HttpChat, names_in, reachability
from poor_bench.providers.services import ProviderServices

if TYPE_CHECKING:
    from poor_bench.providers.anthropic_batches import AnthropicBatches


class AnthropicProvider:
    """One Claude model; see `poor_bench.ports.Provider`."""

    def __init__(self, llm: LLM, services: ProviderServices) -> None:
        """Connect to nothing yet.

        Raises:
            ConfigError: If the endpoint cannot be used.
        """
        url = resolve_endpoint(llm, services.environ)
        asked = Asked(
            server=urlsplit(url).netloc,
            model=llm.name,
            model_hint="names look like claude-sonnet-4-5",
            key_variable=key_variable(llm, services.environ),
        )
        self._llm = llm
        self._wire = AnthropicWire(llm.name)
        self._chat = HttpChat(llm, services, url, asked)

    def complete(self, request: ChatRequest, control: CallControl) -> Completion:
        """Ask the LLM; see `poor_bench.ports.Provider.complete`."""
        return self._chat.complete(self._wire, request, control)

    def open_batches(self) -> AnthropicBatches:
        """Open the batches of the LLM's account; see `poor_bench.ports.OffersBatches`."""
        from poor_bench.providers.anthropic_batches import AnthropicBatches

        return AnthropicBatches(self._chat, self._wire)

    def preload(self, control: CallControl) -> float | None:
        """Return None: hosted models are always loaded."""
        return None

    def unload(self) -> None:
        """Do nothing: hosted models are always loaded."""

    def check(self) -> Reachability:
        """Ask the server for its list of models."""
        return reachability(self._llm.name, self._list_served)

    def close(self) -> None:
        """Close the connections."""
        self._chat.close()

    def _list_served(self) -> list[str]:
        path = "/v1/models?limit=1000"
        return names_in(self._chat.get(self._wire, path, CHECKING), "data", "id")
