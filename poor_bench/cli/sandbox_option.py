"""The option that refuses to run model-written code below a level of isolation."""

from __future__ import annotations

import click

require_sandbox_option = click.option(
    "--require-sandbox",
    metavar="LEVEL",
    help="Refuse to run below this isolation of code: process, limits, isolated or full.",
)


def demand_sandbox(name: str | None) -> None:
    """Make sure that code is locked in at least as well as the option demands.

    Raises:
        click.UsageError: If there is no level of that name.
        ConfigError: If this machine cannot give it; the message says what is missing and why.
        SandboxError: If processes cannot be started.
    """
    if name is None:
        return
    from poor_bench.sandbox import parse_level, require_level

    try:
        level = parse_level(name)
    except ValueError as error:
        raise click.UsageError(f"--require-sandbox: {error}") from error
    require_level(level)
