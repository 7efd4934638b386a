"""The package installed from a wheel, without the project beside it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow(reason="builds and installs a wheel")

ROOT = Path(__file__).parents[2]
BUILD = "from setuptools import build_meta; import sys; build_meta.build_wheel(sys.argv[1])"
COMMAND = "import sys; from poor_bench.cli.main import main; sys.exit(main(sys.argv[1:]))"
SOURCES = ("pyproject.toml", "setup.py", "requirements.txt", "README.md")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Return a folder that holds what a wheel installs."""
    project, wheels, target = (
        tmp_path_factory.mktemp(name) for name in ("project", "wheels", "target")
    )
    for folder in ("poor_bench", "evaluators", "data/playbooks"):
        shutil.copytree(
            ROOT / folder, project / folder, ignore=shutil.ignore_patterns("__pycache__")
        )
    for name in SOURCES:
        shutil.copy(ROOT / name, project)
    subprocess.run(
        [sys.executable, "-c", BUILD, wheels], cwd=project, check=True, capture_output=True
    )
    with zipfile.ZipFile(next(wheels.glob("*.whl"))) as wheel:
        wheel.extractall(target)
    return target


@pytest.fixture
def run(installed, tmp_path):
    def run(*arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "-P", "-c", COMMAND, *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(installed)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    return run


def test_installed_package_has_the_built_in_evaluators(run):
    names = {
        entry["name"] for entry in json.loads(run("evaluators", "list", "--json"))["evaluators"]
    }
    assert names == {path.stem for path in (ROOT / "evaluators").glob("[!_]*.py")}


def test_installed_package_makes_a_workspace_that_is_valid(run, tmp_path):
    run("init", "bench")
    assert "no problems" in run("--data", "bench", "validate")
    run("--data", "bench", "evaluators", "new", "word_count")
    assert (tmp_path / "bench" / "evaluators" / "word_count.py").exists()


def test_installed_package_finds_the_playbooks_that_come_with_it(run):
    pytest.importorskip("miniwob")
    run("suite", "import", "miniwob", "--task", "click-test", "--output", "miniwob.yaml")
    assert "0 errors" in run("suite", "validate", "miniwob.yaml")
    assert "0 errors" in run("suite", "validate")
