from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from poor_bench.errors import ConfigError, ProviderError, RunCancelledError
from poor_bench.models.completion import ChatRequest, FinishReason, Message
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM, Timeouts
from poor_bench.ports import CallControl, Provider
from poor_bench.providers.catalog import ProviderServices
from poor_bench.providers.registry import create_provider
from tests.providers.fake_clock import FakeClock

CONTROL = CallControl(timeouts=Timeouts())


def scripted(workspace: Path = Path(), **parameters: Any) -> Provider:
    llm = LLM(id="scripted:demo", provider="scripted", name="demo", parameters=parameters)
    return create_provider(llm, ProviderServices(clock=FakeClock(), workspace=workspace))


def ask(provider: Provider, prompt: str = "hello", control: CallControl = CONTROL) -> str:
    return provider.complete(ChatRequest(messages=(Message("user", prompt),)), control).text


def test_a_single_response_answers_every_prompt() -> None:
    provider = scripted(responses="42")
    assert [ask(provider, "a"), ask(provider, "b")] == ["42", "42"]


def test_a_list_is_played_over_all_prompts_and_its_last_entry_stays() -> None:
    provider = scripted(responses=["one", "two"])
    assert [ask(provider, prompt) for prompt in "abc"] == ["one", "two", "two"]


def test_the_first_fitting_pattern_wins() -> None:
    provider = scripted(responses={"/^cap.*France/": "Paris", "capital": "?"}, default="none")
    assert ask(provider, "capital of France") == "Paris"
    assert ask(provider, "capital of Spain") == "?"
    assert ask(provider, "hello") == "none"


def test_a_list_behind_a_pattern_is_played_for_each_prompt_anew() -> None:
    provider = scripted(responses={"q": ["one", "two"]})
    assert [ask(provider, prompt) for prompt in ("q1", "q2", "q1", "q2")] == [
        "one",
        "one",
        "two",
        "two",
    ]


def test_failures_come_first_as_often_as_they_say() -> None:
    failure = {"failure": "rate_limited", "retry_after_s": 1.5, "times": 2, "status": 429}
    provider = scripted(failures=[failure], responses="fine")
    for _ in range(2):
        with pytest.raises(ProviderError) as caught:
            ask(provider)
        assert caught.value.kind is FailureKind.RATE_LIMITED
        assert (caught.value.status, caught.value.retry_after_s) == (429, 1.5)
    assert ask(provider) == "fine"


def test_a_prompt_without_response_is_a_bad_request() -> None:
    with pytest.raises(ProviderError, match="no response for this prompt") as caught:
        ask(scripted(responses={"other": "x"}))
    assert caught.value.kind is FailureKind.BAD_REQUEST


def test_latency_goes_through_the_clock() -> None:
    provider = scripted(responses="x", latency_ms=250)
    request = ChatRequest(messages=(Message("user", "hello"),))
    assert provider.complete(request, CONTROL).timing.total_ms == 250


def test_a_reply_slower_than_allowed_times_out_when_the_time_is_over() -> None:
    clock = FakeClock()
    llm = LLM(
        id="s:d", provider="scripted", name="d", parameters={"responses": "x", "latency_ms": 9e6}
    )
    provider = create_provider(llm, ProviderServices(clock=clock))
    with pytest.raises(ProviderError) as caught:
        ask(provider, control=CallControl(timeouts=Timeouts(total_s=3)))
    assert (caught.value.kind, clock.seconds) == (FailureKind.TIMEOUT, 3)


def test_a_cancelled_call_ends_without_a_reply() -> None:
    with pytest.raises(RunCancelledError):
        ask(scripted(responses="x"), control=CallControl(timeouts=Timeouts(), cancelled=always))


def always() -> bool:
    return True


def test_everything_that_a_reply_states_is_returned() -> None:
    reply = {
        "text": "4",
        "thinking": "2 and 2",
        "finish_reason": "length",
        "prompt_tokens": 7,
        "completion_tokens": 5,
        "thinking_tokens": 3,
        "prompt_truncated": True,
    }
    request = ChatRequest(messages=(Message("user", "hello"),))
    completion = scripted(responses=[reply]).complete(request, CONTROL)
    assert (completion.text, completion.thinking) == ("4", "2 and 2")
    assert completion.finish_reason is FinishReason.LENGTH
    assert completion.usage.prompt_tokens == 7
    assert completion.usage.thinking_tokens == 3
    assert completion.prompt_truncated


def test_preloading_takes_as_long_as_the_script_says() -> None:
    assert scripted(responses="x", load_ms=700).preload(CONTROL) == 700


@pytest.mark.parametrize("name", ["demo.json", "demo.yaml"])
def test_a_script_is_read_from_the_workspace(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('{"responses": {"hello": "from file"}}', encoding="utf-8")
    assert ask(scripted(tmp_path, script=name)) == "from file"


def test_parameters_win_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "demo.yaml").write_text("{responses: old, default: d}", encoding="utf-8")
    assert ask(scripted(tmp_path, script="demo.yaml", responses="new")) == "new"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "needs the parameter"),
        ({"script": "missing.yaml"}, r"missing\.yaml: No such file"),
        ({"script": "../secret.yaml"}, r"secret\.yaml: it leads out of"),
        ({"script": "/etc/hostname"}, "it leads out of"),
        ({"responses": []}, "responses"),
        ({"responses": {"/[/": "x"}}, "not a regular expression"),
        ({"responses": {"a": {"failure": "bad luck"}}}, "failure"),
        ({"responses": {"a": {"txt": "b"}}}, "txt"),
        ({"responses": "a", "latency_ms": -1}, "latency_ms"),
    ],
)
def test_an_unusable_script_is_named(
    tmp_path: Path, parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        scripted(tmp_path, **parameters)
    assert str(caught.value).startswith("scripted:demo")


@pytest.mark.parametrize("content", ["[1, 2]", "a: [", "\x00"])
def test_a_script_file_that_is_no_mapping_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "demo.yaml").write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"demo\.yaml"):
        scripted(tmp_path, script="demo.yaml")
