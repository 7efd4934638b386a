from __future__ import annotations

import pytest

from poor_bench.errors import ProviderError
from poor_bench.models.failure import FailureKind
from poor_bench.providers.api_keys import find_key_variable, hide_keys, read_key
from tests.providers.asking import make_llm


@pytest.mark.parametrize(
    ("provider", "endpoint", "api_key_env", "expected"),
    [
        ("openai", None, None, "OPENAI_API_KEY"),
        ("openai", "https://api.openai.com/v1", None, "OPENAI_API_KEY"),
        ("openai", "https://elsewhere.example/v1", None, None),
        ("openai", "https://elsewhere.example/v1", "MINE", "MINE"),
        ("anthropic", None, None, "ANTHROPIC_API_KEY"),
        ("openrouter", None, None, "OPENROUTER_API_KEY"),
        ("llm7", None, None, "LLM7_API_KEY"),
        ("ollama", None, None, None),
        ("ollama", None, "MINE", "MINE"),
        ("unknown", "http://box/v1", None, None),
    ],
)
def test_a_providers_own_key_goes_to_its_own_server_only(
    provider: str, endpoint: str | None, api_key_env: str | None, expected: str | None
) -> None:
    assert find_key_variable(make_llm(provider, endpoint, api_key_env=api_key_env), {}) == expected


def test_the_key_is_read_when_it_is_needed() -> None:
    environ = {"OPENAI_API_KEY": "first"}
    llm = make_llm("openai")
    assert read_key(llm, environ) == "first"
    environ["OPENAI_API_KEY"] = "second"
    assert read_key(llm, environ) == "second"


@pytest.mark.parametrize("provider", ["openai", "anthropic", "openrouter", "groq"])
def test_a_missing_key_names_its_variable(provider: str) -> None:
    with pytest.raises(ProviderError, match="_API_KEY is not set") as caught:
        read_key(make_llm(provider), {})
    assert caught.value.kind is FailureKind.AUTH
    assert caught.value.hint.startswith("export ")


@pytest.mark.parametrize("provider", ["llm7", "ollama", "lmstudio"])
def test_some_servers_need_no_key(provider: str) -> None:
    assert read_key(make_llm(provider), {}) is None


def test_a_key_that_was_named_has_to_be_there() -> None:
    with pytest.raises(ProviderError, match="MINE is not set"):
        read_key(make_llm("ollama", api_key_env="MINE"), {"MINE": "  "})


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("wrong key abcdefgh!", "abcdefgh", "wrong key [key]!"),
        ("Incorrect API key provided: sk-proj-ab12****wxyz.", None, "[key]"),
        ("Authorization: Bearer xyz123", None, "Bearer [key]"),
        ("the letter a", "a", "the letter a"),
        ("nothing here", "", "nothing here"),
    ],
)
def test_keys_are_hidden(text: str, key: str | None, expected: str) -> None:
    hidden = hide_keys(text, key)
    assert expected in hidden
    assert "ab12" not in hidden
