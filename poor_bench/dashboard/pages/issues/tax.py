"""The format tax by model and class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from dash import dcc

from poor_bench import metrics
from poor_bench.command_line import next_command
from poor_bench.dashboard.components.blocks import empty_state
from poor_bench.dashboard.components.sheets import SheetColumn, SheetTable
from poor_bench.dashboard.components.tables import number, quiet
from poor_bench.dashboard.pages.issues.layout import LINKS
from poor_bench.dashboard.url_state import model_link
from poor_bench.issues.form import FormatTax

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.pages.issues.layout import IssueUrl
    from poor_bench.metrics import Metric


_MEANING_OF_FOUND = (
    "Place of the answer in the response. Announced: after words such as 'the answer is'. "
    "Stated: on the first line or in the last sentence."
)
_SHOWN_ROWS = 60
NameOf = Callable[[str], str]


def list_tax_columns(name_of: NameOf = str) -> SheetTable[FormatTax]:
    """Define the table.

    Args:
        name_of: LLM id to what screens call it.
    """
    figures: list[SheetColumn[FormatTax]] = [
        _figure(metrics.SCORE, lambda each: each.score),
        _figure(metrics.STRICT_SCORE, lambda each: each.strict_score),
        _figure(metrics.FORMAT_TAX, lambda each: each.tax),
    ]
    return SheetTable(
        name="tax",
        label="Format tax by model and class",
        kept=(("Model ID", lambda each: each.llm_id),),
        columns=[
            SheetColumn(
                field="model", heading="Model", value=lambda each: name_of(each.llm_id),
                cell=partial(_link_model, name_of),
            ),
            SheetColumn(
                field="class", heading="Test class", value=lambda each: each.class_id or "unknown"
            ),
            SheetColumn(
                field="trials", heading="Trials", value=lambda each: each.n_scored,
                cell=lambda each: number(f"{each.n_scored:,}"),
                hint="Scored trials with a known strict score; the means are over these.",
            ),
            *figures,
            SheetColumn(
                field="found", heading="Found", value=_write_found, hint=_MEANING_OF_FOUND
            ),
            SheetColumn(
                field="fix", heading="Fix", value=lambda each: each.fix,
                cell=lambda each: quiet(each.fix),
            ),
        ],
    )  # fmt: skip


def tax_table(rows: Sequence[FormatTax], name_of: NameOf, url: IssueUrl) -> Component:
    """Build the table, highest tax first unless the reader sorts it.

    Args:
        rows: LLMs and classes with a tax above 0.
        name_of: LLM id to what screens call it.
        url: State of the page.
    """
    if not rows:
        return empty_state(
            "No format tax",
            "No correct answer lost score for its format. Rescore results of older tools to "
            f"compute it: {next_command('rescore')}",
        )
    return list_tax_columns(name_of).draw(rows, LINKS, url, n_shown=_SHOWN_ROWS)


def _figure(metric: Metric, read: Callable[[FormatTax], float]) -> SheetColumn[FormatTax]:
    kind = "is-tax" if metric is metrics.FORMAT_TAX else ""
    return SheetColumn(
        field=metric.name,
        heading=metric.label,
        value=read,
        cell=lambda each: number(metrics.score_text(read(each)), kind),
        hint=metric.meaning,
        file_heading=metric.file_heading,
    )


def _link_model(name_of: NameOf, tax: FormatTax) -> Any:
    classes = [tax.class_id] if tax.class_id else []
    return dcc.Link(name_of(tax.llm_id), href=model_link(tax.llm_id, classes=classes))


def _write_found(tax: FormatTax) -> str:
    return ", ".join(f"{way or 'unknown'} {count}x" for way, count in tax.n_by_found.items())
