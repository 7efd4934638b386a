"""Command lines that messages propose: those of this program, as the user started it.

Every hint, next step and example in this package is built here, so that it can be pasted into the
shell: with the name under which the program runs, the workspace of this process, and quotes.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

_PROJECT = Path(__file__).resolve().parent.parent
_SCRIPT = "main.py"
_STARTERS = frozenset({_SCRIPT, "dashboard.py"})
"""Files of the project that start the program; each has the console beside it."""
_INSTALLED = "poor-bench"
_MODULES = frozenset({"poor_bench", "main"})


@dataclass(slots=True)
class _Given:
    """What the user gave when starting this process."""

    workspace: Path | None = None


_given = _Given()


def use_workspace(folder: Path | None) -> None:
    """Remember the workspace that proposed commands must name.

    Args:
        folder: The folder as the user wrote it; None if it need not be written.
    """
    _given.workspace = folder


def next_command(words: str, *arguments: str | Path, in_workspace: bool = True) -> str:
    """Build a command line of this program, such as `python main.py --data my_bench report`.

    Args:
        words: The command and its options, written as they stand.
        arguments: Further words, which are quoted for the shell.
        in_workspace: False for a command that does not read the workspace of this process.
    """
    workspace = _given.workspace if in_workspace else None
    data = [] if workspace is None else ["--data", quote_word(workspace)]
    return " ".join([find_program(), *data, words, *map(quote_word, arguments)])


def write_examples(text: str) -> str:
    """Build the examples under a `--help`.

    Args:
        text: One example on each line; `{program}` stands for the program.
    """
    lines = text.strip("\n").replace("{program}", find_program())
    return f"\b\nExamples:\n{lines}\n"


def find_program() -> str:
    """Name this program as the user typed it, such as `python3 main.py` or `poor-bench`."""
    started = Path(sys.argv[0]) if sys.argv else Path()
    module = getattr(sys.modules.get("__main__"), "__spec__", None)
    if module is not None and (name := module.name.removesuffix(".__main__")) in _MODULES:
        return f"{find_interpreter()} -m {name}"
    if started.name in _STARTERS:
        return f"{find_interpreter()} {quote_word(started.with_name(_SCRIPT))}"
    if started.stem == _INSTALLED:
        return _INSTALLED if _is_on_path(started) else quote_word(started)
    return f"python {_SCRIPT}" if (_PROJECT / _SCRIPT).is_file() else _INSTALLED


def write_python_command(words: str, *arguments: str | Path) -> str:
    """Build a command line of the interpreter that runs this program, such as for `-m pip`."""
    return " ".join([find_interpreter(), words, *map(quote_word, arguments)])


def write_importing_command(words: str, *arguments: str | Path) -> str:
    """Build a command line of this interpreter for code that imports `poor_bench`.

    A program that was started by its path, from another folder, is not importable there without
    `PYTHONPATH`.
    """
    command = write_python_command(words, *arguments)
    started = Path(sys.argv[0]) if sys.argv else Path()
    is_elsewhere = started.name in _STARTERS and started.resolve().parent != Path.cwd()
    if os.name == "nt" or not is_elsewhere:
        return command
    return f"PYTHONPATH={quote_word(started.resolve().parent)} {command}"


def find_interpreter() -> str:
    """Name the Python interpreter as the user typed it; else its path, or `python` for short."""
    typed = sys.orig_argv[0] if sys.orig_argv else ""
    if typed and Path(typed).stem != _INSTALLED and not _is_script_start():
        return quote_word(typed)
    return (
        "python" if _is_same(shutil.which("python"), sys.executable) else quote_word(sys.executable)
    )


def quote_word(word: str | Path) -> str:
    """Quote a word for the shell of this system."""
    if os.name != "nt":
        return shlex.quote(str(word))
    import subprocess

    return subprocess.list2cmdline([str(word)])


def _is_script_start() -> bool:
    """True if an installed script chose the interpreter, not the user."""
    return bool(sys.argv) and Path(sys.argv[0]).stem == _INSTALLED


def _is_on_path(script: Path) -> bool:
    return _is_same(shutil.which(_INSTALLED), script)


def _is_same(found: str | None, path: str | Path) -> bool:
    try:
        return found is not None and Path(found).samefile(path)
    except OSError:
        return False
