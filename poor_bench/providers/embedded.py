"""LLMs that run inside this program: no server, no key, no network once their file is there."""

from __future__ import annotations

import threading
from contextlib import closing
from dataclasses import dataclass

from poor_bench.errors import ProviderError
from poor_bench.models.completion import ChatRequest, Completion
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM
from poor_bench.ports import CallControl, Reachability
from poor_bench.providers.embedded_check import check_embedded
from poor_bench.providers.embedded_engine import Engine, EngineSettings
from poor_bench.providers.embedded_model import obtain_model
from poor_bench.providers.embedded_pool import ENGINES, EnginePool
from poor_bench.providers.embedded_wire import context_tokens, raise_refusal, request_body
from poor_bench.providers.openai_reply import OpenAIReplyReader
from poor_bench.providers.services import ProviderServices
from poor_bench.providers.transport.watch import CallWatch


@dataclass(frozen=True, slots=True)
class _Held:
    """What a provider has in memory."""

    engine: Engine
    settings: EngineSettings
    digest: str
    """Of the model's file."""


class EmbeddedProvider:
    """One LLM in this process; see `poor_bench.ports.Provider`."""

    def __init__(self, llm: LLM, services: ProviderServices, engines: EnginePool = ENGINES) -> None:
        """Load nothing yet."""
        self._llm = llm
        self._services = services
        self._engines = engines
        self._held: _Held | None = None
        self._lock = threading.Lock()

    def complete(self, request: ChatRequest, control: CallControl) -> Completion:
        """Ask the LLM; see `poor_bench.ports.Provider.complete`."""
        held, load_ms = self._hold(control)
        body = request_body(self._llm, request)
        watch = CallWatch(control, self._services.clock)
        reader = OpenAIReplyReader(self._llm.name)
        parts = reader.parts
        with closing(held.engine.generate(body, watch.raise_if_over)) as pieces:
            for piece in pieces:
                raise_refusal(piece)
                if parts.queue_ms is None:
                    parts.queue_ms = watch.elapsed_ms()
                reader.feed(piece)
                if parts.has_begun:
                    watch.note_first_text()
        if not reader.close():
            raise ProviderError(
                "llama.cpp stopped in the middle of its reply", kind=FailureKind.SERVER_ERROR
            )
        parts.load_ms = load_ms or None
        parts.model_digest = held.digest
        return parts.to_completion(watch.elapsed_ms() + load_ms, watch.first_text_ms)

    def preload(self, control: CallControl) -> float | None:
        """Fetch the model's file if need be and load it; 0 where it was loaded before.

        Raises:
            ProviderError: If there is no such model, or it cannot be fetched or loaded.
            RunCancelledError: If `control.cancelled()` turned true.
        """
        return self._hold(control)[1]

    def unload(self) -> None:
        """Free the model's memory, unless another LLM is using it."""
        with self._lock:
            held, self._held = self._held, None
        if held is not None:
            self._engines.give_back(held.settings)

    def check(self) -> Reachability:
        """Find out whether llama.cpp and the model's file are there; loads and fetches nothing."""
        return check_embedded(self._llm, self._services)

    def close(self) -> None:
        """Free the model's memory, unless another LLM is using it."""
        self.unload()

    def _hold(self, control: CallControl) -> tuple[_Held, float]:
        """Return the loaded model, and how long loading took just now in milliseconds."""
        with self._lock:
            if self._held is not None:
                return self._held, 0.0
            model = obtain_model(self._llm, self._services, control)
            settings = EngineSettings(
                path=model.path,
                context_tokens=context_tokens(self._llm),
                slots=self._llm.concurrency or 1,
            )
            control.loading()
            engine, load_ms = self._engines.take(settings)
            self._held = _Held(engine, settings, model.digest)
            return self._held, load_ms
