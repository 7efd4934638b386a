from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from poor_bench.models.llm import Prices, Timeouts
from tests.config.workspace_files import (
    SCRIPTED,
    errors_of,
    load,
    the_error_of,
    warnings_of,
    write_workspace,
)


def ollama(**more: Any) -> dict[str, Any]:
    return {"provider": "ollama", "name": "qwen3:8b", **more}


def ids_of(folder: Path, *llms: dict[str, Any]) -> list[str]:
    return [llm.id for llm in load(folder, llms=llms).llms]


def test_the_id_is_provider_and_name(tmp_path: Path) -> None:
    assert ids_of(tmp_path, ollama(parameters={"think": False})) == ["ollama:qwen3:8b"]


def test_twins_are_told_apart_by_think(tmp_path: Path) -> None:
    think_off, think_on = ({"think": value} for value in (False, True))
    assert ids_of(tmp_path, ollama(), ollama(parameters=think_off)) == [
        "ollama:qwen3:8b",
        "ollama:qwen3:8b:false",
    ]
    assert ids_of(tmp_path, ollama(parameters=think_off), ollama(parameters=think_on)) == [
        "ollama:qwen3:8b:false",
        "ollama:qwen3:8b:true",
    ]


def test_an_explicit_id_leaves_its_twin_alone(tmp_path: Path) -> None:
    short = ollama(id="short", parameters={"think": False})
    assert ids_of(tmp_path, ollama(parameters={"think": True}), short) == [
        "ollama:qwen3:8b",
        "short",
    ]


def test_twins_that_nothing_tells_apart_are_an_error(tmp_path: Path) -> None:
    write_workspace(tmp_path, llms=[ollama(), ollama(parameters={"temperature": 0})])
    problem = the_error_of(tmp_path)
    assert (problem.place, problem.code) == ("llms[1]", "duplicate-id")
    assert "`id`" in problem.hint


def test_all_settings_arrive(tmp_path: Path) -> None:
    entry = ollama(
        label="Qwen",
        endpoint="http://127.0.0.1:11434",
        api_key_env="MY_KEY",
        base_system_prompt="Be brief.",
        size=8,
        enabled=False,
        concurrency=2,
        requests_per_minute=30,
        timeouts={"total_s": 60},
        prices={"input": 0.1, "output": 1},
        parameters={"temperature": 0, "_note": "greedy"},
        tags=["local"],
    )
    workspace = load(tmp_path, llms=[entry])
    (llm,) = workspace.llms
    assert workspace.enabled_llms == ()
    assert llm.timeouts == Timeouts(total_s=60)
    assert llm.prices == Prices(input=0.1, output=1)
    assert llm.parameters == {"temperature": 0}
    assert (llm.label, llm.size, llm.concurrency, llm.requests_per_minute) == ("Qwen", 8, 2, 30)
    assert (llm.api_key_env, llm.base_system_prompt, llm.tags) == (
        "MY_KEY",
        "Be brief.",
        ("local",),
    )


@pytest.mark.parametrize(
    "entry",
    [
        ollama(api_key="sk-abcdefghijklmnopqrstuvwx"),
        ollama(apiKey="sk-abcdefghijklmnopqrstuvwx"),
        ollama(api_key_env="sk-abcdefghijklmnopqrstuvwx"),
        ollama(api_key_env="gsk_abcdefghijklmnopqrstuvwx"),
        ollama(parameters={"token": "sk-abcdefghijklmnopqrstuvwx"}),
        ollama(endpoint="https://me:sk-abcdefghijklmnopqrstuvwx@example.org/v1"),
        ollama(endpoint="https://example.org/v1?key=sk-abcdefghijklmnopqrstuvwx"),
    ],
)
def test_a_key_in_the_file_is_refused_and_never_repeated(
    tmp_path: Path, entry: dict[str, Any]
) -> None:
    write_workspace(tmp_path, llms=[entry])
    problem = the_error_of(tmp_path)
    assert "abcdefgh" not in repr(problem)
    assert "api_key_env" in problem.hint


def test_a_value_that_is_no_variable_name_is_not_repeated(tmp_path: Path) -> None:
    write_workspace(tmp_path, llms=[ollama(api_key_env="p@ssw0rd!"), {"name": 1, "provider": []}])
    problems = errors_of(tmp_path)
    assert "p@ssw0rd" not in repr(problems)
    assert len(problems) == 3


def test_a_misspelt_provider_is_named(tmp_path: Path) -> None:
    write_workspace(tmp_path, llms=[ollama(provider="olama")])
    problem = the_error_of(tmp_path)
    assert problem.place == "llms[0].provider"
    assert "ollama" in problem.hint


def test_a_misspelt_provider_with_an_endpoint_is_a_warning(tmp_path: Path) -> None:
    write_workspace(tmp_path, llms=[ollama(provider="olama", endpoint="http://127.0.0.1:1")])
    (warning,) = warnings_of(tmp_path)
    assert "`ollama`" in warning.hint


def test_an_unusable_endpoint_is_an_error(tmp_path: Path) -> None:
    write_workspace(tmp_path, llms=[ollama(endpoint="ftp://example.org")])
    assert the_error_of(tmp_path).place == "llms[0].endpoint"


def test_misspelt_and_useless_parameters_are_warnings(tmp_path: Path) -> None:
    parameters = {"temprature": 0, "top_a": 0.5}
    openai = {"provider": "openai", "name": "m", "parameters": {"num_ctx": 4096}}
    write_workspace(tmp_path, llms=[ollama(parameters=parameters), openai])
    places = {warning.place for warning in warnings_of(tmp_path)}
    assert places == {
        "llms[0].parameters.temprature",
        "llms[0].parameters.top_a",
        "llms[1].parameters.num_ctx",
    }


@pytest.mark.parametrize(
    "parameters",
    [{"temperature": -1}, {"temperature": "hot"}, {"max_tokens": 0}, {"top_p": 2}, {"think": []}],
)
def test_impossible_parameters_are_errors(tmp_path: Path, parameters: dict[str, Any]) -> None:
    write_workspace(tmp_path, llms=[{**SCRIPTED, "parameters": parameters}])
    assert the_error_of(tmp_path).place == f"llms[0].parameters.{next(iter(parameters))}"
