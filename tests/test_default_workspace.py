"""What a newcomer finds in `data/`: checked, and small enough for a first run."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from poor_bench.workspace_folder import WorkspaceFolder
from tests.providers.embedded_file import real_model

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def config() -> WorkspaceFolder:
    return WorkspaceFolder(DATA)


def test_nothing_is_wrong_with_it(config: WorkspaceFolder) -> None:
    found = [str(finding.problem) for finding in config.lint()]

    assert [*map(str, config.workspace.problems), *found] == []


def test_every_test_has_a_reference_response(config: WorkspaceFolder) -> None:
    assert [t.test_id for t in config.workspace.tests if not t.reference_response] == []


def test_every_class_has_tests_of_five_levels(config: WorkspaceFolder) -> None:
    workspace = config.workspace
    per_level = Counter((test.class_id, test.level) for test in workspace.tests)

    assert {"math_problems", "sentiment_analysis", "python_coding"} < set(workspace.test_classes)
    assert set(per_level) == {(name, n) for name in workspace.test_classes for n in range(1, 6)}
    assert min(per_level.values()) >= 3


def test_it_asks_one_model_in_two_ways_without_key_or_network(config: WorkspaceFolder) -> None:
    llms = config.workspace.enabled_llms

    assert [llm.id for llm in llms] == ["embedded:smollm2-135m", "embedded:smollm2-135m:json"]
    assert [llm.parameters.get("response_format") for llm in llms] == [None, "class"]


def test_example_of_other_llms_is_valid(tmp_path: Path) -> None:
    for name in ("test_classes.yaml", "tests.json"):
        shutil.copy(DATA / name, tmp_path / name)
    shutil.copy(DATA / "llms.example.json", tmp_path / "llms.json")

    workspace = WorkspaceFolder(tmp_path).workspace

    assert workspace.problems == ()
    assert {llm.provider for llm in workspace.llms} >= {
        "ollama", "openai", "anthropic", "openrouter", "llamacpp", "lmstudio",
    }  # fmt: skip


@pytest.mark.embedded
def test_run_ends_with_real_scored_results_and_then_nothing_is_pending(tmp_path: Path) -> None:
    folder = shutil.copytree(DATA, tmp_path / "data", ignore=shutil.ignore_patterns("r*", "j*"))
    real_model()

    first = run_main("--data", str(folder), "run", "--test", "math_003")
    second = run_main("--data", str(folder), "run", "--test", "math_003")

    assert first.returncode == 0, first.stderr
    results = WorkspaceFolder(folder).load_results()
    assert {result.llm_id for result in results} == {
        "embedded:smollm2-135m",
        "embedded:smollm2-135m:json",
    }
    assert all(result.score is not None and "42" in result.response for result in results)
    assert "nothing is pending" in second.stdout.lower()


def run_main(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "main.py", *arguments],
        cwd=DATA.parent,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
