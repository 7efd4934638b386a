"""`llms probe` against a server that drops settings, and where its findings are shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from poor_bench.cli.main import main
from poor_bench.models.completion import Message
from poor_bench.probe.finding import ProbeCall, Setting
from tests.conftest import WorkspaceFiles
from tests.probe.fake_model import FakeModel
from tests.providers.servers.fake_server import Answer, Request, json_answer, serving

_DROPPED = frozenset({Setting.SEED, Setting.STOP})


def answer_as(model: FakeModel, request: Request) -> Answer:
    """Answer chat completions as OpenAI's servers do."""
    body = request.body
    if "messages" not in body:
        return json_answer({"data": [{"id": "m"}]})
    schema = body.get("response_format", {}).get("json_schema")
    known = {key: body[key] for key in ("seed", "temperature", "max_tokens", "stop") if key in body}
    parameters = known | ({"response_format": schema} if schema else {})
    messages = tuple(Message(each["role"], each["content"]) for each in body["messages"])
    reply = model.answer(ProbeCall(setting=Setting.STOP, messages=messages, parameters=parameters))
    assert reply.completion is not None
    usage = reply.completion.usage
    return json_answer(
        {
            "model": "m",
            "system_fingerprint": "fp_1",
            "choices": [
                {
                    "message": {"role": "assistant", "content": reply.completion.text},
                    "finish_reason": reply.completion.finish_reason.value,
                }
            ],
            "usage": {
                "prompt_tokens": usage.prompt_tokens,
                "completion_tokens": usage.completion_tokens,
            },
        }
    )


@pytest.fixture
def workspace(workspace_files: WorkspaceFiles) -> Iterator[Path]:
    """A workspace with a result of a model whose server drops seed and stop."""
    model = FakeModel(dropped=_DROPPED, context=32_768)
    with serving(lambda request: answer_as(model, request)) as server:
        workspace_files.add_tests(1)
        workspace_files.llms.append(
            {
                "provider": "mine",
                "name": "m",
                "endpoint": f"{server.url}/v1",
                "parameters": {"stream": False, "seed": 7},
            }
        )
        yield workspace_files.write()


def run(workspace: Path, *words: str) -> int:
    return main(["--data", str(workspace), *words])


@pytest.mark.slow(reason="takes over a quarter of a second")
def test_findings_are_printed_stored_and_shown_with_results(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(workspace, "llms", "probe", "mine:m") == 0
    shown = capsys.readouterr().out
    assert "Results of this model now say: seed ignored, stop ignored." in shown
    assert "num_ctx" in shown
    capsys.readouterr()
    assert run(workspace, "llms", "--no-check") == 0
    assert "seed ignored, stop ignored" in capsys.readouterr().out
    assert run(workspace, "run") == 0
    capsys.readouterr()
    for words in (["report"], ["report", "--format", "md"], ["report", "--format", "html"]):
        assert run(workspace, *words) == 0
        assert "seed ignored, stop ignored (see" in capsys.readouterr().out
    assert run(workspace, "report", "--json") == 0
    notes = json.loads(capsys.readouterr().out)["settings_notes"]
    assert notes == {"mine:m": ["seed ignored", "stop ignored"]}


def test_json_has_a_verdict_for_each_setting(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(workspace, "llms", "probe", "mine:m", "--json", "--only", "stop") == 0
    probe = json.loads(capsys.readouterr().out)
    assert [(each["setting"], each["verdict"]) for each in probe["findings"]] == [
        ("stop", "ignored")
    ]
    assert probe["n_calls"] == 1
    assert run(workspace, "llms", "--no-check", "--json") == 0
    [llm] = json.loads(capsys.readouterr().out)["llms"]
    assert llm["probe"]["notes"] == ["stop ignored"]


def test_a_probe_of_other_settings_is_stale_and_not_shown(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(workspace, "llms", "probe", "mine:m", "--only", "stop") == 0
    file = workspace / "llms.json"
    file.write_text(file.read_text().replace('"seed": 7', '"seed": 8'))
    capsys.readouterr()
    assert run(workspace, "llms", "--no-check") == 0
    shown = capsys.readouterr().out
    assert "stale" in shown
    assert "stop ignored" not in shown


def test_the_load_curve_recommends_a_concurrency(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(workspace, "llms", "probe", "mine:m", "--load", "--most", "2", "--json") == 0
    load = json.loads(capsys.readouterr().out)["load"]
    assert [level["concurrency"] for level in load["levels"]] == [1, 2]
    assert run(workspace, "llms", "probe", "mine:m", "--load", "--most", "1") == 0
    shown = capsys.readouterr().out
    assert "Recommended: concurrency 1" in shown
    assert f"{'#' * 20} knee" in shown
    assert run(workspace, "llms", "probe", "mine:m", "--load", "--only", "seed") == 2
