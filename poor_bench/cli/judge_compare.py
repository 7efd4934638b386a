"""`judge compare`: two runs side by side, with noise marked."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import Column, console, harmless, json_option, plain_table, print_json
from poor_bench.command_line import examples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poor_bench.judge.history.comparison import RunComparison, ScoreChange

_EPILOG = examples(
    """
  {program} judge compare 20261122T0315 last
  {program} judge compare sales_old sales_new      newest run of each agent
"""
)


@click.command(epilog=_EPILOG)
@click.argument("before")
@click.argument("after")
@json_option
@pass_app
def compare(app: AppContext, /, before: str, after: str, as_json: bool) -> int:
    """Compare two runs and mark differences within the judges' noise."""
    from poor_bench.cli.judge_show import find_summary
    from poor_bench.judge.history.comparison import compare_runs
    from poor_bench.judge.history.store import JudgementStore

    history = JudgementStore(app.data_dir).runs()
    comparison = compare_runs(find_summary(app, before), find_summary(app, after), history)
    if as_json:
        print_json(_to_json(comparison))
    else:
        _print(comparison)
    return 0


def _print(comparison: RunComparison) -> None:
    columns: list[Column] = ["", ("Before", "right"), ("After", "right"), ("Change", "right")]
    columns += [("Noise", "right"), ""]
    if comparison.scores:
        rows = [
            *_rows(comparison, comparison.scores),
            *_rows(comparison, comparison.cases, "case "),
        ]
        console().print(plain_table(columns, rows))
    for obstacle in comparison.obstacles:
        click.echo(harmless(f"Not comparable: {obstacle}"))
    for side in (comparison.before, comparison.after):
        header = side.run.header
        click.echo(harmless(f"{header.run_id}: {header.agent_id}, {header.llm_id}"))


def _rows(
    comparison: RunComparison, changes: Sequence[ScoreChange], prefix: str = ""
) -> list[list[str]]:
    from poor_bench.judge.report.wording import change_text

    return [
        [
            f"{prefix}{change.name}",
            f"{change.before:.2f}",
            f"{change.after:.2f}",
            f"{change.difference:+.2f}",
            "unknown" if change.floor is None else f"{change.floor:.2f}",
            change_text(comparison, change),
        ]
        for change in changes
    ]


def _to_json(comparison: RunComparison) -> dict[str, Any]:
    def plain(changes: Sequence[ScoreChange]) -> list[dict[str, Any]]:
        return [
            {
                **asdict(change),
                "difference": change.difference,
                "is_noise": change.is_noise,
                "is_comparable": comparison.is_comparable(change),
            }
            for change in changes
        ]

    return {
        "before": comparison.before.run.run_id,
        "after": comparison.after.run.run_id,
        "obstacles": list(comparison.obstacles),
        "scores": plain(comparison.scores),
        "cases": plain(comparison.cases),
    }
