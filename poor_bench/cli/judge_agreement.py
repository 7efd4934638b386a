"""`judge agreement`: agreement of each judge with people."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import console, harmless, json_option, plain_table, print_json
from poor_bench.command_line import examples, next_command
from poor_bench.judge.judgement import APPROVAL_THRESHOLD

if TYPE_CHECKING:
    from poor_bench.judge.agreement.agreement import Agreement

_EPILOG = examples(
    """
  {program} judge agreement
  {program} judge agreement support_desk --pass-score 6
  {program} judge agreement --agents          overall scores and dimensions instead of cases
"""
)


@click.command(epilog=_EPILOG)
@click.argument("agent_id", metavar="[AGENT]", required=False)
@click.option(
    "--pass-score",
    type=click.FloatRange(0, 10),
    default=APPROVAL_THRESHOLD,
    show_default=True,
    help="Lowest score that passes, for Cohen's kappa.",
)
@click.option(
    "--agents", "whole", is_flag=True, help="Compare scores of whole agents instead of cases."
)
@json_option
@pass_app
def agreement(
    app: AppContext, /, agent_id: str | None, pass_score: float, whole: bool, as_json: bool
) -> int:
    """Show how well each judge agrees with people, and its bias.

    Krippendorff's alpha and weighted kappa: 1 is full agreement, 0 is chance.
    """
    from poor_bench.judge.agreement.agreement import measure_agreement
    from poor_bench.judge.history.store import JudgementStore
    from poor_bench.judge.labels.judged_items import Scope, judged_items
    from poor_bench.judge.labels.label_file import read_labels

    runs = JudgementStore(app.data_dir).runs(agent_id)
    scope = Scope.AGENTS if whole else Scope.CASES
    items = judged_items(runs, read_labels(app.data_dir), scope)
    measured = {judge: measure_agreement(both, pass_score) for judge, both in items.items()}
    if as_json:
        print_json({"judges": {judge: asdict(figures) for judge, figures in measured.items()}})
    elif not any(figures.n for figures in measured.values()):
        step = next_command("judge labels export > sheet.csv")
        click.echo(f"No labels yet. Next: {step}")
    else:
        _print(measured)
    return 0


def _print(measured: dict[str, Agreement]) -> None:
    from poor_bench.judge.report.agreement_text import (
        biases_of,
        estimate_text,
        figure_text,
        trust_text,
    )

    rows = [
        ["labelled", *(str(figures.n) for figures in measured.values())],
        ["Krippendorff's alpha", *(figure_text(item.alpha) for item in measured.values())],
        ["  people alone", *(figure_text(item.human_alpha) for item in measured.values())],
        ["weighted kappa", *(figure_text(item.weighted_kappa) for item in measured.values())],
        ["Cohen's kappa", *(figure_text(item.kappa) for item in measured.values())],
        ["Spearman", *(estimate_text(item.spearman) for item in measured.values())],
        ["Pearson", *(estimate_text(item.pearson) for item in measured.values())],
        ["judge minus people", *(estimate_text(item.bias) for item in measured.values())],
        ["length", *(estimate_text(item.length_correlation) for item in measured.values())],
        ["length, beyond people", *(estimate_text(item.length_bias) for item in measured.values())],
    ]
    console().print(plain_table(["", *measured], rows))
    for judge, figures in measured.items():
        leanings = "".join(f"; {leaning}" for leaning in biases_of(figures))
        click.echo(harmless(f"{judge}: {trust_text(figures)}{leanings}"))
