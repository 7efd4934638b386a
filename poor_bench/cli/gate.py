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
from poor_bench.cli.gate_run import EndedCheck, SequentialLimits, run_until_decided
from poor_bench.cli.options import (
    OutputFileType,
    combine,
    count_option,
    max_cost_option,
    pass_score_option,
    read_selection,
    selection_options,
)
from poor_bench.cli.output import json_option, print_json, print_table, say
from poor_bench.cli.process import prepare_to_look
from poor_bench.cli.sandbox import sandbox_option
from poor_bench.command_line import write_examples
from poor_bench.errors import ConfigError

if TYPE_CHECKING:
    from poor_bench.config.load import Workspace
    from poor_bench.gates.gate import Gate, GateKind, GateOutcome
    from poor_bench.runner.selection import Selection


_EPILOG = write_examples(
    """
  {program} gate --min-score maths=0.8 --max-p95-ms 2000
  {program} gate --no-regression --baseline baseline.json
  {program} gate --llm 'ollama:*'            the gates of gates.yaml
  {program} gate --plan --drop 0.1           the trials that such a drop needs
  {program} gate --sequential --no-regression --baseline baseline.json --max-calls 500

\b
Exit codes:
  0 no gate fails: warnings do not, unless --strict is given
  1 a gate fails; 2 a file or an option is wrong; 130 --sequential was interrupted
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
_FILTERS = ("llms", "classes", "levels", "tests", "tags")


@click.command(epilog=_EPILOG)
@combine(
    *(
        click.option(f"--{name.replace('_', '-')}", multiple=True, metavar="[CLASS=]X", help=text)
        for name, (text, _) in _LIMITS.items()
    )
)
@click.option(
    "--no-regression",
    is_flag=True,
    help="Fail if the score on the same tests dropped by more than --tolerance.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="X",
    help="Drop of the mean score that --no-regression accepts. Default: 0.05.",
)
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
@click.option(
    "--junit", type=OutputFileType(".xml"), help="Write the outcomes as JUnit XML to this file."
)
@click.option("--strict", is_flag=True, help="Treat warnings as failures.")
@click.option("--plan", is_flag=True, help="Show how many trials --no-regression needs.")
@click.option(
    "--drop",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.1,
    show_default=True,
    help="With --plan: drop of the score that must fail.",
)
@click.option(
    "--power",
    type=click.FloatRange(0.01, 0.99),
    default=0.8,
    show_default=True,
    help="With --plan: wanted chance of a verdict.",
)
@click.option(
    "--sequential",
    is_flag=True,
    help="Run trials until --no-regression is decided; looking often adds no false verdicts.",
)
@count_option(
    "--max-trials", default=10, most=1000, hint="With --sequential: most trials per test."
)
@count_option("--max-calls", default=None, hint="With --sequential: most requests to the models.")
@max_cost_option
@pass_score_option
@selection_options
@sandbox_option
@json_option
@pass_app
def command(
    app: AppContext,
    /,
    baseline: str | None,
    gates_file: Path | None,
    junit: Path | None,
    strict: bool,
    sequential: bool,
    pass_score: float,
    as_json: bool,
    **options: Any,
) -> int:
    """Check stored results against limits and a baseline; exit with 1 if a gate fails.

    A score below its limit fails only where chance is ruled out, and warns otherwise. A drop since
    the baseline passes, fails, or warns that there is not enough evidence. Trials that failed to
    run never count as zero. Nothing to check fails.
    """
    from poor_bench.cli.evidence import gather_evidence
    from poor_bench.config.document import write_atomically
    from poor_bench.gates.check import check_gates
    from poor_bench.gates.gate import has_failed, make_strict
    from poor_bench.reports.gate_text import gates_to_junit

    selection = read_selection({name: options[name] for name in _FILTERS})
    if options["plan"]:
        return _plan(app, selection, options, gates_file, baseline, as_json=as_json)
    _require_sequential(options, is_given=sequential)
    if not sequential:
        prepare_to_look()
    gates = read_gates(app.workspace, options, gates_file, baseline)
    ended = None
    if sequential:
        limits = SequentialLimits(options["max_trials"], options["max_calls"], options["max_cost"])
        ended = run_until_decided(app, selection, gates, pass_score, limits, quiet=as_json)
    outcomes = (
        ended.outcomes
        if ended
        else check_gates(gates, gather_evidence(app.config, selection, gates, pass_score))
    )
    if strict:
        outcomes = make_strict(outcomes)
    _tell(outcomes, app.llm_names, ended, as_json=as_json)
    if junit is not None:
        write_atomically(junit, gates_to_junit(outcomes, app.llm_names))
    if ended is not None and ended.is_cancelled:
        return 130
    return 1 if has_failed(outcomes) else 0


def _plan(
    app: AppContext,
    selection: Selection,
    options: dict[str, Any],
    gates_file: Path | None,
    baseline: str | None,
    *,
    as_json: bool,
) -> int:
    """Plan the gates that there are, or one on all tests where there are none."""
    from poor_bench.config.load import GATES_FILE
    from poor_bench.gates.gate import DEFAULT_TOLERANCE

    is_file = gates_file is not None or (app.workspace.data_dir / GATES_FILE).is_file()
    gates = []
    if is_file or options["no_regression"]:
        gates = read_gates(app.workspace, options, gates_file, baseline)
    return print_plans(
        app,
        selection,
        gates,
        drop=options["drop"],
        power=options["power"],
        tolerance=options["tolerance"] or DEFAULT_TOLERANCE,
        as_json=as_json,
    )


def _require_sequential(options: dict[str, Any], *, is_given: bool) -> None:
    for name in ("max_calls", "max_cost"):
        if options[name] is not None and not is_given:
            raise click.UsageError(f"--{name.replace('_', '-')} needs --sequential")


def _tell(
    outcomes: Sequence[GateOutcome],
    names: Mapping[str, str],
    ended: EndedCheck | None,
    *,
    as_json: bool,
) -> None:
    from poor_bench.reports import gate_text

    if as_json:
        document = gate_text.gates_to_json(outcomes)
        print_json(document | ({"sequential": ended.as_dict()} if ended else {}))
    else:
        _print_outcomes(outcomes, names)
        if ended:
            click.echo(ended.text)
        click.echo(gate_text.write_headline(outcomes))
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        with Path(summary).open("a", encoding="utf-8") as stream:
            stream.write(gate_text.gates_to_markdown(outcomes, names))
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in gate_text.gate_annotations(outcomes):
            say(line, err=True)


def _print_outcomes(outcomes: Sequence[GateOutcome], names: Mapping[str, str]) -> None:
    from poor_bench.reports.gate_text import gate_title, sort_worst_first

    print_table(
        {
            "": outcome.status.value,
            "Gate": gate_title(outcome.gate),
            "Model": names.get(outcome.llm_id, outcome.llm_id),
            "Class": outcome.class_id or "all",
            "Seen": outcome.reason,
        }
        for outcome in sort_worst_first(outcomes)
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
    from poor_bench.config.load import GATES_FILE
    from poor_bench.gates.gate import DEFAULT_TOLERANCE

    path = file or workspace.data_dir / GATES_FILE
    gates = [*_build_option_gates(workspace, options)]
    if file is not None or path.is_file():
        from poor_bench.config.gate_entries import load_gates

        gates += load_gates(path, workspace, options["tolerance"] or DEFAULT_TOLERANCE)
    if not gates:
        raise ConfigError(
            "no gate is given", hint=f"give options such as --min-score 0.8, or write {path}"
        )
    return [_add_baseline(gate, baseline) for gate in gates]


def _build_option_gates(workspace: Workspace, options: dict[str, Any]) -> Iterator[Gate]:
    from poor_bench.gates.gate import DEFAULT_TOLERANCE, Gate, GateKind

    for name, (_, highest) in _LIMITS.items():
        for text in options[name]:
            yield _build_limit_gate(GateKind(name), text, highest, workspace)
    if options["no_regression"]:
        tolerance = options["tolerance"] or DEFAULT_TOLERANCE
        yield Gate(kind=GateKind.NO_REGRESSION, limit=tolerance)
    if options["up_to_date"]:
        yield Gate(kind=GateKind.UP_TO_DATE)


def _build_limit_gate(kind: GateKind, text: str, highest: float, workspace: Workspace) -> Gate:
    from poor_bench.config.names import name_hint
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


def print_plans(
    app: AppContext,
    selection: Selection,
    gates: list[Gate],
    *,
    drop: float,
    power: float,
    tolerance: float,
    as_json: bool,
) -> int:
    """Print the planned chances of each LLM; 0 is the exit code."""
    from poor_bench.cli.evidence import gather_evidence
    from poor_bench.gates.plan import plan_gates
    from poor_bench.reports.gate_text import plan_lines, plan_rows, plans_to_json

    evidence = gather_evidence(app.config, selection, gates, pass_score=1.0)
    plans = plan_gates(gates, evidence, drop, power, tolerance)
    if as_json:
        print_json(plans_to_json(plans))
        return 0
    for plan in plans:
        name = app.llm_names.get(plan.llm_id, plan.llm_id)
        for line in plan_lines(plan, name):
            say(line)
        print_table(plan_rows(plan))
    return 0
