"""The option for the lowest level of isolation at which code of models is run."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from poor_bench.cli.context import AppContext
    from poor_bench.models.test import Test
    from poor_bench.sandbox import Level

sandbox_option = click.option(
    "--sandbox",
    "--require-sandbox",
    "sandbox_level",
    metavar="LEVEL",
    help="Lowest sandbox level to accept: process, limits, isolated (default) or full.",
)


def choose_sandbox(name: str | None) -> None:
    """Accept the level that the option names in this process, and demand it.

    Raises:
        click.UsageError: If there is no level of that name.
        ConfigError: If this machine cannot give it; the message says what is missing and why.
        SandboxError: If processes cannot be started.
    """
    if name is None:
        return
    from poor_bench.sandbox import accept_level, require_level

    level = _level_named(name)
    require_level(level)
    accept_level(level)


def agree_on_sandbox(app: AppContext, tests: Iterable[Test]) -> None:
    """Warn of a weak sandbox before tests run code of models, and ask on a terminal to accept it.

    Raises:
        ConfigError: If nobody accepts it.
        SandboxError: If processes cannot be started.
    """
    if not _run_code(app, tests):
        return
    from poor_bench.errors import ConfigError
    from poor_bench.sandbox import accept_level, sandbox_terms, weakness_of
    from poor_bench.workspace_runner import accept_level_of

    accept_level_of(app.data_dir)
    terms = sandbox_terms()
    may_ask = terms.is_refused and not terms.is_chosen and _is_somebody_there()
    if terms.is_refused and not may_ask:
        raise ConfigError(terms.refusal, hint=terms.way_out)
    if weakness := weakness_of(terms.status):
        click.echo(f"Warning: {weakness}.", err=True)
    if not may_ask:
        return
    if not click.confirm("Run code of models all the same?", default=False, err=True):
        raise ConfigError(terms.refusal, hint=terms.way_out)
    accept_level(terms.status.level)


def _run_code(app: AppContext, tests: Iterable[Test]) -> bool:
    from poor_bench.runner.identity import spec_of

    specs = (spec_of(app.workspace, test) for test in tests)
    return any(app.evaluators.get(spec.name).runs_code(spec.parameters) for spec in specs)


def _is_somebody_there() -> bool:
    """True if somebody sits before a terminal; nobody else can accept."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _level_named(name: str) -> Level:
    from poor_bench.sandbox import parse_level

    try:
        return parse_level(name)
    except ValueError as error:
        raise click.UsageError(f"--sandbox: {error}") from error
