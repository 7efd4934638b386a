"""The names of the specification for tests, LLMs and results, run as they are written there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from poor_bench.config_manager import ConfigManager
from poor_bench.errors import ConfigError, ProviderError
from poor_bench.report_generator import ReportGenerator
from poor_bench.test_runner import LLMProvider, OllamaProvider, OpenAIProvider, TestRunner
from poor_bench.workspace_folder import WorkspaceFolder
from tests.contracts.specification import CORE, REAL_PROVIDER, UNKNOWN_TEST, run, write_data
from tests.providers.servers import ollama_format, openai_format
from tests.providers.servers.fake_server import serving


class Answering(LLMProvider):
    def __init__(self, answer: Any = "4") -> None:
        self.answer = answer
        self.asked: list[tuple[str, str, dict[str, Any]]] = []

    def generate_response(self, prompt: str, system_prompt: str, parameters: dict[str, Any]) -> str:
        self.asked.append((prompt, system_prompt, parameters))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_data(tmp_path / "data")


def row(test_id: str = "t1", **changes: Any) -> dict[str, Any]:
    stamp = "2026-01-01T00:00:00"
    return {"test_id": test_id, "score": 1.0, "response": "4", "timestamp": stamp} | changes


def scores(folder: Path, llm_id: str = "ollama:x") -> dict[str, float]:
    rows = ConfigManager(folder).load_results()["results"].get(llm_id, [])
    return {row["test_id"]: row["score"] for row in rows}


def a_runner(folder: Path, answer: Any = "4") -> tuple[TestRunner, Answering]:
    runner, provider = TestRunner(ConfigManager(folder)), Answering(answer)
    runner.llm_providers["mine"] = provider
    return runner, provider


def test_the_snippet_of_the_specification_runs(data: Path) -> None:
    left = run(CORE)
    assert (left["row"]["score"], left["row"]["think"]) == (1.0, None)
    assert left["config"].get_pending_tests("ollama:x") == ["math_001", "t2"]
    assert left["config"].get_pending_tests("ollama:x", ["t1", "t2"]) == ["t2"]
    assert scores(data) == {"t1": 1.0}
    assert scores(data, "mine:anything") == {"math_001": 1.0}


def test_the_unknown_test_of_the_specification_is_a_value_error_that_names_it(data: Path) -> None:
    left = run(CORE)
    with pytest.raises(ValueError, match="no-such-test"):
        run(UNKNOWN_TEST, left)


def test_the_real_provider_of_the_specification_is_usable_on_its_own(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(ollama_format.ollama(ollama_format.reply("hi"))) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        run(REAL_PROVIDER, {"OllamaProvider": OllamaProvider})
        body = server.requests[0].body
        assert OllamaProvider(server.url).generate_response("Say hi", "", {"model": "m"}) == "hi"
    assert body["model"] == "gemma3:1b"
    assert body["messages"] == [{"role": "user", "content": "Say hi"}]


def test_system_prompt_and_parameters_reach_a_compatible_server() -> None:
    with serving(lambda _request: openai_format.reply("hi")) as server:
        provider = OpenAIProvider(server.url)
        assert provider.generate_response("Hi", "Be brief.", {"model": "m", "seed": 7}) == "hi"
        body = server.requests[0].body
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert (body["model"], body["seed"]) == ("m", 7)


def test_a_provider_without_a_model_or_an_answer_says_so() -> None:
    with pytest.raises(ValueError, match="name a model"):
        OllamaProvider().generate_response("Hi", "", {})
    with (
        serving(lambda _request: openai_format.refusal(401, "no key")) as server,
        pytest.raises(ProviderError, match="no key"),
    ):
        OpenAIProvider(server.url).generate_response("Hi", "", {"model": "m"})


def test_files_are_given_as_they_stand(data: Path) -> None:
    config = ConfigManager(str(data))
    assert config.load_tests() == json.loads((data / "tests.json").read_text())
    assert config.load_llms() == json.loads((data / "llms.json").read_text())
    assert config.load_test_classes()["version"] == "1.0"
    (data / "tests.json").write_text("[]")
    assert config.load_tests() == {"tests": []}
    (data / "llms.json").unlink()
    with pytest.raises(ConfigError, match=r"llms\.json"):
        config.load_llms()


def test_a_folder_without_files_has_no_results(tmp_path: Path) -> None:
    config = ConfigManager(tmp_path)
    assert config.load_results() == {"version": "1.0", "results": {}}
    config.save_results({"version": "1.0", "results": {"ollama:x": [row()]}})
    assert scores(tmp_path) == {"t1": 1.0}


def test_a_saved_row_is_loaded_with_every_basic_key(data: Path) -> None:
    config = ConfigManager(data)
    config.save_results({"results": {"ollama:x": [row(think=False, execution_time_ms=12)]}})
    (loaded,) = config.load_results()["results"]["ollama:x"]
    assert loaded == row(think=False, execution_time_ms=12, details="")


@pytest.mark.slow(reason="starts Python")
def test_rows_stored_by_another_process_meanwhile_are_kept(data: Path) -> None:
    config = ConfigManager(data)
    config.save_results({"results": {"ollama:x": [row("t1", score=0.0), row("t2", score=0.0)]}})
    mine = config.load_results()
    others = "from poor_bench.config_manager import ConfigManager\n"
    others += "config = ConfigManager('data')\nresults = config.load_results()\n"
    others += "results['results']['ollama:x'][0]['score'] = 0.75\n"
    others += "results['results']['ollama:y'] = [{'test_id': 't1', 'score': 0.5}]\n"
    others += "config.save_results(results)\n"
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run([sys.executable, "-c", others], cwd=data.parent, env=environ, check=True)
    mine["results"]["ollama:x"][1]["score"] = 1.0
    config.save_results(mine)
    assert scores(data) == {"t1": 0.75, "t2": 1.0}
    assert scores(data, "ollama:y") == {"t1": 0.5}


def test_the_same_results_can_be_saved_again_and_again(data: Path) -> None:
    config = ConfigManager(data)
    results = config.load_results()
    rows = results["results"].setdefault("ollama:x", [])
    for test_id, score in (("t1", 0.0), ("t2", 0.5)):
        rows.append(row(test_id, score=score))
        config.save_results(results)
    rows[0]["score"] = 1.0
    config.save_results(results)
    rows[0]["score"] = 0.0
    config.save_results(results)
    assert scores(data) == {"t1": 0.0, "t2": 0.5}
    runs = sorted((data / "runs").iterdir())
    config.save_results(results)
    config.save_results(json.loads(json.dumps(results)))
    assert sorted((data / "runs").iterdir()) == runs


@pytest.mark.parametrize("bad", [{"score": 2}, {"score": None}, {"test_id": 7}, {"trial": 0}])
def test_a_row_that_is_not_valid_is_named_and_nothing_is_stored(
    data: Path, bad: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=r"results\['ollama:x'\]\[1\]"):
        ConfigManager(data).save_results({"results": {"ollama:x": [row(), row("t2") | bad]}})
    assert scores(data) == {}


def test_a_row_that_is_not_a_dict_is_named(data: Path) -> None:
    with pytest.raises(ValueError, match=r"results\['ollama:x'\]\[0\]"):
        ConfigManager(data).save_results({"results": {"ollama:x": ["4"]}})


def test_old_ids_and_ids_that_only_have_results_are_pending_names(data: Path) -> None:
    config = ConfigManager(data)
    config.save_results({"results": {"ollama:x:false": [row()], "gone:model": [row("t2")]}})
    assert config.get_pending_tests("ollama:x:false") == ["math_001", "t2"]
    assert config.get_pending_tests("gone:model") == ["math_001", "t1"]


def test_an_unknown_llm_is_neither_all_pending_nor_nothing_pending(data: Path) -> None:
    with pytest.raises(ValueError, match=r"ollama:y(.|\n)*`ollama:x`"):
        ConfigManager(data).get_pending_tests("ollama:y")


def test_an_unknown_test_that_limits_pending_ones_is_logged(
    data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert ConfigManager(data).get_pending_tests("ollama:x", ["t9", "t2"]) == ["t2"]
    assert "'t9'" in caplog.text


def test_an_own_provider_gets_the_prompt_and_the_parameters_of_its_llm(data: Path) -> None:
    entry = {"provider": "mine", "name": "anything", "base_system_prompt": "Be brief."}
    entry |= {"parameters": {"temperature": 0, "depth": 3}}
    (data / "llms.json").write_text(json.dumps({"llms": [entry]}))
    runner, provider = a_runner(data)
    runner.run_test("math_001", "mine:anything")
    sent = {"model": "anything", "temperature": 0, "depth": 3}
    assert provider.asked == [("Solve 2 + 2", "Be brief.", sent)]


def test_a_row_is_what_is_stored_of_it(data: Path) -> None:
    runner, _ = a_runner(data)
    made = runner.run_test("t1", "mine:anything")
    assert made in ConfigManager(data).load_results()["results"]["mine:anything"]
    assert {"test_id", "score", "details", "response", "timestamp", "think"} <= set(made)


@pytest.mark.parametrize("answer", [RuntimeError("out of order"), 4])
def test_a_provider_that_fails_gives_a_row_without_a_score(data: Path, answer: Any) -> None:
    runner, _ = a_runner(data, answer)
    failed = runner.run_test("t1", "mine:anything")
    assert failed["score"] is None
    assert "'mine'" in failed["details"]
    assert scores(data, "mine:anything") == {}
    assert "t1" in ConfigManager(data).get_pending_tests("mine:anything")


def test_a_provider_of_the_catalog_can_be_replaced_at_any_time(data: Path) -> None:
    runner, _ = a_runner(data)
    with serving(ollama_format.ollama(ollama_format.reply("5"))) as server:
        entry = {"provider": "ollama", "name": "qwen3:1.7b", "endpoint": server.url}
        (data / "llms.json").write_text(json.dumps({"llms": [entry]}))
        assert runner.run_test("t1", "ollama:qwen3:1.7b")["score"] == 0.0
        included = runner.llm_providers["ollama"]
        runner.llm_providers["ollama"] = Answering("4")
        assert runner.run_test("t1", "ollama:qwen3:1.7b")["score"] == 1.0
        runner.llm_providers["ollama"] = included
        assert runner.run_test("t1", "ollama:qwen3:1.7b")["score"] == 0.0
        runner.close()


def test_an_unknown_llm_is_a_value_error_that_names_the_nearest(data: Path) -> None:
    runner, _ = a_runner(data)
    with pytest.raises(ValueError, match=r"mine:anythink(.|\n)*`mine:anything`"):
        runner.run_test("t1", "mine:anythink")


def test_an_unknown_provider_is_a_value_error_that_names_it(data: Path) -> None:
    write_data(data, mien="other")
    runner, _ = a_runner(data)
    with pytest.raises(ValueError, match="'mien'"):
        runner.run_test("t1", "mien:other")


def test_an_own_provider_of_a_runner_is_unknown_elsewhere(data: Path) -> None:
    with pytest.raises(ValueError, match="'mine'"):
        TestRunner(ConfigManager(data)).run_test("t1", "mine:anything")
    with pytest.raises(ConfigError):
        WorkspaceFolder(data).load_llms()


def test_reports_come_from_the_typed_core_of_the_same_folder(data: Path) -> None:
    runner, _ = a_runner(data)
    runner.run_test("t1", "mine:anything")
    folder = WorkspaceFolder(data, is_own_provider=lambda name: name == "mine")
    assert "mine:anything" in ReportGenerator(folder).render("md")
