from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.errors import ProviderError
from poor_bench.models.failure import FailureKind
from poor_bench.providers.embedded_engine import EnginePool, EngineSettings

SETTINGS = EngineSettings(path=Path("tiny.gguf"), context_tokens=10, slots=1)


class Loaded:
    """Stands in for a model in memory."""

    load_ms = 5.0

    def __init__(self, settings: EngineSettings) -> None:
        self.settings = settings
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True


def test_holders_share_one_engine() -> None:
    pool = EnginePool(Loaded)

    first, load_ms = pool.take(SETTINGS)
    second, again_ms = pool.take(SETTINGS)

    assert first is second
    assert (load_ms, again_ms) == (5.0, 0.0)


def test_engine_is_freed_by_its_last_holder() -> None:
    pool = EnginePool(Loaded)
    first, _ = pool.take(SETTINGS)
    pool.take(SETTINGS)

    pool.give_back(SETTINGS)
    assert not first.is_closed

    pool.give_back(SETTINGS)
    assert first.is_closed


def test_freed_engine_is_loaded_anew() -> None:
    pool = EnginePool(Loaded)
    first, _ = pool.take(SETTINGS)
    pool.give_back(SETTINGS)

    second, load_ms = pool.take(SETTINGS)

    assert second is not first
    assert load_ms == 5.0


def test_other_settings_get_another_engine() -> None:
    pool = EnginePool(Loaded)
    other = EngineSettings(path=SETTINGS.path, context_tokens=20, slots=1)

    assert pool.take(SETTINGS)[0] is not pool.take(other)[0]


def test_failed_load_is_not_remembered() -> None:
    fails = iter([True, False])

    def load(settings: EngineSettings) -> Loaded:
        if next(fails):
            raise ProviderError("no memory", kind=FailureKind.MODEL_NOT_FOUND)
        return Loaded(settings)

    pool = EnginePool(load)
    with pytest.raises(ProviderError):
        pool.take(SETTINGS)

    assert pool.take(SETTINGS)[1] == 5.0
