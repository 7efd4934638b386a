"""What `tests import` and `tests generate` share: prove new tests, add them, tell what came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import click

from poor_bench.cli.context import AppContext
from poor_bench.cli.output import console, harmless, print_json
from poor_bench.command_line import next_command
from poor_bench.messages import counted
from poor_bench.models.test import EvaluatorSpec

_SHOWN_REFUSALS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTests:
    """Tests that are to be added, and those that cannot be."""

    class_entry: Mapping[str, Any]
    tests: Sequence[Mapping[str, Any]]
    refused: list[str] = field(default_factory=list)
    """One sentence for every test that was left out."""


def prove(app: AppContext, new: NewTests) -> NewTests:
    """Return the tests whose references score 1.0 and whose empty responses score 0.

    Raises:
        PluginError: If the evaluator cannot be used.
    """
    from poor_bench.lint.lint import fault_of, spec_of

    app.evaluators.get(new.class_entry["evaluation_module"]["name"])
    facts = app.config.evaluator_facts()
    sound: list[Mapping[str, Any]] = []
    refused = list(new.refused)
    with console(stderr=True).status("Scoring the reference responses"):
        for test in new.tests:
            fault = _parameter_fault(app, spec_of(new.class_entry, test))
            fault = fault or fault_of(new.class_entry, test, facts)
            if fault:
                refused.append(f"{test['test_id']}: {fault}")
            else:
                sound.append(test)
    return NewTests(class_entry=new.class_entry, tests=sound, refused=refused)


def _parameter_fault(app: AppContext, spec: EvaluatorSpec) -> str:
    """Return what an evaluator has against its parameters, in words; empty if nothing."""
    problems = app.evaluators.get(spec.name).check_parameters(spec.parameters)
    return "; ".join(
        f"{place or 'parameters'}: {message}" + (f" ({hint})" if hint else "")
        for place, message, hint in problems
    )


def add_and_report(app: AppContext, new: NewTests, *, dry_run: bool, as_json: bool) -> int:
    """Add tests to the workspace and tell what came of it; return the exit code.

    It is 1 where not one test is sound.
    """
    added = [str(test["test_id"]) for test in new.tests]
    known: Sequence[str] = ()
    if not dry_run and new.tests:
        outcome = app.config.add_tests(new.class_entry, new.tests)
        added, known = list(outcome.added), outcome.known
    exit_code = 1 if new.refused and not new.tests else 0
    if as_json:
        report = {"class": new.class_entry["id"], "added": added, "known": known}
        print_json({**report, "refused": new.refused, "dry_run": dry_run})
        return exit_code
    verb = "would be added" if dry_run else "added"
    click.echo(f"{counted(len(added), 'test')} of class {new.class_entry['id']} {verb}")
    if known:
        click.echo(f"Already there, unchanged: {counted(len(known), 'test')}")
    _print_refusals(new.refused)
    if added and not dry_run:
        click.echo(f"Next: {next_command(f'tests show {added[0]}')}")
    return exit_code


def _print_refusals(refused: Sequence[str]) -> None:
    if refused:
        click.echo(f"Skipped: {len(refused)}")
    for reason in refused[:_SHOWN_REFUSALS]:
        click.echo(f"  {harmless(reason)}")
    if len(refused) > _SHOWN_REFUSALS:
        click.echo(f"  ... and {len(refused) - _SHOWN_REFUSALS} more")
