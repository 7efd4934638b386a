"""Evaluators of users that hang, exit or print."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from poor_bench.cli.main import main
from poor_bench.errors import EvaluatorError, PluginError
from poor_bench.plugins import LoadedEvaluator, load_evaluators, registry, sources
from poor_bench.plugins.supervised import TookTooLongError, call_supervised
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles

ROOT = Path(__file__).parents[2]


@pytest.fixture
def released() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def evaluator(folder: Path, *lines: str) -> LoadedEvaluator:
    body = "\n    ".join(lines)
    source = f'"""Mine."""\n\n\ndef evaluate(response, parameters):\n    {body}\n'
    (folder / "mine.py").write_text(source)
    return load_evaluators([folder]).get("mine")


def test_code_that_hangs_is_left_to_itself(released: threading.Event) -> None:
    with pytest.raises(TookTooLongError, match="within 0 s"):
        call_supervised(released.wait, 0.0)


def test_evaluator_that_hangs_is_a_failure_and_no_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "TIME_LIMIT_S", 0.05)
    hanging = evaluator(tmp_path, "import threading", "threading.Event().wait()")
    with pytest.raises(EvaluatorError, match=r"'mine' failed: it did not end within 0.05 s"):
        hanging.evaluate("4", {})


@pytest.mark.parametrize(
    "raised",
    ["SystemExit(3)", "KeyboardInterrupt", "GeneratorExit", "type('E', (BaseException,), {})"],
)
def test_evaluator_that_leaves_is_a_failure(tmp_path: Path, raised: str) -> None:
    with pytest.raises(EvaluatorError, match="'mine' failed"):
        evaluator(tmp_path, f"raise {raised}").evaluate("4", {})


def test_what_an_evaluator_prints_is_kept_with_its_details(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "import sys", "print('looked', response)", "print('twice', file=sys.stderr)"
    printing = evaluator(tmp_path, *lines, "return 1.0, 'right'")
    verdict = printing.evaluate("4", {})
    assert verdict.score == 1.0
    assert verdict.details.startswith("right\n\nPrinted by the evaluator:")
    assert "    looked 4\n    twice" in verdict.details
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_flood_of_an_evaluator_is_cut(tmp_path: Path) -> None:
    flooding = evaluator(tmp_path, "for _ in range(1000): print('x' * 1000)", "return 1.0, ''")
    assert len(flooding.evaluate("4", {}).details) <= 20_000


def test_threads_print_apart(capsys: pytest.CaptureFixture[str]) -> None:
    def loud() -> None:
        print("kept")

    assert call_supervised(loud, None) == (None, "kept\n")
    loud()
    assert capsys.readouterr().out == "kept\n"


def test_run_json_stays_json_whatever_evaluators_print(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("a", "4")
    folder = workspace_files.write()
    source = '"""Loud."""\nprint("imported")\n\n\ndef evaluate(response, parameters):\n'
    source += "    print('called')\n    return float('4' in response), ''\n\n\n"
    source += "def wants(parameters):\n    print('asked')\n"
    (folder / "evaluators" / "has_expected.py").write_text(source)
    assert main(["--data", str(folder), "run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_scored"] == 2


ENDS_PROCESS = """
import os, sys
from pathlib import Path
from poor_bench.errors import EvaluatorError, PluginError
from poor_bench.plugins import load_evaluators

mine = load_evaluators([Path(sys.argv[1])]).get("mine")
try:
    mine.evaluate("4", {})
except EvaluatorError as error:
    print(error, flush=True)
os._exit(7)
"""


def ended_by(folder: Path, *lines: str) -> subprocess.CompletedProcess[str]:
    evaluator(folder, *lines)
    command = [sys.executable, "-c", ENDS_PROCESS, str(folder)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_evaluator_cannot_end_the_process(tmp_path: Path) -> None:
    ended = ended_by(tmp_path, "import os", "os._exit(3)")
    assert ended.returncode == 7
    assert "evaluator 'mine' failed: it called os._exit(3)" in ended.stdout


def test_processes_that_an_evaluator_forks_may_end(tmp_path: Path) -> None:
    forking = "import os", "child = os.fork()", "child or os._exit(3)", "end = os.waitpid(child, 0)"
    ended = ended_by(tmp_path, *forking, "raise ValueError(os.waitstatus_to_exitcode(end[1]))")
    assert ended.returncode == 7
    assert "ValueError: 3" in ended.stdout


def test_crash_of_the_interpreter_names_the_line_of_the_evaluator(tmp_path: Path) -> None:
    ended = ended_by(tmp_path, "import ctypes", "ctypes.string_at(0)")
    assert ended.returncode not in {0, 7}
    assert "mine.py" in ended.stderr
    assert "line 6 in evaluate" in ended.stderr


@pytest.mark.slow(reason="starts a run in another process")
def test_run_goes_on_after_an_evaluator_that_wants_to_end_it(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("a", "4")
    folder = workspace_files.write()
    source = "import os\n\n\ndef evaluate(response, parameters):\n    os._exit(17)\n"
    (folder / "evaluators" / "has_expected.py").write_text(source)
    command = [sys.executable, "main.py", "--data", str(folder), "run", "--json", "--unchecked"]
    told = []
    for _ in range(2):
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert ended.returncode == 3, "some trials failed"
        told.append(json.loads(ended.stdout))
    assert told[0]["n_failed"] == 2
    assert told[1]["rescored"]["n_not_rescored"] == 2
    assert {result.score for result in WorkspaceFolder(folder).store.results()} == {None}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("import os; os._exit(0)", r"it called os._exit\(0\)"),
        ("raise KeyboardInterrupt", "it raised KeyboardInterrupt"),
        ("import threading; threading.Event().wait()", "it did not end within 0.05 s"),
    ],
)
def test_file_that_ends_or_hangs_while_it_is_imported_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, reason: str
) -> None:
    monkeypatch.setattr(sources, "TIME_LIMIT_S", 0.05 if "threading" in line else 60.0)
    (tmp_path / "mine.py").write_text(line)
    with pytest.raises(PluginError, match=f"mine.py cannot be imported: {reason}"):
        load_evaluators([tmp_path]).get("mine")


def test_what_a_file_prints_while_it_is_imported_goes_to_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(f"print('hello')\n{'def evaluate(r, p): return 1.0, str()'}")
    load_evaluators([tmp_path]).get("mine")
    assert tuple(capsys.readouterr()) == ("", "hello\n")
