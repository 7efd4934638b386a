"""`tests analyse`: what the results say about the tests themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.next_step import next_step
from poor_bench.cli.output import Column, console, json_option, plain_table, print_json
from poor_bench.messages import counted

if TYPE_CHECKING:
    from poor_bench.statistics.intervals import Estimate
    from poor_bench.statistics.items import Item
    from poor_bench.statistics.levels import LevelOrder

_TRENDS = {"follows": "harder with level", "reversed": "easier with level"}


@click.command()
@click.option("--all", "shows_all", is_flag=True, help="Show all tests, not only suspicious ones.")
@json_option
@pass_app
def analyse(app: AppContext, /, shows_all: bool, as_json: bool) -> int:
    """Find bad tests by the results of all models.

    Suspicious tests: no model passes; models fail with the same answer (a wrong key?) or the same
    message (an unfair prompt?); weak models pass and strong ones fail. Discrimination is the
    correlation with the score on all other tests. Verdicts need results of at least three
    different models; one model with several settings counts once.
    """
    from poor_bench.statistics.items import analyse_items
    from poor_bench.statistics.levels import level_orders

    tests = app.workspace.tests_by_id
    items = analyse_items(
        (result for result in app.store.results() if result.test_id in tests), tests
    )
    orders = level_orders(items)
    if as_json:
        shown = [_item_to_json(item) for item in items]
        print_json({"tests": shown, "levels": [_order_to_json(order) for order in orders]})
        return 0
    if not items:
        click.echo(f"No results yet. Next: {next_step('run')}")
        return 0
    _print_items(items, shows_all=shows_all)
    _print_orders(orders)
    return 0


def _print_items(items: Sequence[Item], *, shows_all: bool) -> None:
    from poor_bench.statistics.items import LEAST_MODELS

    suspicious = [item for item in items if item.is_suspicious]
    chosen = items if shows_all else suspicious
    if chosen:
        numbers = ("Level", "Models", "Passed", "Discrimination")
        columns: list[Column] = ["Test", *((name, "right") for name in numbers), "Suspicion"]
        cells = [
            [
                item.test_id,
                str(item.level or ""),
                str(item.n_llms),
                f"{item.pass_rate:.0%}",
                _shown(item.discrimination),
                item.suspicion,
            ]
            for item in chosen
        ]
        console().print(plain_table(columns, cells))
    n_useless = sum(item.pass_rate == 1.0 for item in items)
    click.echo(
        f"Suspicious: {len(suspicious)} of {counted(len(items), 'test')}. "
        f"Passed by every model: {n_useless}."
    )
    n_models = max(item.n_models for item in items)
    if n_models < LEAST_MODELS:
        click.echo(
            f"Verdicts need {LEAST_MODELS} different models; these results cover {n_models}."
        )


def _print_orders(orders: Sequence[LevelOrder]) -> None:
    cells = [
        [
            order.class_id,
            ", ".join(f"{level}: {value:.2f}" for level, value in sorted(order.difficulty.items())),
            _shown(order.correlation),
            _TRENDS.get(order.verdict.value, "no clear trend"),
        ]
        for order in orders
    ]
    correlation: Column = ("Correlation", "right")
    columns = ["Class", "Difficulty by level", correlation, "Trend"]
    console().print(plain_table(columns, cells))


def _shown(estimate: Estimate | None) -> str:
    return "" if estimate is None else f"{estimate.value:.2f}"


def _item_to_json(item: Item) -> dict[str, Any]:
    return {
        "test_id": item.test_id,
        "class_id": item.class_id,
        "level": item.level,
        "n_llms": item.n_llms,
        "n_models": item.n_models,
        "mean_score": item.mean_score,
        "pass_rate": item.pass_rate,
        "discrimination": None if item.discrimination is None else item.discrimination.value,
        "findings": [finding.value for finding in item.findings],
        "is_suspicious": item.is_suspicious,
        "suspicion": item.suspicion,
    }


def _order_to_json(order: LevelOrder) -> dict[str, Any]:
    return {
        "class_id": order.class_id,
        "difficulty": {str(level): value for level, value in order.difficulty.items()},
        "correlation": None if order.correlation is None else order.correlation.value,
        "p_value": order.p_value,
        "verdict": order.verdict.value,
    }
