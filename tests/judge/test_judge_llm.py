from __future__ import annotations

from typing import Any

import pytest

from poor_bench.config.judge_settings import JudgeSettings
from poor_bench.errors import ConfigError
from poor_bench.judge.registry import DEFAULT_MODEL, JudgeOptions, choose_llm, judge_llm
from poor_bench.models.llm import LLM

KEY = {"ANTHROPIC_API_KEY": "sk-ant-0123456789"}
GEMMA = LLM(
    id="ollama:gemma3:1b",
    provider="ollama",
    name="gemma3:1b",
    label="Gemma",
    parameters={"temperature": 0, "num_ctx": 8192},
)


def chosen(
    options: dict[str, Any] | None = None,
    settings: dict[str, Any] | None = None,
    environ: dict[str, str] | None = None,
) -> LLM:
    return judge_llm(
        JudgeOptions(**options or {}),
        JudgeSettings(**settings or {}),
        [GEMMA],
        KEY | (environ or {}),
    )


def test_claude_opus_judges_by_default() -> None:
    llm = chosen()
    assert (llm.provider, llm.name) == ("anthropic", "claude-opus-4-20250514")
    assert llm.id == f"anthropic:{DEFAULT_MODEL}"
    assert llm.endpoint is None
    assert llm.prices.input == 15.0


@pytest.mark.parametrize(
    ("options", "settings", "environ", "name"),
    [
        ({}, {"model": "claude-config"}, {}, "claude-config"),
        ({}, {"model": "claude-config"}, {"ANTHROPIC_MODEL": "claude-env"}, "claude-env"),
        ({"model": "claude-arg"}, {}, {"ANTHROPIC_MODEL": "claude-env"}, "claude-arg"),
        ({"model": "anthropic:claude-arg"}, {}, {}, "claude-arg"),
        ({"model": "embedded:smollm2-135m"}, {}, {}, "smollm2-135m"),
        ({"model": "ollama:gemma3:1b"}, {}, {}, "gemma3:1b"),
        ({"model": "Gemma"}, {}, {}, "gemma3:1b"),
        ({"model": "ollama:gemma3:1b:false"}, {}, {}, "gemma3:1b"),
        ({}, {"model": "ollama:gemma3:1b:true"}, {}, "gemma3:1b"),
    ],
)
def test_arguments_come_before_environment_before_config(
    options: dict[str, Any], settings: dict[str, Any], environ: dict[str, str], name: str
) -> None:
    assert chosen(options, settings, environ).name == name


@pytest.mark.parametrize(
    ("options", "settings", "environ", "parameters"),
    [
        ({}, {}, {}, {}),
        ({}, {"temperature": 0.1, "max_tokens": 10}, {}, {"temperature": 0.1, "max_tokens": 10}),
        (
            {},
            {"temperature": 0.1},
            {"ANTHROPIC_TEMPERATURE": "0.2", "ANTHROPIC_MAX_TOKENS": "20"},
            {"temperature": 0.2, "max_tokens": 20},
        ),
        (
            {"temperature": 0.0, "max_tokens": 30},
            {"temperature": 0.1},
            {"ANTHROPIC_TEMPERATURE": "0.2"},
            {"temperature": 0.0, "max_tokens": 30},
        ),
    ],
)
def test_settings_come_in_the_same_order(
    options: dict[str, Any],
    settings: dict[str, Any],
    environ: dict[str, str],
    parameters: dict[str, Any],
) -> None:
    assert chosen(options, settings, environ).parameters == parameters


def test_an_llm_of_the_workspace_keeps_its_own_settings() -> None:
    llm = chosen({"model": GEMMA.id}, environ={"ANTHROPIC_TEMPERATURE": "0.2"})
    assert llm == GEMMA


def test_an_llm_that_is_given_is_taken_as_it_is() -> None:
    assert chosen({"model": GEMMA}, {"temperature": 0.9}) == GEMMA


def test_the_server_of_the_environment_is_left_to_the_provider() -> None:
    environ = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}
    assert chosen({}, {"base_url": "http://config"}, environ).endpoint is None
    assert chosen({}, {"base_url": "http://config"}).endpoint == "http://config"
    assert chosen({"base_url": "http://arg"}, {}, environ).endpoint == "http://arg"


@pytest.mark.parametrize("key", [{}, {"ANTHROPIC_API_KEY": " "}])
def test_a_missing_key_is_named_before_anything_is_sent(key: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="ANTHROPIC_API_KEY"):
        judge_llm(JudgeOptions(), JudgeSettings(), [], key)


def test_a_missing_key_does_not_matter_where_nobody_is_asked() -> None:
    assert choose_llm(JudgeOptions(), JudgeSettings(), [], {}).name == DEFAULT_MODEL


def test_a_local_judge_needs_no_key() -> None:
    options = JudgeOptions(model="embedded:smollm2-135m")
    assert judge_llm(options, JudgeSettings(), [], {}).provider == "embedded"


@pytest.mark.parametrize(
    "name", ["olama:gemma3:1b", "ollama gemma3:1b", "gemma3", "embedded:smolm2"]
)
def test_a_mistyped_judge_is_told_and_sends_nothing_anywhere(name: str) -> None:
    with pytest.raises(ConfigError, match="does not exist") as caught:
        chosen({"model": name})
    assert "ollama:gemma3:1b" in caught.value.hint


@pytest.mark.parametrize("name", ["custom", "anthropic:custom"])
def test_the_environments_model_is_anthropics_whatever_its_name(name: str) -> None:
    assert chosen(environ={"ANTHROPIC_MODEL": name}).id == "anthropic:custom"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ANTHROPIC_TEMPERATURE", "warm"),
        ("ANTHROPIC_TEMPERATURE", "1.5"),
        ("ANTHROPIC_TEMPERATURE", "nan"),
        ("ANTHROPIC_MAX_TOKENS", "0"),
        ("ANTHROPIC_MAX_TOKENS", "1e3"),
    ],
)
def test_a_variable_that_cannot_be_read_is_named(variable: str, value: str) -> None:
    with pytest.raises(ConfigError, match=variable):
        chosen(environ={variable: value})
