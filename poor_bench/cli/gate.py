"""`gate`: fail where results are not good enough, for continuous integration."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.comparison_options import pass_mark_option
from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.gate_options import gates_from, limit_options
from poor_bench.cli.output import console, harmless, json_option, plain_table, print_json
from poor_bench.cli.selection_options import selection_from, selection_options
from poor_bench.command_line import examples

if TYPE_CHECKING:
    from poor_bench.gates.gate import GateOutcome

_EPILOG = examples(
    """
  {program} gate --min-score maths=0.8 --max-p95-ms 2000
  {program} gate --no-regression --baseline baseline.json
  {program} gate --llm 'ollama:*'            the gates of gates.yaml
"""
)
_FILTERS = ("llms", "classes", "levels", "tests", "tags")


def _limits(function: Any) -> Any:
    return functools.reduce(
        lambda decorated, option: option(decorated), reversed(limit_options()), function
    )


@click.command(epilog=_EPILOG)
@_limits
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
    from poor_bench.cli.gate_evidence import gather_evidence
    from poor_bench.gates.check import check_gates
    from poor_bench.gates.gate import has_failed

    gates = gates_from(app.workspace, options, gates_file, baseline)
    selection = selection_from({name: options[name] for name in _FILTERS})
    evidence = gather_evidence(app.config, selection, gates, pass_mark)
    outcomes = check_gates(gates, evidence, strict=strict)
    names = {llm.id: llm.label or llm.id for llm in app.workspace.llms}
    _tell(outcomes, names, as_json=as_json)
    return 1 if has_failed(outcomes) else 0


def _tell(outcomes: Sequence[GateOutcome], names: Mapping[str, str], *, as_json: bool) -> None:
    from poor_bench.reports import gate_text

    if as_json:
        print_json(gate_text.gates_to_json(outcomes))
    else:
        _print_table(outcomes, names)
        click.echo(gate_text.headline(outcomes))
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        with Path(summary).open("a", encoding="utf-8") as stream:
            stream.write(gate_text.gates_to_markdown(outcomes, names))
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in gate_text.gate_annotations(outcomes):
            click.echo(harmless(line), err=True)


def _print_table(outcomes: Sequence[GateOutcome], names: Mapping[str, str]) -> None:
    from poor_bench.reports.gate_text import gate_title, worst_first

    rows = [
        [
            outcome.status.value,
            gate_title(outcome.gate),
            names.get(outcome.llm_id, outcome.llm_id),
            outcome.class_id or "all",
            outcome.reason,
        ]
        for outcome in worst_first(outcomes)
    ]
    console().print(plain_table(("", "Gate", "Model", "Class", "Seen"), rows))
