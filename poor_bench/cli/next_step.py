"""Next steps that keep the filters of the command that proposes them."""

from __future__ import annotations

from collections.abc import Iterator

import click
from click.core import ParameterSource

from poor_bench.command_line import next_command

_FILTERS = frozenset({"--llm", "--class", "--level", "--test", "--tag", "--trials"})


def next_step(words: str) -> str:
    """Build a further command line with the filters that the running command was given.

    Args:
        words: A command that takes the filters of the running command.
    """
    context = click.get_current_context(silent=True)
    return next_command(words, *([] if context is None else _given_filters(context)))


def _given_filters(context: click.Context) -> Iterator[str]:
    for parameter in context.command.params:
        option = next((name for name in parameter.opts if name in _FILTERS), None)
        name = parameter.name or ""
        if option and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            value = context.params[name]
            for each in value if parameter.multiple else (value,):
                yield from (option, str(each))
