from __future__ import annotations

import json
import shlex
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.errors import ConfigError
from poor_bench.models.completion import ChatRequest, Message
from poor_bench.models.llm import LLM
from poor_bench.providers.catalog import list_provider_names
from poor_bench.providers.registry import write_curl
from tests.providers.asking import make_provider


@pytest.mark.parametrize("name", [name for name in list_provider_names() if name != "embedded"])
def test_every_known_provider_can_be_made(name: str) -> None:
    parameters = {"responses": "x"} if name == "scripted" else {}
    assert make_provider(name, None, parameters=parameters).preload


def test_an_unknown_provider_without_endpoint_cannot_be_made() -> None:
    with pytest.raises(ConfigError, match="unknown provider"):
        make_provider("nobody", None)


def test_the_registry_imports_nothing_heavy() -> None:
    code = "import sys, poor_bench.providers.registry; print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"urllib3", "orjson", "pydantic", "yaml", "http.client"} & set(modules)


OLLAMA = LLM(id="ollama:a", provider="ollama", name="a")
OPENAI = LLM(id="openai:a", provider="openai", name="a")


def command(prompt: str, llm: LLM = OLLAMA) -> str:
    request = ChatRequest(messages=(Message("user", prompt),), parameters={"temperature": 0})
    return write_curl(llm, request, {"OPENAI_API_KEY": "sk-secret-secret"})


def body_of(text: str) -> dict[str, object]:
    body: dict[str, object] = json.loads(shlex.split(text)[-1])
    return body


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_prompt_is_one_word_of_printable_ascii(prompt: str) -> None:
    text = command(prompt)
    assert text.replace("\n", "").isascii()
    assert text.replace("\n", "").isprintable()
    assert text.count("\n") == 2
    assert body_of(text)["messages"] == [{"role": "user", "content": prompt}]


@pytest.mark.parametrize(
    "prompt", ["'; touch hacked; '", "$(touch hacked)", "`touch hacked`", "!!", "\\", "\x1b[201~\n"]
)
def test_a_shell_runs_nothing_but_curl(prompt: str, tmp_path: object) -> None:
    shown = command(prompt).replace("curl ", "printf '%s\\0' ", 1)
    done = subprocess.run(["sh", "-c", shown], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.split("\0")[-2])["messages"][0]["content"] == prompt
    assert done.stderr == ""


def test_the_key_is_the_name_of_its_variable() -> None:
    text = command("hi", OPENAI)
    assert '-H "Authorization: Bearer $OPENAI_API_KEY"' in text
    assert "secret" not in text


def test_a_hostile_variable_or_endpoint_is_refused() -> None:
    llm = LLM(id="a:b", provider="x", name="b", endpoint="http://h", api_key_env='A"; rm -rf "')
    with pytest.raises(ConfigError):
        command("hi", llm)
    quoted = LLM(id="a:b", provider="x", name="b", endpoint="http://h/$(id)")
    assert "'http://h/$(id)/chat/completions'" in command("hi", quoted)


def test_a_model_that_is_not_asked_over_http_has_none() -> None:
    with pytest.raises(ConfigError, match="no curl command exists for requests to scripted:a"):
        command("hi", LLM(id="scripted:a", provider="scripted", name="a"))
