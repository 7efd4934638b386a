from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from poor_bench.cli.main import main
from poor_bench.errors import PluginError
from poor_bench.plugins import load_evaluators
from tests.conftest import WorkspaceFiles

PARAMETERS = """\
from pydantic import BaseModel, model_validator


class Parameters(BaseModel):
    @model_validator(mode="before")
    @classmethod
    def check(cls, values):
        return values["absent"]


def evaluate(response, parameters):
    return 1.0, ""
"""


def place(folder: Path, source: str) -> str:
    """Name file and line of what crashes in a source."""
    lines = source.splitlines()
    number = next(n for n, line in enumerate(lines, 1) if "absent" in line or "1 / 0" in line)
    return f"{folder / 'evaluators' / 'has_expected.py'}:{number}"


@pytest.fixture
def folder(workspace_files: WorkspaceFiles) -> Path:
    workspace_files.add_tests(1)
    workspace_files.add_llm("a", ["4"])
    return workspace_files.write()


def broken(folder: Path, source: str) -> str:
    (folder / "evaluators" / "has_expected.py").write_text(source)
    return place(folder, source)


def test_a_crash_in_a_run_is_shown_and_stored_with_its_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = "import json\n\n\ndef evaluate(response, parameters):\n    return 1 / 0, ''\n"
    where = broken(folder, source)
    assert main(["run", "--unchecked", "--data", str(folder)]) == 3
    assert f"ZeroDivisionError: division by zero ({where})" in capsys.readouterr().err
    assert main(["results", "--failed", "--data", str(folder), "--json"]) == 0
    assert f"division by zero ({where})" in capsys.readouterr().out


def test_a_crash_in_a_library_names_the_line_that_called_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = "import json\n\n\ndef evaluate(response, parameters):\n    json.loads('absent')\n"
    where = broken(folder, source)
    assert main(["run", "--unchecked", "--data", str(folder)]) == 3
    assert f"({where})" in capsys.readouterr().err


@pytest.mark.parametrize(
    "source",
    [
        "def evaluate(response, parameters):\n    return 1.0, ''\n\n\nabsent.name",
        "def evaluate(response, parameters):\n    return 1.0, 'absent\n",
        PARAMETERS,
    ],
    ids=["import", "syntax", "parameters"],
)
@pytest.mark.parametrize("command", ["validate", "doctor"])
def test_checks_name_the_line_of_a_crash(
    folder: Path, source: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    where = broken(folder, source)
    assert main([command, "--data", str(folder)]) != 0
    told = capsys.readouterr()
    assert where in told.out + told.err


def test_an_illegal_verdict_names_the_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = "def evaluate(response, parameters):\n    return 7\n"
    (folder / "evaluators" / "has_expected.py").write_text(source)
    assert main(["run", "--unchecked", "--data", str(folder)]) == 3
    assert f"got int 7 ({folder / 'evaluators' / 'has_expected.py'})" in capsys.readouterr().err


def test_a_check_that_scores_names_the_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = broken(folder, "def evaluate(response, parameters):\n    return 1.0, absent\n")
    assert main(["validate", "--data", str(folder)]) != 0
    assert where in capsys.readouterr().out


def test_a_further_function_names_the_line(write: Callable[[str, str], Path]) -> None:
    source = "def evaluate(r, p):\n    return 1.0, ''\n\n\ndef reference(p):\n    return absent\n"
    folder = write("mine", source)
    with pytest.raises(PluginError, match=r"mine\.py: reference failed: .*mine\.py:6\)"):
        load_evaluators([folder]).get("mine").reference({})
