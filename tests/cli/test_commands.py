from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from poor_bench.cli.main import main
from poor_bench.config.edit_entries import TestEdit
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles


@pytest.fixture
def folder(workspace_files: WorkspaceFiles) -> Path:
    workspace_files.add_tests(4)
    workspace_files.add_llm("a", {"1 + 1": "4", "2 + 2": "=cmd()|4", "+": "none\x1b[2J"})
    workspace_files.add_llm("b", {"1 + 1": {"failure": "bad_request", "message": "odd"}, "+": "4"})
    return workspace_files.write()


def call(folder: Path, *arguments: str) -> int:
    return main(["--data", str(folder), *arguments])


def json_of(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_run_prints_a_table_and_says_when_nothing_is_pending(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(folder, "run", "--llm", "scripted:a") == 0
    first = capsys.readouterr().out
    assert "scripted:a" in first
    assert "2/4" in first
    assert call(folder, "run", "--llm", "scripted:a") == 0
    assert "Nothing is pending: 4 trials done" in capsys.readouterr().out


def test_run_ends_with_3_where_tests_could_not_be_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(folder, "run", "--json") == 3
    summary = json_of(capsys)
    assert (summary["n_scored"], summary["n_failed"], summary["n_pending"]) == (7, 1, 1)
    assert {row["llm_id"] for row in summary["llms"]} == {"scripted:a", "scripted:b"}


def test_run_beside_warns_where_another_process_runs_already(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = WorkspaceFolder(folder).store.open_run("20260101T000000-a", {})
    assert call(folder, "run", "--llm", "scripted:a", "--beside") == 0
    assert "both runs send" in capsys.readouterr().err
    journal.close()
    assert call(folder, "run", "--llm", "scripted:a", "--force") == 0
    assert "another process" not in capsys.readouterr().err


def test_dry_run_asks_nobody(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(folder, "run", "--dry-run", "--json") == 0
    assert json_of(capsys) == {
        "plan": {
            "kind": "run",
            "what": "scripted:a, scripted:b",
            "n_planned": 8,
            "estimated_cost_usd": 0,
        },
        "pending": {"scripted:a": 4, "scripted:b": 4},
        "rescore": 0,
        "n_disabled_tests": 0,
        "shard": None,
        "n_in_batch": 0,
        "estimated_cost_usd": 0,
        "estimated_batch_cost_usd": None,
    }
    assert not (folder / "results.json").exists()


def test_disabled_tests_are_listed_and_skipped(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit = TestEdit(test_ids=frozenset({"sum_001"}), enabled=False)
    WorkspaceFolder(folder).edit_tests(edit)
    assert call(folder, "tests", "list") == 0
    assert "4 tests, 1 disabled" in capsys.readouterr().out
    assert call(folder, "run") == 0
    assert "1 disabled test is skipped." in capsys.readouterr().out
    assert call(folder, "status", "--json") == 0
    status = json_of(capsys)
    assert status["n_disabled_tests"] == 1
    assert {row["done"] for row in status["llms"]} == {3}


def test_status_counts_done_pending_and_failed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call(folder, "run", "--class", "sums", "--level", "2-4")
    capsys.readouterr()
    assert call(folder, "status", "--json") == 0
    a, b = json_of(capsys)["llms"]
    assert (a["done"], a["pending"], a["failed"]) == (3, 1, 0)
    assert (b["done"], b["pending"], b["failed"]) == (2, 1, 1)


def test_no_command_shows_status_and_what_to_do_next(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(folder) == 0
    shown = capsys.readouterr().out
    assert "0/4" in shown
    assert f"Next: python main.py --data {folder} run" in shown


def test_results_shows_one_test_without_letting_it_command_the_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call(folder, "run")
    capsys.readouterr()
    assert call(folder, "results", "sum_003", "--llm", "scripted:a") == 0
    shown = capsys.readouterr().out
    assert "Solve: 3 + 3" in shown
    assert "none␛[2J" in shown
    assert "\x1b" not in shown


def test_failed_results_say_why(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call(folder, "run")
    capsys.readouterr()
    assert call(folder, "results", "--failed", "--json") == 0
    [row] = json_of(capsys)
    assert row["failure"] == {"kind": "bad_request", "message": "odd", "attempts": 1}
    assert "score" not in row


def test_csv_holds_no_formulas(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call(folder, "run")
    capsys.readouterr()
    assert call(folder, "report", "--format", "csv") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 8
    by_key = {(row["llm_id"], row["test_id"]): row for row in rows}
    assert by_key["scripted:a", "sum_002"]["response"] == "'=cmd()|4"
    assert by_key["scripted:b", "sum_001"]["score"] == ""
    assert by_key["scripted:b", "sum_001"]["failure"] == "odd"


@pytest.mark.parametrize("form", ["md", "json", "csv"])
def test_report_goes_to_a_file(folder: Path, tmp_path: Path, form: str) -> None:
    call(folder, "run")
    output = tmp_path / f"report.{form}"
    assert call(folder, "report", "--format", form, "--output", str(output)) == 0
    assert "scripted:a" in output.read_text()


def test_rescore_shows_what_a_new_evaluator_makes_of_old_answers(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call(folder, "run", "--llm", "scripted:a")
    evaluator = folder / "evaluators" / "has_expected.py"
    evaluator.write_text(evaluator.read_text().replace("'4'", "'none'"))
    capsys.readouterr()
    assert call(folder, "rescore", "--llm", "scripted:a", "--dry-run", "--json") == 0
    assert len(json_of(capsys)["changed"]) == 4
    assert call(folder, "rescore", "--llm", "scripted:a") == 0
    assert "4 responses scored again: 4 scores" in capsys.readouterr().out
    assert call(folder, "rescore", "--llm", "scripted:a", "--json") == 0
    assert json_of(capsys)["changed"] == []


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["runn"], 2, "Did you mean `run`"),
        (["run", "--llm", "scripted:x"], 2, "matches nothing"),
        (["run", "--level", "high"], 2, "give a number or a range"),
        (["run", "--trials", "0"], 2, "--trials"),
        (["results", "sum_999"], 2, "unknown test 'sum_999'"),
        (["results", "--repair"], 4, "does not exist"),
        (["llms", "test", "scripted:c"], 2, "unknown model"),
        (["llms", "add", "ollama", "x", "--set", "broken"], 2, "KEY=VALUE"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_wrong_use_gets_one_clear_message(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, words: str
) -> None:
    assert call(folder, *arguments) == code
    complaint = capsys.readouterr().err
    assert words in complaint
    assert "Traceback" not in complaint


def test_damaged_results_end_with_4_and_can_be_repaired(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call(folder, "run")
    snapshot = folder / "results.json"
    snapshot.write_bytes(snapshot.read_bytes()[:-30])
    damaged = snapshot.read_bytes()
    assert call(folder, "status") == 4
    assert "results --repair" in capsys.readouterr().err
    assert snapshot.read_bytes() == damaged
    assert call(folder, "results", "--repair") == 0
    assert call(folder, "status", "--json") == 0
    capsys.readouterr()


def test_many_results_are_written_to_the_file_on_demand(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POOR_BENCH_RESULTS_LIMIT", "3")
    assert call(folder, "run", "--llm", "scripted:a") == 0
    assert not (folder / "results.json").exists()
    capsys.readouterr()
    assert call(folder, "status", "--json") == 0
    seen = capsys.readouterr().out
    assert call(folder, "runs", "delete", "last", "--yes") == 2
    assert "results export" in capsys.readouterr().err
    assert call(folder, "results", "export") == 0
    assert "Wrote 4 results" in capsys.readouterr().out
    assert (folder / "results.json").read_text().count('"test_id"') == 4
    assert call(folder, "status", "--json") == 0
    assert capsys.readouterr().out == seen
    assert call(folder, "runs", "delete", "last", "--yes") == 0
    monkeypatch.setenv("POOR_BENCH_RESULTS_LIMIT", "many")
    assert call(folder, "run", "--llm", "scripted:b") == 2
    assert "must be a whole number" in capsys.readouterr().err


def test_missing_workspace_names_the_way_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(tmp_path / "nowhere", "run") == 2
    assert "main.py init" in capsys.readouterr().err


def test_llm_is_added_and_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--set", "think=false", "--size", "1.7", "--label", "Small"]
    assert call(folder, "llms", "add", "ollama", "qwen3:1.7b", *options) == 0
    capsys.readouterr()
    assert call(folder, "llms", "--no-check", "--json") == 0
    added = json_of(capsys)["llms"][-1]
    assert added["llm_id"] == "ollama:qwen3:1.7b"
    assert added["parameters"] == {"think": False}
    assert (added["label"], added["size"]) == ("Small", 1.7)


def test_prompt_goes_to_one_llm(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(folder, "llms", "test", "scripted:a", "what is 1 + 1") == 0
    assert capsys.readouterr().out.strip() == "4"


def test_run_refuses_tests_that_cannot_be_right(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace_files.add_tests(2, reference_response="five")
    workspace_files.add_llm("a", "4")
    folder = workspace_files.write()
    assert call(folder, "run") == 2
    complaint = capsys.readouterr().err
    assert "reference" in complaint
    assert "--unchecked" in complaint
    assert call(folder, "run", "--unchecked") == 0
