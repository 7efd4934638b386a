"""`sandbox`: how well model-written code is locked in on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.output import console, json_option, plain_table, print_json
from poor_bench.command_line import examples
from poor_bench.messages import counted

if TYPE_CHECKING:
    from poor_bench.sandbox.selftest.run import Finding

_EPILOG = examples(
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
    from poor_bench.sandbox import sandbox_status

    status = sandbox_status()
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
    from poor_bench.sandbox import sandbox_status, shared_sandbox
    from poor_bench.sandbox.selftest.run import TRIALS, run_selftest

    level = sandbox_status().level
    findings = []
    with console(stderr=True).status("") as shown:
        for number, finding in enumerate(run_selftest(shared_sandbox()), start=1):
            findings.append(finding)
            shown.update(f"Tried {number} of {counted(len(TRIALS), 'escape')}")
    broken = [item for item in findings if not item.held and item.is_promised]
    if as_json:
        print_json({"level": level.label, "escapes": [_record(item) for item in findings]})
    else:
        rows = [
            [_verdict(item, broken=item in broken), item.name, item.evidence] for item in findings
        ]
        console().print(plain_table(["", "Escape", "Evidence"], rows))
        n_held = sum(item.held for item in findings)
        click.echo(
            f"Blocked {n_held} of {counted(len(findings), 'escape')} at level {level.label}."
        )
    return 1 if broken else 0


def _verdict(finding: Finding, *, broken: bool) -> str:
    if finding.held:
        return "held"
    return "BROKEN" if broken else f"open (needs {finding.needs})"


def _record(finding: Finding) -> dict[str, Any]:
    return {
        "name": finding.name,
        "held": finding.held,
        "holds_from": finding.holds_from.label,
        "evidence": finding.evidence,
    }
