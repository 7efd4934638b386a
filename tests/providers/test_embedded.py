from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from poor_bench.calls.caller import SystemClock
from poor_bench.errors import RunCancelledError
from poor_bench.models.completion import Completion, FinishReason
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import Timeouts
from poor_bench.ports import CallControl, Provider
from poor_bench.providers.embedded_engine import ENGINES, EngineSettings
from tests.providers.asking import CONTROL, ask, failure_of, make_provider
from tests.providers.embedded_file import real_model

pytestmark = pytest.mark.embedded
STORY = "Write a very long story about a king and his horse."


def embedded(**parameters: Any) -> Provider:
    own = {"model_path": str(real_model()), "num_ctx": 1024}
    return make_provider("embedded", None, parameters=own | parameters, clock=SystemClock())


@pytest.fixture(scope="module", autouse=True)
def keep_loaded() -> Iterator[None]:
    """Hold the model, so that not every test loads it."""
    settings = EngineSettings(path=real_model(), context_tokens=1024, slots=1)
    ENGINES.take(settings)
    yield
    ENGINES.give_back(settings)


@pytest.fixture(scope="module")
def story() -> Completion:
    return ask(embedded(), prompt=STORY, max_tokens=12)


def test_reply_says_what_it_cost(story: Completion) -> None:
    usage, timing = story.usage, story.timing

    assert story.text
    assert usage.completion_tokens == 12
    assert usage.prompt_tokens is not None
    assert usage.prompt_tokens > 12
    assert timing.first_token_ms is not None
    assert 0 < timing.first_token_ms < timing.total_ms
    assert timing.prefill_ms is not None
    assert timing.decode_ms is not None
    assert timing.prefill_ms + timing.decode_ms <= timing.total_ms
    assert story.model_digest is not None
    assert story.model_digest.startswith("sampled:")


def test_reply_cut_by_the_limit_says_so(story: Completion) -> None:
    assert story.finish_reason is FinishReason.LENGTH


def test_same_prompt_gets_the_same_reply_whatever_came_between(story: Completion) -> None:
    provider = embedded()
    ask(provider, prompt=STORY[:30], max_tokens=3)

    assert ask(provider, prompt=STORY, max_tokens=12).text == story.text


def test_seed_repeats_a_warm_reply() -> None:
    provider = embedded()
    texts = {
        ask(provider, prompt=STORY, max_tokens=10, temperature=2.0, seed=seed).text
        for seed in (1, 1, 2)
    }

    assert len(texts) == 2


def test_reply_keeps_to_a_schema() -> None:
    schema = {
        "type": "object",
        "properties": {"mood": {"enum": ["positive", "negative"]}, "sure": {"type": "integer"}},
        "required": ["mood", "sure"],
        "additionalProperties": False,
    }
    reply = ask(
        embedded(),
        prompt="How does 'I love it' sound?",
        max_tokens=60,
        response_format={"type": "json_schema", "schema": schema},
    )

    value = json.loads(reply.text)
    assert value["mood"] in {"positive", "negative"}
    assert isinstance(value["sure"], int)
    assert reply.finish_reason is FinishReason.STOP


def test_stop_text_ends_the_reply(story: Completion) -> None:
    word = story.text.split()[2]

    reply = ask(embedded(), prompt=STORY, max_tokens=12, stop=word)

    assert word not in reply.text
    assert reply.finish_reason is FinishReason.STOP


def test_system_prompt_counts(story: Completion) -> None:
    reply = ask(embedded(), prompt=STORY, system="You only speak French.", max_tokens=12)

    assert reply.usage.prompt_tokens != story.usage.prompt_tokens


def test_prompt_longer_than_the_context_is_an_overflow() -> None:
    error = failure_of(embedded(), prompt="word " * 1200)

    assert error.kind is FailureKind.CONTEXT_OVERFLOW
    assert "1024" in str(error)


@pytest.mark.parametrize(
    "parameters",
    [
        {"temperature": "hot"},
        {"response_format": {"type": "json_schema", "schema": {"type": "frob"}}},
        {"prompt": "half a character: \ud83d"},
    ],
    ids=["temperature", "schema", "surrogate"],
)
def test_senseless_request_is_refused(parameters: dict[str, Any]) -> None:
    assert failure_of(embedded(), **parameters).kind is FailureKind.BAD_REQUEST


def test_first_token_that_is_late_ends_the_call() -> None:
    control = CallControl(timeouts=Timeouts(first_token_s=0.05))

    error = failure_of(embedded(), control, prompt="word " * 900)

    assert error.kind is FailureKind.TIMEOUT
    assert "no first token within 0.05 s" in str(error)


def test_reply_that_takes_too_long_ends_the_call() -> None:
    control = CallControl(timeouts=Timeouts(total_s=0.5))

    assert failure_of(embedded(), control, prompt=STORY).kind is FailureKind.TIMEOUT


def test_cancelled_run_ends_the_call_and_frees_the_model() -> None:
    provider = embedded()
    cancelled = threading.Event()
    control = CallControl(timeouts=Timeouts(), cancelled=cancelled.is_set)
    threading.Timer(0.3, cancelled.set).start()

    with pytest.raises(RunCancelledError):
        ask(provider, control, prompt=STORY, max_tokens=900)

    assert ask(provider, prompt="Hi", max_tokens=2).text


def test_llms_with_other_parameters_share_the_model() -> None:
    assert embedded(temperature=0.1).preload(CONTROL) == 0.0
    assert embedded(temperature=0.9).preload(CONTROL) == 0.0


def test_loading_takes_time_that_is_no_latency() -> None:
    reply = ask(embedded(num_ctx=256), prompt="Hi", max_tokens=1)

    assert reply.timing.load_ms is not None
    assert reply.timing.load_ms > 0
    assert reply.timing.total_ms > reply.timing.load_ms
    assert reply.timing.first_token_ms is not None
    assert reply.timing.first_token_ms < reply.timing.total_ms - reply.timing.load_ms


def test_several_requests_at_once_are_all_answered() -> None:
    provider = embedded()
    replies: list[Completion] = []
    threads = [
        threading.Thread(
            target=lambda: replies.append(ask(provider, prompt="Name a colour.", max_tokens=4))
        )
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(replies) == 3
    assert len({reply.text for reply in replies}) == 1


def test_file_that_is_no_model_cannot_be_loaded(tmp_path: Path) -> None:
    nonsense = tmp_path / "nonsense.gguf"
    nonsense.write_bytes(b"GGUF" + bytes(1000))

    error = failure_of(embedded(model_path=str(nonsense)))

    assert error.kind is FailureKind.MODEL_NOT_FOUND
    assert "nonsense.gguf cannot be loaded" in str(error)


def test_llama_cpp_prints_nothing(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ask(embedded(num_ctx=128), prompt="Hi", max_tokens=1)
    failure_of(embedded(num_ctx=128), prompt="word " * 300)
    (tmp_path / "nonsense.gguf").write_bytes(b"nonsense")
    failure_of(embedded(model_path=str(tmp_path / "nonsense.gguf")))

    assert capfd.readouterr() == ("", "")


def test_nobody_else_can_use_the_model() -> None:
    settings = EngineSettings(path=real_model(), context_tokens=1024, slots=1)
    engine, _ = ENGINES.take(settings)
    try:
        host, _, port = engine.address.removeprefix("http://").rpartition(":")
        with socket.create_connection((host, int(port))):
            assert host == "127.0.0.1"
        request = Request(f"{engine.address}/v1/chat/completions", data=b'{"messages": []}')
        with pytest.raises(HTTPError, match="401") as caught:
            urlopen(request)
        caught.value.close()
    finally:
        ENGINES.give_back(settings)
