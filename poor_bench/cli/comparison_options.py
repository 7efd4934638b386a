"""Options that say how results are compared."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from poor_bench.comparison.compared_tests import Mismatch

_Command = TypeVar("_Command", bound=Callable[..., Any])
_CHANGES = ("prompt", "parameters", "model", "evaluator")
pass_mark_option = click.option(
    "--pass-mark",
    type=click.FloatRange(0, 1, min_open=True),
    default=1.0,
    show_default=True,
    help="Lowest score at which a test passes.",
)
rescore_option = click.option(
    "--rescore",
    is_flag=True,
    help="Score both sides again with the current evaluators first.",
)
_OPTIONS = (
    pass_mark_option,
    click.option(
        "--allow",
        "allow",
        type=click.Choice([*_CHANGES, "all"]),
        multiple=True,
        help="Compare tests even if this changed. Default: such tests are listed, not compared.",
    ),
)


def comparison_options(function: _Command) -> _Command:
    """Give a command the options `--pass-mark` and `--allow`."""
    return functools.reduce(
        lambda decorated, option: option(decorated), reversed(_OPTIONS), function
    )


def allowed_changes(words: tuple[str, ...]) -> frozenset[Mismatch]:
    """Return the changes that the words of `--allow` name."""
    from poor_bench.comparison.compared_tests import Mismatch

    chosen = _CHANGES if "all" in words else words
    return frozenset(Mismatch(word) for word in chosen)
