"""Detectors of a workspace: loaded, run, and never at the expense of the others."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from poor_bench.cli.main import main
from poor_bench.issues.detect import DETECTORS, detect_issues, group_issues
from poor_bench.issues.detector import Issue, IssueSeverity
from poor_bench.models.failure import FailureKind
from poor_bench.models.result import Result
from poor_bench.plugins.detectors import load_detectors
from tests.conftest import WorkspaceFiles
from tests.issues.builders import failed, scored

GREETS = '''"""Greets first.

The answer opens with
a greeting.
"""
TRY = "Ask for the value only."
def detect(result):
    return "Hello" if result.response.startswith("Hello") else None
'''
HELLO = scored(0.0, response="Hello! 5", test_id="h")
OTHER = scored(0.0, response="5", test_id="o")


def found(folder: Path, results: Iterable[Result] = (HELLO, OTHER)) -> dict[str, Issue]:
    issues = detect_issues(results, detectors=load_detectors(folder))
    return {issue.detector_id: issue for issue in issues}


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def test_a_folder_that_does_not_exist_leaves_the_built_in_detectors(tmp_path: Path) -> None:
    assert load_detectors(tmp_path / "issues") == DETECTORS


def test_a_file_is_a_detector_with_title_meaning_and_advice(tmp_path: Path) -> None:
    detectors = load_detectors(write(tmp_path, greets=GREETS))
    issues = detect_issues([HELLO, OTHER], detectors=detectors)
    groups = group_issues(issues, detectors=detectors)
    group = next(group for group in groups if group.detector_id == "greets")
    assert (group.detector_id, group.title) == ("greets", "Greets first")
    assert group.meaning == "The answer opens with a greeting."
    assert group.advice == "Ask for the value only."
    assert (group.n_trials, group.severity) == (1, IssueSeverity.MEDIUM)
    assert group.examples[0].evidence == "Hello"


def test_a_loss_it_explains_is_charged_to_it_and_not_to_the_wrong_answer(tmp_path: Path) -> None:
    issues = found(write(tmp_path, greets=GREETS), [HELLO])
    lost = {name: issue.lost_score for name, issue in issues.items()}
    assert lost == {"greets": 1.0}


def test_a_low_one_costs_no_score(tmp_path: Path) -> None:
    issues = found(write(tmp_path, greets=GREETS + 'SEVERITY = "low"\n'), [HELLO])
    assert (issues["greets"].lost_score, issues["score_zero"].lost_score) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("broken", "line", "reason"),
    [
        ("def detect(result):\n    return result.nothing", 2, "AttributeError"),
        ("def detect(result):\n    return 7", None, "must return a text or None, not int"),
        ("def detect(result):\n    raise SystemExit(3)", 2, "SystemExit: 3"),
        ("import no_such_module", 1, "ModuleNotFoundError"),
        ("x = 1\ndef detect(result:", 2, "SyntaxError"),
        ("raise SystemExit", 1, "SystemExit"),
        ("def look(result): ...", None, "define `detect(result)`"),
        ("def detect(): ...", None, "define `detect(result)`"),
        ("detect = 5", None, "define `detect(result)`"),
        ("SEVERITY = 'x'\ndef detect(result): ...", None, "SEVERITY must be"),
    ],
)
def test_a_broken_one_is_a_finding_with_its_line_and_costs_no_other(
    tmp_path: Path, broken: str, line: int | None, reason: str
) -> None:
    issues = found(write(tmp_path, a_broken=broken, greets=GREETS))
    evidence = issues["detector_failed"].evidence
    assert (f"a_broken.py:{line}" if line else "a_broken.py") in evidence
    assert reason in evidence
    assert issues["detector_failed"].lost_score == 0.0
    assert issues["greets"].evidence == "Hello"
    assert issues["score_zero"].test_id == "o"


def test_a_crash_in_many_results_is_told_once_with_their_number(tmp_path: Path) -> None:
    folder = write(tmp_path, broken="def detect(result):\n    return result.nothing")
    detectors = load_detectors(folder)
    issues = detect_issues([HELLO, OTHER], detectors=detectors)
    [failure] = [issue for issue in issues if issue.detector_id == "detector_failed"]
    assert failure.evidence.endswith("(in 2 results)")


def test_results_that_failed_to_run_are_not_shown_to_it(tmp_path: Path) -> None:
    folder = write(tmp_path, half="def detect(result):\n    return result.score < 0.5 and 'low'")
    issues = found(folder, [failed(FailureKind.AUTH), HELLO])
    assert "detector_failed" not in issues
    assert issues["half"].test_id == "h"


def test_one_with_the_name_of_a_built_in_detector_replaces_it(tmp_path: Path) -> None:
    folder = write(tmp_path, no_answer="def detect(result):\n    return 'mine'")
    detectors = load_detectors(folder)
    assert [detector.id for detector in detectors].count("no_answer") == 1
    assert found(folder, [HELLO])["no_answer"].evidence == "mine"


def test_names_that_begin_with_an_underscore_are_helpers(tmp_path: Path) -> None:
    assert load_detectors(write(tmp_path, _helper="raise RuntimeError")) == DETECTORS


def test_the_example_of_the_documentation_works(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reports.md").read_text(encoding="utf-8")
    example = page.partition("### Your own detectors")[2].partition("```python\n")[2]
    folder = write(tmp_path, apologises=example.partition("```")[0])
    issues = found(folder, [scored(0.0, response="Sorry, no."), OTHER])
    assert issues["apologises"].evidence == "sorry"
    assert "detector_failed" not in issues


def test_validate_lists_a_broken_one(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace_files.add_tests(1)
    folder = workspace_files.write()
    (folder / "issues").mkdir()
    write(folder / "issues", broken="def detect(:", greets=GREETS)
    main(["--data", str(folder), "validate", "--json"])
    problems = json.loads(capsys.readouterr().out)["problems"]
    [problem] = [problem for problem in problems if problem["code"] == "bad-detector"]
    assert problem["file"].endswith("broken.py")
    assert "line 1" in problem["message"] or "broken.py:1" in problem["message"]
