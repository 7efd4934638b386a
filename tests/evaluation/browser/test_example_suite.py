"""The suite that comes along, as a user runs it: its server, its playbooks, its scripted LLMs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from poor_bench.cli.main import main
from poor_bench.evaluation.stored_run import find_suite_run
from poor_bench.evaluation.suite_file import read_suite

PROJECT = Path(__file__).parents[3]
EXAMPLE = PROJECT / "poor_bench" / "evaluation" / "suites" / "example.yaml"
pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("chromium")]


def test_all_cases_pass_and_every_step_has_its_screenshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_PASSWORD", "not-to-be-stored")
    command = ["--data", str(tmp_path), "suite", "run", str(EXAMPLE), "--parallel", "2"]
    html = tmp_path / "report.html"
    assert main([*command, "--html", str(html)]) == 0
    run = find_suite_run(tmp_path, "last")
    report = run.report()
    assert report.total == len(read_suite(EXAMPLE).cases)
    assert (report.failed, report.not_run, report.handoff_rescue_rate) == (0, 0, 1.0)
    for case in report.case_results:
        for trial in case.trial_results:
            steps = run.steps(trial)
            assert steps
            assert all((run.folder / trial.artifacts / step.screenshot).is_file() for step in steps)
    stored = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(b"not-to-be-stored" in content for content in stored)


def test_what_an_agent_did_becomes_a_playbook_that_passes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = ["--data", str(tmp_path)]
    case = ["--case", "agent-cancel-order"]
    assert main([*data, "suite", "run", str(EXAMPLE), *case]) == 0
    assert main([*data, "suite", "record", "agent-cancel-order", "--name", "cancel"]) == 0
    assert "1 of 1 case passed" in capsys.readouterr().out
    assert main([*data, "suite", "record", "agent-cancel-order", "--name", "cancel"]) == 2
    shutil.rmtree(tmp_path / "suite_runs")
    assert main([*data, "suite", "record", "agent-cancel-order"]) == 2
