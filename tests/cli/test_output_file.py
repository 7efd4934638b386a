from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.cli.main import main
from tests.conftest import WorkspaceFiles

EVERY_REPORT = ".csv, .json, .xml, .md, .html or .htm"


@pytest.mark.parametrize(
    ("command", "endings"),
    [
        (["report", "--output"], EVERY_REPORT),
        (["suite", "run", "example", "--html"], ".html or .htm"),
        (["suite", "run", "example", "--junit"], ".xml"),
        (["suite", "report", "last", "--output"], ".json"),
        (["suite", "import", "miniwob", "--output"], ".yaml or .yml"),
        (["judge", "run", "a", "--html"], ".html or .htm"),
        (["judge", "report", "last", "--html"], ".html or .htm"),
        (["tune", "params", "all", "--llm", "a", "--param", "x=1", "--html"], ".html or .htm"),
    ],
)
def test_an_ending_that_does_not_fit_is_refused_with_those_that_do(
    workspace_files: WorkspaceFiles,
    tmp_path: Path,
    command: list[str],
    endings: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder, output = workspace_files.write(), tmp_path / "x.docx"
    assert main(["--data", str(folder), *command, str(output)]) == 2
    assert f"x.docx: the name must end in {endings}" in capsys.readouterr().err
    assert not output.exists()


def test_a_report_of_no_known_form_is_written_where_the_form_is_named(
    workspace_files: WorkspaceFiles, tmp_path: Path
) -> None:
    folder, output = str(workspace_files.write()), tmp_path / "report"
    assert main(["--data", folder, "report", "--output", str(output)]) == 2
    assert main(["--data", folder, "report", "--output", str(output), "--format", "md"]) == 0
    assert output.exists()
