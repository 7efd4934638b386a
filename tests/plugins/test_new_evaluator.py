from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from poor_bench.cli.main import main
from poor_bench.errors import ConfigError
from poor_bench.plugins import load_evaluators
from poor_bench.plugins.new_evaluator import write_new_evaluator

ROOT = Path(__file__).parents[2]


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
    with pytest.raises(ConfigError, match="is there already"):
        write_new_evaluator("mine", tmp_path, load_evaluators([]))
    assert (tmp_path / "mine.py").read_text() == "changed"
    with pytest.raises(ConfigError, match="an evaluator 'mine' already"):
        write_new_evaluator("mine", tmp_path / "other", load_evaluators([tmp_path]))
