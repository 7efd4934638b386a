from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

from poor_bench.command_line import next_command, quote_word, use_workspace, write_examples
from tests.browser.served import hold_port
from tests.conftest import WorkspaceFiles

ROOT = Path(__file__).parents[1]


def started(*command: str, cwd: Path = ROOT) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.slow(reason="starts Python for each case")
def test_the_interpreter_and_the_script_stand_as_they_were_typed() -> None:
    shown = started(sys.executable, "main.py", "run", "--data", "absent")
    assert f"`{shlex.quote(sys.executable)} main.py init absent`" in shown


@pytest.mark.slow(reason="starts Python for each case")
def test_a_script_of_another_folder_keeps_its_path(tmp_path: Path) -> None:
    script = str(ROOT / "main.py")
    shown = started(sys.executable, script, "run", "--data", "absent", cwd=tmp_path)
    assert f"{script} init absent`" in shown


@pytest.mark.slow(reason="starts Python for each case")
@pytest.mark.skipif(os.name == "nt", reason="the shells of Windows set variables in other ways")
def test_the_proposed_test_of_a_new_evaluator_runs_from_another_folder(tmp_path: Path) -> None:
    script = str(ROOT / "main.py")
    folder = tmp_path / "my bench"
    started(sys.executable, script, "init", "my bench", cwd=tmp_path)
    shown = started(
        sys.executable, script, "--data", str(folder), "evaluators", "new", "mine", cwd=tmp_path
    )
    command = shown.split("Run its test: ")[1].strip()
    done = subprocess.run(
        command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Ran 4 tests" in done.stderr


@pytest.mark.slow(reason="starts Python for each case")
def test_the_module_is_started_as_a_module() -> None:
    shown = started(sys.executable, "-m", "poor_bench", "run", "--data", "absent")
    assert f"{sys.executable} -m poor_bench init absent`" in shown


def test_help_and_usage_name_the_program_as_it_was_started() -> None:
    shown = started(sys.executable, "-m", "poor_bench", "run", "--help")
    assert f"Usage: {sys.executable} -m poor_bench run" in shown
    assert f"  {sys.executable} -m poor_bench run --dry-run" in shown
    assert "main.py" not in shown


@pytest.mark.slow(reason="starts Python for each case")
def test_the_script_of_the_dashboard_serves_it_at_the_printed_link(
    workspace_files: WorkspaceFiles,
) -> None:
    with hold_port() as port:
        command = [sys.executable, "-u", "dashboard.py", "--port", str(port)]
        data = ["--data", str(workspace_files.write())]
        with subprocess.Popen([*command, *data], cwd=ROOT, stdout=-1, text=True) as process:
            try:
                assert process.stdout is not None
                printed = next(line for line in process.stdout if "?token=" in line)
                link = re.findall(r"http://127\S+", printed)[0]
                with build_opener(HTTPCookieProcessor()).open(link) as answer:
                    assert b"poor_bench" in answer.read()
            finally:
                process.terminate()


def test_the_dashboard_proposes_commands_of_the_console(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["there/dashboard.py"])
    monkeypatch.setattr(sys, "orig_argv", ["python3.12", "there/dashboard.py"])
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
    assert next_command("rescore") == "python3.12 there/main.py rescore"


def test_an_installed_program_goes_by_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "poor-bench"
    script.touch(mode=0o755)
    monkeypatch.setattr(sys, "argv", [str(script)])
    monkeypatch.setattr(sys, "orig_argv", ["/usr/bin/python3", str(script)])
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert next_command("run") == "poor-bench run"
    monkeypatch.setenv("PATH", "/nowhere")
    assert next_command("run") == f"{script} run"


def test_what_the_shell_would_read_otherwise_is_quoted() -> None:
    use_workspace(Path("my bench"))
    line = next_command("run --llm", "ollama:*", "it's")
    assert shlex.split(line)[-6:] == ["--data", "my bench", "run", "--llm", "ollama:*", "it's"]


def test_another_workspace_is_not_led_to_this_one() -> None:
    use_workspace(Path("mine"))
    assert "mine" not in next_command("init FOLDER", in_workspace=False)


def test_examples_name_the_program() -> None:
    assert write_examples("\n  {program} run\n").endswith("main.py run\n")
    assert quote_word("plain") == "plain"


@pytest.mark.slow(reason="starts Python for each case")
def test_no_message_names_the_program_itself() -> None:
    allowed = {"command_line.py", "init.py"}
    literal = [
        f"{path}: {text}"
        for path in (ROOT / "poor_bench").rglob("*.py")
        if path.name not in allowed
        for text in texts_in(path)
        if "main.py" in text
    ]
    assert literal == []


def texts_in(path: Path) -> Iterator[str]:
    """Yield the strings of a module that are no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in documentation:
            yield node.value
