from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.cli import screen
from poor_bench.cli.main import main
from poor_bench.cli.output import print_table, write_plain_table
from poor_bench.cli.screen import Screen, build_table
from poor_bench.messages import harmless
from tests.conftest import WorkspaceFiles
from tests.runner.running import run_all

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("width", [10, 40, 80])
def test_figures_and_names_are_never_cut(width: int) -> None:
    table = build_table(
        [
            {"LLM": "scripted:a-rather-long-name", ">Score": "0.123", ">95 % CI": "0.57-1.00"},
            {"LLM": "b", ">Score": "1.000", ">95 % CI": "0.44-1.00"},
        ]
    )
    output = io.StringIO()
    Screen(file=output, width=width).print(table)
    text = output.getvalue()
    assert "Score" in text
    assert "0.123" in text
    assert "0.57-1.00" in text
    assert "scripted:a-r" in text


CELLS = (
    st.text(st.sampled_from("ab 1.\u00e9\u4e2d\u1100\U0001f600\u0301\u200d\ufe0f\n\t[]/\\"))
    | st.text()
)


@given(
    headings=st.lists(
        st.sampled_from(["LLM", ">Score", "\u4e2d", ">n [1]"]), min_size=1, unique=True
    ),
    rows=st.lists(st.lists(CELLS, min_size=4, max_size=4), min_size=1, max_size=4),
    hides_empty=st.booleans(),
)
def test_a_table_in_a_pipe_is_what_rich_would_write(
    headings: list[str], rows: list[list[str]], hides_empty: bool
) -> None:
    cells = [dict(zip(headings, row, strict=False)) for row in rows]
    plain = write_plain_table(cells, hides_empty=hides_empty)
    output = io.StringIO()
    Screen(file=output).print(build_table(cells, hides_empty=hides_empty))
    assert plain in {output.getvalue(), None}


def test_a_table_that_is_wide_or_has_broken_lines_is_left_to_rich() -> None:
    assert write_plain_table([{"a": "b", ">c": "1"}], hides_empty=False) is not None
    for text in ("two\nlines", "x" * 300, " blank"):
        assert write_plain_table([{"a": text}], hides_empty=False) is None
    assert write_plain_table([], hides_empty=False) is None


def test_colours_that_are_asked_for_reach_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(screen, "build_table", None)
        print_table([{"a": "b"}])
    assert "\x1b[" not in capsys.readouterr().out
    monkeypatch.setenv("FORCE_COLOR", "1")
    print_table([{"a": "b"}])
    assert "\x1b[" in capsys.readouterr().out


def test_control_characters_become_visible() -> None:
    assert harmless("a\x1b[31mb\x07\u202ec\n\td") == "a\u241b[31mb\u2407⟨U+202E⟩c\n\td"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace_files = WorkspaceFiles(tmp_path_factory.mktemp("output"))
    workspace_files.add_tests(300)
    workspace_files.add_llm("a", "4")
    folder = workspace_files.write()
    run_all(folder)
    return folder


@pytest.mark.slow(reason="starts the console for each command")
@pytest.mark.parametrize("command", ["status", "results", "results --json", "tests list", "--help"])
def test_reader_that_goes_away_is_no_error(folder: Path, command: str) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    arguments = [sys.executable, "main.py", "--data", str(folder), *command.split()]
    finished = subprocess.run(
        arguments, cwd=ROOT, stdout=write_end, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(write_end)
    assert (finished.returncode, finished.stderr) == (0, "")


def test_ids_that_look_like_markup_are_shown_as_they_are(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace_files.add_tests(1, test_id="[bold]m[/]")
    workspace_files.add_llm("a", "4")
    folder = workspace_files.write()
    run_all(folder)
    assert main(["--data", str(folder), "results", "[bold]m[/]"]) == 0
    assert "[bold]m[/]  scripted:a" in capsys.readouterr().out


@pytest.mark.slow(reason="starts the console for each case")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_error(folder: Path, closed: str) -> None:
    shell = f'"$0" main.py --data "$1" run --force --level 1 {closed}'
    finished = subprocess.run(
        ["sh", "-c", shell, sys.executable, str(folder)], cwd=ROOT, capture_output=True, check=False
    )
    assert finished.returncode == 0
    assert b"Traceback" not in finished.stderr
