"""Words of a command line that no argument takes, where an option would take them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import click

from poor_bench.cli.context import AppContext
from poor_bench.command_line import next_command
from poor_bench.errors import PoorBenchError

if TYPE_CHECKING:
    from poor_bench.config.workspace import Workspace

_STRAY = re.compile(r"\AGot unexpected extra arguments? \((.+)\)\Z")


def option_hints(error: click.UsageError) -> list[str]:
    """Explain by which options a command takes the words that it refused.

    Returns:
        A sentence for each known test, class, LLM, level or tag; none for other errors.
    """
    stray = _STRAY.search(error.message)
    app = error.ctx.find_object(AppContext) if error.ctx is not None else None
    if error.ctx is None or stray is None or app is None:
        return []
    try:
        return list(_hints(stray[1].split(), app.workspace, error.ctx))
    except PoorBenchError:  # the workspace cannot be read: the refusal itself says enough
        return []


def _hints(words: list[str], workspace: Workspace, context: click.Context) -> Iterator[str]:
    known = _known(workspace)
    taken = {option for parameter in context.command.params for option in parameter.opts}
    command = context.command_path.removeprefix(f"{context.find_root().command_path} ")
    for word in words:
        for option, (kind, names) in known.items():
            if option in taken and any(fnmatchcase(name, word) for name in names):
                line = next_command(command, option, word)
                yield f"{word} is a {kind}; use {option}: {line}"
                break


def _known(workspace: Workspace) -> dict[str, tuple[str, set[str]]]:
    tests, classes, llms = workspace.tests, workspace.test_classes, workspace.llms
    tags = {tag for test in tests for tag in (*test.tags, *classes[test.class_id].tags)}
    return {
        "--test": ("test", {test.test_id for test in tests}),
        "--class": ("test class", set(classes)),
        "--llm": ("model", {name for llm in llms for name in (llm.id, llm.label) if name}),
        "--level": ("level", {str(test.level) for test in tests}),
        "--tag": ("tag", tags),
    }
