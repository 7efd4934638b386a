"""The filters that several commands take."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from poor_bench.runner.selection import Selection

_Command = TypeVar("_Command", bound=Callable[..., Any])
_OPTIONS = (
    click.option("--llm", "llms", multiple=True, metavar="ID", help="Model id, label or glob."),
    click.option("--class", "classes", multiple=True, metavar="ID", help="Test class id or glob."),
    click.option("--level", "levels", multiple=True, metavar="N|N-M", help="Level or range."),
    click.option("--test", "tests", multiple=True, metavar="ID", help="Test id or glob."),
    click.option("--tag", "tags", multiple=True, metavar="TAG", help="Tag or glob."),
)
_LEVELS = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?")


def selection_options(function: _Command) -> _Command:
    """Give a command the options `--llm --class --level --test --tag`, all repeatable."""
    return functools.reduce(
        lambda decorated, option: option(decorated), reversed(_OPTIONS), function
    )


def selection_from(
    filters: dict[str, tuple[str, ...]], *, trials: int = 1, force: bool = False
) -> Selection:
    """Return the selection that the options of `selection_options` describe.

    Raises:
        click.UsageError: If a level is not a number or a range.
    """
    from poor_bench.runner.selection import Selection

    return Selection(
        llms=filters["llms"],
        classes=filters["classes"],
        levels=frozenset(level for text in filters["levels"] for level in levels_in(text)),
        tests=filters["tests"],
        tags=filters["tags"],
        trials=trials,
        force=force,
    )


def levels_in(text: str) -> range:
    """Return the levels that a text such as `3` or `1-3` means.

    Raises:
        click.UsageError: If it is neither.
    """
    match = _LEVELS.fullmatch(text)
    if match is None:
        raise click.UsageError(f"--level {text!r}: give a number or a range such as 1-3")
    low = int(match[1])
    return range(low, int(match[2] or low) + 1)
