"""Table of the format tax."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dash import dcc, html

from poor_bench.command_line import next_command
from poor_bench.dashboard.components.states import empty_state
from poor_bench.dashboard.links import model_link
from poor_bench.issues.format_tax import FormatTax

if TYPE_CHECKING:
    from dash.development.base_component import Component

_HEADINGS = ("Model", "Test class", "Score", "Strict", "Tax", "Found", "Fix")
_MEANINGS = {
    "Strict": "Score with format rules",
    "Tax": "Score minus strict score",
    "Found": "Place of the answer in the response. Announced: after words such as 'the answer is'. "
    "Stated: on the first line or in the last sentence.",
}
_SHOWN_ROWS = 60


def tax_table(rows: Sequence[FormatTax], name_of: Callable[[str], str]) -> Component:
    """Build the table, highest tax first.

    Args:
        rows: LLMs and classes with a tax above 0.
        name_of: LLM id to what screens call it.
    """
    if not rows:
        return empty_state(
            "No format tax",
            "No correct answer lost score for its format. Rescore results of older tools to "
            f"compute it: {next_command('rescore')}",
        )
    heads = [html.Th(name, scope="col", title=_MEANINGS.get(name, "")) for name in _HEADINGS]
    return html.Div(
        html.Table(
            [
                html.Thead(html.Tr(heads)),
                html.Tbody([_row(row, name_of) for row in rows[:_SHOWN_ROWS]]),
            ],
            className="sheet",
        ),
        className="sheet-frame",
        tabIndex="0",
    )


def _row(row: FormatTax, name_of: Callable[[str], str]) -> Component:
    ways = ", ".join(f"{way or 'unknown'} {count}x" for way, count in row.n_by_found.items())
    href = model_link(row.llm_id, classes=[row.class_id] if row.class_id else [])
    return html.Tr(
        [
            html.Th(dcc.Link(name_of(row.llm_id), href=href), scope="row"),
            html.Td(row.class_id or "unknown"),
            html.Td(f"{row.score:.3f}", className="number"),
            html.Td(f"{row.strict_score:.3f}", className="number"),
            html.Td(f"{row.tax:.3f}", className="number is-tax"),
            html.Td(ways),
            html.Td(row.mend, className="quiet"),
        ]
    )
