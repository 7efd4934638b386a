"""`gate`: fail where results are not good enough, for continuous integration."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.options import combine, pass_mark_option, read_selection, selection_options
from poor_bench.cli.output import json_option, print_json, print_table, say
from poor_bench.command_line import examples
from poor_bench.errors import ConfigError

if TYPE_CHECKING:
    from poor_bench.config.load import Workspace
    from poor_bench.gates.gate import Gate, GateKind, GateOutcome


_EPILOG = examples(
    """
  {program} gate --min-score maths=0.8 --max-p95-ms 2000
  {program} gate --no-regression --baseline baseline.json
  {program} gate --llm 'ollama:*'            the gates of gates.yaml
"""
)
_LIMITS = {
    "min_score": ("Lowest mean score.", 1.0),
    "min_pass_rate": ("Lowest share of passed tests.", 1.0),
    "max_p95_ms": ("Milliseconds within which 95 % of the trials end.", inf),
    "max_cost_usd": ("Highest cost of all results.", inf),
    "min_scored_share": ("Lowest share of trials that ended with a score.", 1.0),
}
"""Options that take a limit, or a class and its limit: help, and the highest limit."""
_FLAGS = ("no_regression", "up_to_date")
_FILTERS = ("llms", "classes", "levels", "tests", "tags")


@click.command(epilog=_EPILOG)
@combine(
    *(
        click.option(f"--{name.replace('_', '-')}", multiple=True, metavar="[CLASS=]X", help=text)
        for name, (text, _) in _LIMITS.items()
    )
)
@click.option("--no-regression", is_flag=True, help="Fail if a score dropped significantly.")
@click.option(
    "--up-to-date", is_flag=True, help="Fail if a result is stale (other prompt or evaluator)."
)
@click.option("--baseline", metavar="FILE|RUN", help="Baseline of --no-regression.")
@click.option(
    "--gates",
    "gates_file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="File of gates. Default: gates.yaml in the workspace.",
)
@click.option("--strict", is_flag=True, help="Treat warnings as failures.")
@pass_mark_option
@selection_options
@json_option
@pass_app
def command(
    app: AppContext,
    /,
    baseline: str | None,
    gates_file: Path | None,
    strict: bool,
    pass_mark: float,
    as_json: bool,
    **options: Any,
) -> int:
    """Check stored results against limits and a baseline; exit with 1 if a gate fails.

    A score below its limit, or below the baseline's, fails only where chance is ruled out, and
    warns otherwise. Trials that failed to run never count as zero. Nothing to check fails.
    """
    from poor_bench.cli.evidence import gather_evidence
    from poor_bench.gates.check import check_gates
    from poor_bench.gates.gate import has_failed

    gates = read_gates(app.workspace, options, gates_file, baseline)
    selection = read_selection({name: options[name] for name in _FILTERS})
    evidence = gather_evidence(app.config, selection, gates, pass_mark)
    outcomes = check_gates(gates, evidence, strict=strict)
    _tell(outcomes, app.llm_names, as_json=as_json)
    return 1 if has_failed(outcomes) else 0


def _tell(outcomes: Sequence[GateOutcome], names: Mapping[str, str], *, as_json: bool) -> None:
    from poor_bench.reports import gate_text

    if as_json:
        print_json(gate_text.gates_to_json(outcomes))
    else:
        _print_outcomes(outcomes, names)
        click.echo(gate_text.headline(outcomes))
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        with Path(summary).open("a", encoding="utf-8") as stream:
            stream.write(gate_text.gates_to_markdown(outcomes, names))
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in gate_text.gate_annotations(outcomes):
            say(line, err=True)


def _print_outcomes(outcomes: Sequence[GateOutcome], names: Mapping[str, str]) -> None:
    from poor_bench.reports.gate_text import gate_title, worst_first

    print_table(
        {
            "": outcome.status.value,
            "Gate": gate_title(outcome.gate),
            "Model": names.get(outcome.llm_id, outcome.llm_id),
            "Class": outcome.class_id or "all",
            "Seen": outcome.reason,
        }
        for outcome in worst_first(outcomes)
    )


def read_gates(
    workspace: Workspace, options: dict[str, Any], file: Path | None, baseline: str | None
) -> list[Gate]:
    """Read the gates of the options and of gates.yaml.

    Args:
        workspace: Its classes and LLMs are what gates may name.
        options: Values of the options that make gates, by name.
        file: Another gates.yaml.
        baseline: What gates without a baseline of their own compare with.

    Raises:
        ConfigError: If a gate is not valid, or lacks a baseline, or if no gate is given.
    """
    from poor_bench.config.gate_entries import GATES_FILE, load_gates

    path = file or workspace.data_dir / GATES_FILE
    gates = [*_build_option_gates(workspace, options)]
    if file is not None or path.is_file():
        gates += load_gates(path, workspace)
    if not gates:
        raise ConfigError(
            "no gate is given", hint=f"give options such as --min-score 0.8, or write {path}"
        )
    return [_add_baseline(gate, baseline) for gate in gates]


def _build_option_gates(workspace: Workspace, options: dict[str, Any]) -> Iterator[Gate]:
    from poor_bench.gates.gate import Gate, GateKind

    for name, (_, highest) in _LIMITS.items():
        for text in options[name]:
            yield _build_limit_gate(GateKind(name), text, highest, workspace)
    for name in _FLAGS:
        if options[name]:
            yield Gate(kind=GateKind(name))


def _build_limit_gate(kind: GateKind, text: str, highest: float, workspace: Workspace) -> Gate:
    from poor_bench.config.nearest_name import name_hint
    from poor_bench.gates.gate import Gate

    option = f"--{kind.value.replace('_', '-')}"
    pattern, _, number = text.rpartition("=")
    try:
        limit = float(number)
    except ValueError:
        limit = float("nan")
    if not 0 <= limit <= highest:
        range_text = "from 0 to 1" if highest == 1.0 else "of at least 0"
        raise click.UsageError(f"{option} {text!r}: give a number {range_text}, or CLASS=NUMBER")
    gate = Gate(kind=kind, limit=limit, class_pattern=pattern or None)
    if pattern and not any(gate.is_about_class(name) for name in workspace.test_classes):
        hint = name_hint(pattern, workspace.test_classes)
        raise ConfigError(f"{option} {pattern!r} matches no test class", hint=hint)
    return gate


def _add_baseline(gate: Gate, baseline: str | None) -> Gate:
    from poor_bench.gates.gate import GateKind

    if gate.kind is not GateKind.NO_REGRESSION or gate.baseline:
        return gate
    if not baseline:
        raise ConfigError(
            "no regression against what?",
            hint="give --baseline FILE, a run, or `previous`; or `baseline` in gates.yaml",
        )
    return replace(gate, baseline=baseline)
