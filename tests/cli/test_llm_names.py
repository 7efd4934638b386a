"""Every command finds an LLM by its id, its label and the id of an older tool; none guesses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from poor_bench.cli.main import main
from tests.conftest import WorkspaceFiles
from tests.runner.running import run_all

NAMES = ("scripted:a", "Model A", "scripted:a:false")
COMMANDS = {
    "run --force --dry-run --llm NAME": "3",
    "run --force --llm NAME": "Model A",
    "status --llm NAME": "Model A",
    "report --llm NAME": "Model A",
    "issues --json --llm NAME": "[]",
    "compare NAME scripted:b": "scripted:a",
    "compare before:last now --llm NAME": "Model A",
    "gate --min-score 0.1 --llm NAME": "Model A",
    "results --llm NAME": "scripted:a",
    "rescore --dry-run --llm NAME": "3 responses",
    "tests show sum_001 --llm NAME": "scripted:a",
    "llms test NAME Hello": "4 from a",
    "tune params sums --llm NAME --param latency_ms=0,1": "Variant",
}
"""To a text that each prints of that LLM."""
ONLY_REFUSALS = (
    "tune prompt sums --llm NAME",
    "tune prompt sums --llm scripted:a --reflection-llm NAME",
)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace_files = WorkspaceFiles(tmp_path_factory.mktemp("llm_names"))
    workspace_files.add_tests(2)
    workspace_files.add_llm("a", "4 from a", label="Model A")
    workspace_files.add_llm("b", "4")
    folder = workspace_files.write()
    run_all(folder)
    workspace_files.add_tests(1)
    workspace_files.write()
    run_all(folder)
    return folder


@pytest.fixture
def folder(asked: Path, tmp_path: Path) -> Path:
    return shutil.copytree(asked, tmp_path / "bench")


def call(folder: Path, command: str, name: str) -> int:
    words = [name if word == "NAME" else word for word in command.split()]
    return main(["--data", str(folder), *words])


@pytest.mark.parametrize("command", COMMANDS)
def test_an_llm_is_found_by_each_of_its_names(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    for name in NAMES:
        assert call(folder, command, name) in {0, 1}, name
        printed = capsys.readouterr().out
        assert COMMANDS[command] in printed, name
        assert "scripted:b" not in printed or "scripted:b" in command


@pytest.mark.parametrize("command", [*COMMANDS, *ONLY_REFUSALS])
def test_an_unknown_llm_is_an_error_that_names_the_nearest(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert call(folder, command, "scripted:aa") == 2
    printed = capsys.readouterr()
    assert "scripted:aa" in printed.err
    assert "`scripted:a`" in printed.err
    assert "pending" not in printed.out


def test_an_old_id_chooses_one_llm_only(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(folder, "results --json --llm NAME", "scripted:a:false") == 0
    shown = json.loads(capsys.readouterr().out)
    assert {result["llm_id"] for result in shown} == {"scripted:a"}
    assert call(folder, "status --json --llm NAME", "scripted:a:false") == 0
    assert "scripted:b" not in capsys.readouterr().out


def test_results_of_an_llm_that_was_removed_are_found_by_its_id(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = json.loads((folder / "llms.json").read_text())["llms"]
    (folder / "llms.json").write_text(json.dumps({"llms": entries[:1]}))
    assert call(folder, "results --llm NAME", "scripted:b") == 0
    assert "scripted:b" in capsys.readouterr().out
    assert call(folder, "results --llm NAME", "scripted:bb") == 2
    assert "`scripted:b`" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    ["status", "report", "report --format csv", "issues --json", "compare before:last now"],
)
def test_a_model_that_only_has_results_may_be_chosen(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    entries = json.loads((folder / "llms.json").read_text())["llms"]
    (folder / "llms.json").write_text(json.dumps({"llms": entries[:1]}))
    for pattern in ("scripted:b", "*:b"):
        assert call(folder, f"{command} --llm NAME", pattern) == 0
        printed = capsys.readouterr().out
        assert "scripted:b" in printed or "issues" in command
        assert "scripted:a" not in printed
        assert "Model A" not in printed
    assert call(folder, f"{command} --llm NAME", "scripted:bb") == 2
    assert "`scripted:b`" in capsys.readouterr().err


def test_status_counts_the_results_of_a_model_that_is_not_in_llms_json(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = json.loads((folder / "llms.json").read_text())["llms"]
    (folder / "llms.json").write_text(json.dumps({"llms": entries[:1]}))
    assert call(folder, "status --llm NAME", "scripted:b") == 0
    assert capsys.readouterr().out == "scripted:b: 3 results; not in llms.json.\n"
    assert call(folder, "status --json --llm NAME", "scripted:b") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["n_results_of_removed_llms"] == {"scripted:b": 3}
    assert call(folder, "run --llm NAME", "scripted:b") == 2


def test_an_llm_that_is_switched_off_is_named_by_its_old_id(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = json.loads((folder / "llms.json").read_text())["llms"]
    (folder / "llms.json").write_text(json.dumps({"llms": [entries[0] | {"enabled": False}]}))
    assert call(folder, "status --json --llm NAME", "scripted:a:false") == 0
    assert "scripted:a" in capsys.readouterr().out


@pytest.mark.parametrize("written", NAMES)
def test_a_gate_is_about_the_llm_of_an_old_id(
    folder: Path, capsys: pytest.CaptureFixture[str], written: str
) -> None:
    gates = [{"llm_id": written, "min_score": 0.9}]
    (folder / "gates.yaml").write_text(json.dumps({"gates": gates}))
    assert main(["--data", str(folder), "gate", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    checked = [outcome for outcome in told["gates"] if outcome["gate"] == "min_score"]
    assert [outcome["llm_id"] for outcome in checked] == ["scripted:a"]


def test_a_gate_about_an_llm_named_by_its_old_id_fails_if_it_never_ran(folder: Path) -> None:
    (folder / "results.json").write_text('{"results": {}}')
    assert call(folder, "gate --min-score 0.1 --llm NAME", "scripted:a:false") == 1
