from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from poor_bench.cli.main import main
from poor_bench.report_generator import ReportGenerator
from tests.conftest import WorkspaceFiles
from tests.runner.running import open_runner

RECORDED = Path(__file__).resolve().parents[2] / "examples" / "recorded"


@pytest.fixture
def files(workspace_files: WorkspaceFiles) -> WorkspaceFiles:
    """A workspace with two runs of two LLMs; the second run broke half of the tests of one."""
    workspace_files.add_tests(8)
    workspace_files.add_llm("a", "4", label="\x1b[2JAnn")
    workspace_files.add_llm("b", "none")
    call(workspace_files, "run")
    workspace_files.llms[0]["parameters"]["responses"] = {"/: [1-4] /": "none", "+": "4"}
    call(workspace_files, "run")
    return workspace_files


def call(files: WorkspaceFiles, *arguments: str) -> int:
    return main(["--data", str(files.write()), *arguments])


def test_table_says_who_leads_and_what_changed(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert call(files, "report", "--compare", "previous", "--allow", "parameters") == 0
    shown = capsys.readouterr().out
    assert "0.500" in shown
    assert "Broken: sum_001 (1.00 -> 0.00)" in shown
    assert "Compared although parameters changed: 8 tests" in shown
    assert "\x1b" not in shown


def test_ties_are_letters_beside_the_scores(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert call(files, "report") == 0
    shown = capsys.readouterr().out
    assert "models that share a letter do not differ" in shown
    assert call(files, "report", "--by", "class") == 0
    assert "Tied" not in capsys.readouterr().out


def test_classes_as_strata_are_shown_on_request(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert call(files, "report") == 0
    assert "Stratified" not in capsys.readouterr().out
    assert call(files, "report", "--stratify", "classes") == 0
    shown = capsys.readouterr().out
    assert "Stratified" in shown
    assert "0.500 (0." in shown


def test_times_are_told_by_phase(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded = shutil.copytree(RECORDED, tmp_path / "recorded")
    arguments = ["--data", str(recorded), "report", "--llm", "embedded:smollm2-135m"]
    assert main([*arguments, "--format", "times"]) == 0
    shown = capsys.readouterr().out
    assert "Prompt processing" in shown
    assert "Thinking" not in shown
    assert "Measured on" in shown


def test_repeated_trials_tell_how_reliable_an_llm_is(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    call(files, "run", "--trials", "2")
    capsys.readouterr()
    assert call(files, "report") == 0
    shown = capsys.readouterr().out
    assert "pass^2" in shown
    assert "Tests with 2 trials" in shown


@pytest.mark.slow(reason="takes over a quarter of a second")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("report.html", "<!DOCTYPE html>"),
        ("report.xml", "<testsuites"),
        ("report.json", '"summaries"'),
        ("report.csv", "llm_id,test_id"),
        ("report.md", "## poor_bench: 2 models, 8 tests"),
    ],
)
def test_ending_of_the_file_says_the_form(
    files: WorkspaceFiles, tmp_path: Path, name: str, words: str
) -> None:
    output = tmp_path / name
    assert call(files, "report", "--output", str(output), "--compare", "previous") == 0
    assert words in output.read_text()


def test_json_report_is_a_base_for_later_comparisons(
    files: WorkspaceFiles, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = tmp_path / "base.json"
    call(files, "report", "--output", str(base))
    capsys.readouterr()
    assert call(files, "compare", str(base), "now", "--json") == 0
    first, _ = json.loads(capsys.readouterr().out)["llms"]
    assert first["overall"]["difference"]["value"] == 0.0
    assert first["times_problem"] == ""


def test_filters_and_pass_mark_hold_for_every_form(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    arguments = ("--llm", "scripted:b", "--test", "sum_00[12]", "--pass-mark", "0.5", "--json")
    assert call(files, "report", *arguments) == 0
    told = json.loads(capsys.readouterr().out)
    assert {(row["llm_id"], row["test_id"]) for row in told["results"]} == {
        ("scripted:b", "sum_001"), ("scripted:b", "sum_002"),
    }  # fmt: skip


@pytest.mark.parametrize("form", ["table", "csv", "json", "junit", "md", "html"])
def test_workspace_without_results_has_an_empty_report(
    workspace_files: WorkspaceFiles, form: str
) -> None:
    workspace_files.add_tests(1)
    assert call(workspace_files, "report", "--format", form) == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--compare", "nothing"], "is not a model, a run or a file"),
        (["--format", "pdf"], "--format"),
        (["--output", "no/such/folder/report.html"], "cannot be written"),
    ],
)
def test_wrong_use_gets_one_clear_message(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    capsys.readouterr()
    assert call(files, "report", *arguments) == 2
    assert words in capsys.readouterr().err


def test_unknown_form_is_refused(files: WorkspaceFiles) -> None:
    generator = ReportGenerator(open_runner(files.folder).config)
    with pytest.raises(ValueError, match="unknown form 'pdf'"):
        generator.render("pdf")


def test_report_without_enabled_models_says_so(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for llm in files.llms:
        llm["enabled"] = False
    capsys.readouterr()
    for command in (["report"], ["report", "--format", "times"], ["issues"]):
        assert call(files, *command) == 0
        shown = capsys.readouterr().out
        assert "All models with results are disabled in llms.json: " in shown
        assert "No results yet" not in shown
        assert f"{command[0]} --llm scripted:a" in shown
    assert call(files, "report", "--format", "md") == 0
    assert "All models with results are disabled" in capsys.readouterr().out
    assert call(files, "report", "--output", str(tmp_path / "report.html")) == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "All models with results are disabled" in page
    assert "No results yet" not in page


def test_report_of_a_new_workspace_says_what_to_do(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("a", "4", enabled=False)
    assert call(workspace_files, "report") == 0
    shown = capsys.readouterr().out
    assert "No results yet. Next: " in shown
    assert "disabled" not in shown


def test_uncertainty_names_its_sources_and_what_to_buy_next(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert call(files, "report", "--budget", "80 calls", "--llm", "scripted:a") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "no test has a second trial" in shown
    assert "Best for 80 calls: 80 more tests with 1 trial each narrow it to ±" in shown
    assert call(files, "report", "--budget", "5", "--llm", "scripted:a") == 0
    assert "The stored results have no costs" in " ".join(capsys.readouterr().out.split())
    assert (
        call(
            files, "report", "--uncertainty", "--llm", "scripted:a", "--llm", "scripted:b", "--json"
        )
        == 0
    )
    rows = json.loads(capsys.readouterr().out)["uncertainty"]
    assert [row["llm_ids"] for row in rows] == [
        ["scripted:a"],
        ["scripted:b"],
        ["scripted:a", "scripted:b"],
    ]
    assert rows[0]["shares"] == {"tests": None, "trials": None}


@pytest.mark.slow(reason="takes over a quarter of a second")
@pytest.mark.parametrize("text", ["0", "five", "-3", "10 apples"])
def test_a_budget_that_is_not_an_amount_is_refused(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    assert call(files, "report", f"--budget={text}") == 2
    assert "give dollars (5.00), '200 calls' or '30 min'" in capsys.readouterr().err
