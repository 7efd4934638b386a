from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from poor_bench.errors import ConfigError, ProviderError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import ChatRequest, Completion, Message, Timing
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM
from poor_bench.ports import CallControl, Reachability
from tests.providers.fake_clock import FakeClock
from tests.providers.idle_provider import IdleProvider

MESSAGES = (Message("user", "hello"),)
ANSWER = Completion(text="4", timing=Timing(total_ms=1))
HOSTED = "https://llm.example/v1"


class FakeProvider(IdleProvider):
    """Plays a list of outcomes, for loading and for asking alike."""

    def __init__(self, outcomes: Sequence[Any]) -> None:
        self.outcomes = list(outcomes)
        self.is_closed = False

    def complete(self, request: ChatRequest, control: CallControl) -> Completion:
        self._play()
        return ANSWER

    def preload(self, control: CallControl) -> float | None:
        self._play()
        return 12.0

    def check(self) -> Reachability:
        self._play()
        return Reachability(reachable=True)

    def close(self) -> None:
        self.is_closed = True

    def _play(self) -> None:
        outcome = self.outcomes.pop(0) if self.outcomes else None
        if outcome is not None:
            raise outcome


def llm(name: str = "a", **fields: Any) -> LLM:
    return LLM(id=f"openai:{name}", provider="openai", name=name, endpoint=HOSTED, **fields)


def manager_of(provider: FakeProvider, clock: FakeClock | None = None) -> LLMManager:
    return LLMManager(
        Path(), clock=clock or FakeClock(), environ={}, create=lambda _llm, _services: provider
    )


def busy() -> ProviderError:
    return ProviderError("busy", kind=FailureKind.SERVER_ERROR)


def refused() -> ProviderError:
    return ProviderError("refused", kind=FailureKind.CONNECTION)


def test_busy_server_is_asked_again_also_while_loading() -> None:
    clock = FakeClock()
    manager = manager_of(FakeProvider([busy(), busy()]), clock)
    assert manager.preload(llm()) == 12.0
    assert clock.seconds > 0
    assert manager.complete(llm(), MESSAGES) is ANSWER


def test_server_that_refuses_to_load_is_told_and_asked_all_the_same() -> None:
    refusal = ProviderError("no messages", kind=FailureKind.BAD_REQUEST, status=400)
    manager, told = manager_of(FakeProvider([refusal])), list[ProviderError]()
    assert manager.preload(llm(), refused=told.append) is None
    assert told == [refusal]
    assert manager.complete(llm(), MESSAGES) is ANSWER


@pytest.mark.parametrize("kind", [FailureKind.AUTH, FailureKind.MODEL_NOT_FOUND])
def test_llm_that_cannot_be_asked_at_all_is_not_loaded_in_silence(kind: FailureKind) -> None:
    manager = manager_of(FakeProvider([ProviderError("never", kind=kind)]))
    with pytest.raises(ProviderError, match="never"):
        manager.preload(llm())


def test_endpoint_that_is_found_dead_while_loading_is_dead_for_all_its_llms() -> None:
    manager = manager_of(FakeProvider([refused()] * 4))
    with pytest.raises(ProviderError, match="refused"):
        manager.preload(llm("a"))
    dead = manager.endpoint_failure(llm("b"))
    assert dead is not None
    with pytest.raises(ProviderError, match="refused"):
        manager.complete(llm("b"), MESSAGES)


def test_closed_manager_opens_everything_anew() -> None:
    provider = FakeProvider([refused()] * 4)
    manager = manager_of(provider)
    with pytest.raises(ProviderError):
        manager.complete(llm(), MESSAGES)
    manager.close()
    assert provider.is_closed
    assert manager.endpoint_failure(llm()) is None
    assert manager.complete(llm(), MESSAGES) is ANSWER


def test_llms_of_one_endpoint_share_its_strictest_limit() -> None:
    manager = manager_of(FakeProvider([]))
    assert manager.concurrency(llm("a")) == 4
    assert manager.concurrency(llm("b", concurrency=2)) == 2
    assert manager.concurrency(llm("a")) == 2


def test_check_never_raises() -> None:
    assert manager_of(FakeProvider([refused()])).check(llm()).message == "refused"

    def unusable(_llm: LLM, _services: Any) -> FakeProvider:
        raise ConfigError("no such script")

    check = LLMManager(Path(), clock=FakeClock(), environ={}, create=unusable).check(llm())
    assert (check.reachable, check.message) == (False, "no such script")


def test_an_llm_asked_with_other_settings_in_turn_is_opened_once_for_each() -> None:
    opened: list[FakeProvider] = []

    def create(_llm: LLM, _services: Any) -> FakeProvider:
        opened.append(FakeProvider([]))
        return opened[-1]

    manager = LLMManager(clock=FakeClock(), environ={}, create=create)
    for temperature in (0.0, 0.3, 0.0, 0.3):
        manager.complete(llm(parameters={"temperature": temperature}), MESSAGES)
    assert len(opened) == 2
    manager.close()
    assert all(provider.is_closed for provider in opened)
