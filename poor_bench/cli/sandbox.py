"""`sandbox`, and `--sandbox`: the sandbox for model-written code."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.output import json_option, print_json, print_table, show_status
from poor_bench.command_line import write_examples
from poor_bench.errors import ConfigError
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from poor_bench.cli.context import AppContext
    from poor_bench.models.test import Test
    from poor_bench.sandbox.selftest import EscapeFinding


_EPILOG = write_examples(
    """
  {program} sandbox                          the active level, and what is missing
  {program} sandbox selftest                 run real escape attempts
"""
)


@click.group(invoke_without_command=True, epilog=_EPILOG)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> int:
    """Show the sandbox level of this machine, and what is missing for a higher one."""
    if ctx.invoked_subcommand is not None:
        return 0
    from poor_bench.sandbox import find_sandbox_status

    status = find_sandbox_status()
    missing = {str(mechanism): reason for mechanism, reason in status.missing.items()}
    if as_json:
        print_json({"level": status.level.label, "missing": missing})
        return 0
    click.echo(f"Sandbox level: {status.level.label}")
    for mechanism, reason in missing.items():
        click.echo(f"  without {mechanism}: {reason}")
    return 0


@command.command()
@json_option
def selftest(as_json: bool) -> int:
    """Run real escape attempts and show which were blocked.

    Exits with 1 if an attempt succeeds that the sandbox level must block.
    """
    from poor_bench.sandbox import find_sandbox_status, open_shared_sandbox
    from poor_bench.sandbox.selftest import ESCAPES, run_selftest

    level = find_sandbox_status().level
    findings = []
    with show_status("") as shown:
        for number, finding in enumerate(run_selftest(open_shared_sandbox()), start=1):
            findings.append(finding)
            shown.update(f"Tried {number} of {write_count(len(ESCAPES), 'escape')}")
    broken = [item for item in findings if not item.held and item.is_promised]
    if as_json:
        print_json({"level": level.label, "escapes": [_to_json(item) for item in findings]})
    else:
        print_table(
            {
                "": _describe_verdict(item, broken=item in broken),
                "Escape": item.escape.name,
                "Evidence": item.evidence,
            }
            for item in findings
        )
        n_held = sum(item.held for item in findings)
        click.echo(
            f"Blocked {n_held} of {write_count(len(findings), 'escape')} at level {level.label}."
        )
    return 1 if broken else 0


def _describe_verdict(finding: EscapeFinding, *, broken: bool) -> str:
    if finding.held:
        return "held"
    return "BROKEN" if broken else f"open (needs {finding.needs})"


def _to_json(finding: EscapeFinding) -> dict[str, Any]:
    return {
        "name": finding.escape.name,
        "held": finding.held,
        "holds_from": finding.escape.holds_from.label,
        "evidence": finding.evidence,
    }


def choose_sandbox(name: str | None) -> None:
    """Require the level that the option names, and accept it in this process.

    Raises:
        click.UsageError: If the level does not exist.
        ConfigError: If this machine cannot give it; the message says what is missing and why.
        SandboxError: If processes cannot be started.
    """
    if name is None:
        return
    from poor_bench.sandbox import accept_level, parse_level, require_level

    try:
        level = parse_level(name)
    except ValueError as error:
        raise click.UsageError(f"--sandbox: {error}") from error
    require_level(level)
    accept_level(level)


sandbox_option = click.option(
    "--sandbox",
    "--require-sandbox",
    metavar="LEVEL",
    expose_value=False,
    callback=lambda _context, _option, name: choose_sandbox(name),
    help="Lowest sandbox level to accept: process, limits, isolated (default) or full.",
)


def agree_on_sandbox(app: AppContext, tests: Iterable[Test]) -> None:
    """Warn about a weak sandbox before tests run code of models; ask on a terminal to accept it.

    Raises:
        ConfigError: If nobody accepts it.
        SandboxError: If processes cannot be started.
    """
    if not _run_code(app, tests):
        return
    from poor_bench.sandbox import accept_level, describe_sandbox_terms, describe_weakness
    from poor_bench.workspace_runner import accept_level_in

    accept_level_in(app.data_dir)
    terms = describe_sandbox_terms()
    is_asked = sys.stdin.isatty() and sys.stderr.isatty()
    may_ask = terms.is_refused and not terms.is_chosen and is_asked
    if terms.is_refused and not may_ask:
        raise ConfigError(terms.refusal, hint=terms.fix)
    if weakness := describe_weakness(terms.status):
        click.echo(f"Warning: {weakness}.", err=True)
    if not may_ask:
        return
    if not click.confirm("Run code of models anyway?", default=False, err=True):
        raise ConfigError(terms.refusal, hint=terms.fix)
    accept_level(terms.status.level)


def _run_code(app: AppContext, tests: Iterable[Test]) -> bool:
    from poor_bench.runner.scorer import resolve_spec

    specs = (resolve_spec(app.workspace, test) for test in tests)
    return any(app.evaluators.get(spec.name).runs_code(spec.parameters) for spec in specs)
