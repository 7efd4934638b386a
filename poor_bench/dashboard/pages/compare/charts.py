"""Charts that filter the tests and each other; their bars are links, so that keys reach them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.components.blocks import aria
from poor_bench.dashboard.components.controls import chip_row
from poor_bench.dashboard.pages.compare.layout import FACET_FIELDS, LINKS, CompareUrl
from poor_bench.messages import write_count
from poor_bench.results.grid import Facet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dash.development.base_component import Component

_TITLES = {
    Facet.CLASS: "Class",
    Facet.LEVEL: "Level",
    Facet.CAUSE: "Cause of lost score",
    Facet.LATENCY: "Mean latency",
    Facet.CHANGE: "Largest difference",
}
_SHOWN = 12


def build_charts(counts: Mapping[Facet, Mapping[str, int]], url: CompareUrl) -> Component:
    """Build a chart of each facet, with the chosen values as chips above them.

    Args:
        counts: Tests by value, of each facet under what is chosen of the others.
        url: State of the page.
    """
    chips = [
        LINKS.chip(
            f"{_TITLES[facet]}: {value.replace('_', ' ')} ✕",
            _toggle(url, facet, value),
            is_active=True,
            title="Remove this filter",
        )
        for facet, wanted in url.chosen.items()
        for value in wanted
    ]
    charts = [_build_chart(facet, values, url) for facet, values in counts.items()]
    return html.Div(
        [
            chip_row("Filters", chips) if chips else None,
            html.Div([each for each in charts if each is not None], className="facet-charts"),
        ]
    )


def _build_chart(facet: Facet, values: Mapping[str, int], url: CompareUrl) -> Component | None:
    chosen = url.chosen[facet]
    shown = [(value, n) for value, n in values.items() if n or value in chosen]
    if len(shown) < 2 and not chosen:
        return None
    if facet in {Facet.CAUSE, Facet.CLASS}:
        shown.sort(key=lambda pair: -pair[1])
    most = max((n for _, n in shown), default=1) or 1
    rows = [html.Li(_build_bar(facet, value, n, most, url)) for value, n in shown[:_SHOWN]]
    rest = len(shown) - len(rows)
    more = html.Li(f"and {rest} more", className="quiet") if rest else None
    label = f"Tests by {_TITLES[facet].lower()}"
    return html.Div(
        [html.H3(_TITLES[facet]), html.Ul([*rows, more], **aria(label=label))],
        className="facet-chart",
    )


def _build_bar(facet: Facet, value: str, n: int, most: int, url: CompareUrl) -> Component:
    is_chosen = value in url.chosen[facet]
    return LINKS.link(
        [
            html.Span(value.replace("_", " "), className="facet-name"),
            html.Span(
                html.Span(style={"width": f"{n / most:.1%}"}, className="facet-fill"),
                className="facet-bar",
            ),
            html.Span(f"{n:,}", className="facet-count"),
        ],
        _toggle(url, facet, value),
        className="facet-row is-chosen" if is_chosen else "facet-row",
        title=f"{write_count(n, 'test')}; "
        f"{'remove this filter' if is_chosen else 'show only these'}",
        **aria(current="true" if is_chosen else "false"),
    )


def _toggle(url: CompareUrl, facet: Facet, value: str) -> str:
    is_number = facet is Facet.LEVEL
    return url.toggle(FACET_FIELDS[facet], int(value) if is_number else value).search
