"""Which models are in memory: one engine for all LLMs that differ only in their parameters."""

from __future__ import annotations

import atexit
import threading
from collections import Counter
from collections.abc import Callable

from poor_bench.providers.embedded_engine import Engine, EngineSettings


class EnginePool:
    """Loads an engine for its first holder and frees it after its last, or when Python ends."""

    def __init__(self, load: Callable[[EngineSettings], Engine] = Engine) -> None:
        self._load = load
        self._engines: dict[EngineSettings, Engine] = {}
        self._n_holders: Counter[EngineSettings] = Counter()
        self._lock = threading.Lock()

    def take(self, settings: EngineSettings) -> tuple[Engine, float]:
        """Return an engine, and in how many milliseconds it was loaded: 0 if it was there.

        Raises:
            ProviderError: If it cannot be loaded.
        """
        with self._lock:
            engine = self._engines.get(settings)
            load_ms = 0.0
            if engine is None:
                engine = self._engines[settings] = self._load(settings)
                load_ms = engine.load_ms
                atexit.register(engine.close)
            self._n_holders[settings] += 1
            return engine, load_ms

    def give_back(self, settings: EngineSettings) -> None:
        """Tell that one holder no longer needs its engine."""
        with self._lock:
            self._n_holders[settings] -= 1
            if self._n_holders[settings]:
                return
            engine = self._engines.pop(settings)
            engine.close()
            atexit.unregister(engine.close)


ENGINES = EnginePool()
"""Of this process: memory is shared, whoever asks."""
