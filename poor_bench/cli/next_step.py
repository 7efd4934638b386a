"""What a user may type next, in the workspace that this command was given."""

from __future__ import annotations

import re
import shlex

import click
from click.core import ParameterSource

PROGRAM = "python main.py"
_ANOTHER_STEP = re.compile(rf"{PROGRAM} (?!init\b|--data\b)")


def next_command(words: str) -> str:
    """Return a further command line, such as `python main.py --data my_bench report`."""
    return in_this_workspace(f"{PROGRAM} {words}")


def in_this_workspace(text: str) -> str:
    """Return `text` with the command lines that stand in it led to the workspace of `--data`."""
    context = click.get_current_context(silent=True)
    if context is None:
        return text
    root = context.find_root()
    if root.get_parameter_source("data_dir") is not ParameterSource.COMMANDLINE:
        return text
    folder = shlex.quote(str(root.params["data_dir"]))
    return _ANOTHER_STEP.sub(lambda _: f"{PROGRAM} --data {folder} ", text)
