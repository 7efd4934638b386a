from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from poor_bench.cli.main import main
from poor_bench.errors import ConfigError
from poor_bench.issues.detect import detect_issues
from poor_bench.plugins import load_evaluators
from poor_bench.plugins.detectors import load_detectors
from poor_bench.plugins.new_plugin import write_new_detector, write_new_evaluator
from tests.issues.builders import scored

ROOT = Path(__file__).parents[2]


@pytest.mark.slow(reason="starts pytest")
def test_new_evaluator_works_and_its_test_passes(tmp_path):
    folder = tmp_path / "evaluators"
    files = write_new_evaluator("word_count", folder, load_evaluators([]))
    evaluator = load_evaluators([folder]).get("word_count")
    assert evaluator.evaluate("Four", {"expected": "four"}).score == 1.0
    completed = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", files.test],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "4 passed" in completed.stdout, completed.stdout


@pytest.mark.slow(reason="takes over a quarter of a second")
def test_the_proposed_command_runs_the_test_without_further_packages(tmp_path, capsys):
    folder = tmp_path / "my bench"
    assert main(["init", str(folder)]) == 0
    assert main(["--data", str(folder), "evaluators", "new", "word_count"]) == 0
    command = capsys.readouterr().out.split("Run its test: ")[1].strip()
    assert "-m pytest" not in command
    completed = subprocess.run(
        command, shell=True, capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert "Ran 4 tests" in completed.stderr, completed.stderr
    assert completed.returncode == 0


@pytest.mark.parametrize("name", ["Word", "../x", "a-b", "", "_x", "1a", "a" * 80])
def test_name_that_cannot_be_used_is_refused(name, tmp_path):
    with pytest.raises(ConfigError, match="cannot be the name"):
        write_new_evaluator(name, tmp_path, load_evaluators([]))
    assert list(tmp_path.iterdir()) == []


def test_taken_name_is_refused_and_nothing_overwritten(tmp_path):
    write_new_evaluator("mine", tmp_path, load_evaluators([]))
    (tmp_path / "mine.py").write_text("changed")
    with pytest.raises(ConfigError, match="exists already"):
        write_new_evaluator("mine", tmp_path, load_evaluators([]))
    assert (tmp_path / "mine.py").read_text() == "changed"
    with pytest.raises(ConfigError, match="'mine' exists already"):
        write_new_evaluator("mine", tmp_path / "other", load_evaluators([tmp_path]))


def test_new_detector_finds_what_its_template_says(tmp_path):
    write_new_detector("apologises", tmp_path / "issues")
    detectors = load_detectors(tmp_path / "issues")
    results = [scored(0.0, response="I am sorry, Dave.", test_id="a"), scored(0.0, test_id="b")]
    found = {issue.detector_id: issue for issue in detect_issues(results, detectors=detectors)}
    assert found["apologises"].evidence == "sorry, Dave."
    assert (found["apologises"].test_id, found["apologises"].lost_score) == ("a", 1.0)
    assert "detector_failed" not in found


@pytest.mark.parametrize("name", ["truncated", "new", "Bad Name", "mine"])
def test_a_detector_never_takes_the_place_of_another_one(name, tmp_path):
    write_new_detector("mine", tmp_path)
    with pytest.raises(ConfigError):
        write_new_detector(name, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]
