"""Blocks of a page: cards, tiles, and what stands in the place of data.

A live card is drawn again and again while its buttons stay: a button that is drawn anew loses the
click that it just received. So only title, note and content of such a card change, and its class
says which of its buttons are visible.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
from dash import dcc, html
from dash.development.base_component import Component

from poor_bench.dashboard.text.formatting import range_text
from poor_bench.dashboard.theme import graph_config
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.messages import harmless


def aria(**attributes: str) -> dict[str, Any]:
    """Build accessibility attributes for a component.

    Example:
        >>> aria(label="Pages", hidden="true")
        {'aria-label': 'Pages', 'aria-hidden': 'true'}
    """
    return {f"aria-{name}": value for name, value in attributes.items()}


def data(**attributes: str) -> dict[str, Any]:
    """Build data attributes for a component, which scripts and styles look for.

    Example:
        >>> data(seen_store="x")
        {'data-seen-store': 'x'}
    """
    return {f"data-{name.replace('_', '-')}": value for name, value in attributes.items()}


def number_range(least: float, most: float | None = None) -> dict[str, Any]:
    """Build the properties of a number field that says its range where another one is typed."""
    return {"min": least, "max": most, **data(range=range_text(least, most))}


def icon(name: str) -> Component:
    """Build an icon that screen readers pass over; `assets/icons.css` knows the names."""
    return html.Span(className=f"icon icon-{name}", **aria(hidden="true"))


_TICKED = re.compile(r"`([^`\n]+)`")
_BOLD = re.compile(r"(?<![\w*])\*\*(?=\S)([^*\n]+)(?<=\S)\*\*(?![\w*])")
"""Not a power, nor arguments with names: what stands in quotes stays as it is."""


def set_code(text: str) -> list[str | Component]:
    """Build a text with what stands between backticks set as code, without them."""
    pieces = _TICKED.split(text)
    return [
        html.Code(piece, className="ticked") if place % 2 else piece
        for place, piece in enumerate(pieces)
        if piece
    ]


def set_emphasis(text: str) -> list[str | Component]:
    """Build a text with what stands between two stars on either side in bold, without them."""
    pieces = _BOLD.split(text)
    return [html.Strong(piece) if place % 2 else piece for place, piece in enumerate(pieces)]


def card(
    title: str,
    *children: Any,
    tools: Any = None,
    note: Any = None,
    class_name: str = "",
    **further: Any,
) -> Component:
    """Build a block with a heading.

    Args:
        title: The heading.
        children: What stands in the block.
        tools: Buttons and switches at the right of the heading.
        note: One quiet sentence below the heading: what the block shows, how to read it.
        class_name: Further CSS class.
        further: Properties of `html.Section`.
    """
    return html.Section(
        [
            html.Div(
                [
                    html.Div(
                        [
                            html.H2(title),
                            html.P(note, className="card-note") if note is not None else None,
                        ]
                    ),
                    html.Div(tools, className="card-tools") if tools is not None else None,
                ],
                className="card-head",
            ),
            *children,
        ],
        className=f"card {class_name}".strip(),
        **aria(label=title),
        **further,
    )


def page_head(title: str, note: Any = None, tools: Any = None) -> Component:
    """Build the head of a page: its name, one line about its content, its main buttons."""
    return html.Div(
        [
            html.Div([html.H1(title), html.Div(note, className="page-note")]),
            html.Div(tools, className="page-tools") if tools is not None else None,
        ],
        className="page-head",
    )


ABSENT = "card is-absent"
"""The class of a block that has nothing to show."""
AWAITED = "is-awaited"
"""The class of what callbacks replace: what follows it on the page is not shown until then."""

COMPUTING = "computing ..."


def computing() -> Component:
    """Say that a part comes later: what follows it on the page is not shown until then."""
    return html.Span(COMPUTING, className=f"quiet {AWAITED}")


MAY_BE_LATE = "may-be-late"
"""The class of a part that keeps its height where it comes late, see `assets/late.js`."""


def late_button() -> Component:
    """Build the button of a card that shows all of what came late; see `assets/late.js`."""
    return html.Button("Show all", className="choose-button late-button", type="button")


def live_card(
    label: str,
    *,
    frame_id: str,
    head_id: str,
    body_id: str,
    tools: Any,
    class_name: str = ABSENT,
) -> Component:
    """Build a block that is hidden until callbacks fill it.

    Args:
        label: What it is, for screen readers.
        frame_id: Id of the block; callbacks set its class.
        head_id: Id of what `live_head` goes into.
        body_id: Id of what the content goes into.
        tools: Buttons at the right of the heading.
        class_name: Its classes until then.
    """
    head = html.Div(
        [html.Div(id=head_id), html.Div(tools, className="card-tools")], className="card-head"
    )
    return html.Section(
        [head, html.Div(id=body_id)], id=frame_id, className=class_name, **aria(label=label)
    )


def live_head(title: str, note: str) -> list[Component]:
    """Build the heading of a block, and the quiet line below it."""
    return [html.H2(title), html.P(note, className="card-note")]


def tile(
    name: str, figure: str, note: str = "", *, title: str = "", is_warning: bool = False
) -> Component:
    """Show one figure large, its name above and a note below; `title` is the tooltip."""
    return html.Div(
        [
            html.Dt(name),
            html.Dd(figure, className="tile-figure is-warning" if is_warning else "tile-figure"),
            html.Dd(note, className="tile-note") if note else None,
        ],
        className="tile",
        title=title,
    )


def colour_key(title: str, colours: Iterable[tuple[str, str]]) -> Component:
    """Say what colours mean.

    Args:
        title: What they are parts of.
        colours: CSS class and name of each.
    """
    parts = [html.Span([html.Span(className=f"swatch {kind}"), name]) for kind, name in colours]
    return html.Div([f"{title}:", *parts], className="colour-key")


def tiles(*children: Component) -> Component:
    """Build figures in a row that wraps."""
    return html.Dl(list(children), className="tiles")


_SHOWN_PROBLEMS = 20


def empty_state(
    title: str, text: str | Sequence[str | Component] = "", *actions: Component
) -> Component:
    """Build the block for an empty list: what it means and what to do."""
    return html.Div(
        [
            html.Div(icon("empty"), className="empty-mark"),
            html.H2(title, className="empty-title"),
            html.P(text, className="empty-text") if text else None,
            html.Div(actions, className="empty-actions") if actions else None,
        ],
        className="empty-state",
    )


def loading_state(n_lines: int = 4, *, has_columns: bool = False) -> Component:
    """Build grey lines in the shape of what is about to come.

    Args:
        n_lines: How many.
        has_columns: True if a table with a list of columns comes: its button has its place already.
    """
    class_name = "loading-state with-columns" if has_columns else "loading-state"
    lines = {"--lines": str(n_lines)}
    return html.Div(className=class_name, style=lines, role="status", **aria(label="Loading"))


def warning_banner(title: str, *texts: str) -> Component:
    """Build a warning with what to do about it."""
    paragraphs = [html.P(set_code(text)) for text in texts]
    return html.Div(
        [icon("warning"), html.Div([html.Strong(title), *paragraphs])],
        className="error-banner",
        role="alert",
    )


_SHOWN_VALUES, _LONGEST_VALUE = 10, 60


def tell_unknown(unknown: Sequence[str]) -> Component | None:
    """Say what an address names that does not exist, and what is shown instead."""
    if not unknown:
        return None
    named = [f"`{harmless(each[:_LONGEST_VALUE])}`" for each in unknown[:_SHOWN_VALUES]]
    return warning_banner("Not found", f"{', '.join(named)}. Defaults shown.")


def error_banner(error: PoorBenchError) -> Component:
    """Describe what is wrong, where, and the way out."""
    problems = error.problems if isinstance(error, ConfigError) else ()
    more = len(problems) - _SHOWN_PROBLEMS
    return html.Div(
        [
            icon("warning"),
            html.Div(
                [
                    html.Strong(set_code(str(error))),
                    html.Ul(
                        [html.Li(set_code(str(problem))) for problem in problems[:_SHOWN_PROBLEMS]]
                    )
                    if problems
                    else None,
                    html.P(f"and {more} more") if more > 0 else None,
                    html.P(set_code(error.hint)) if error.hint else None,
                ]
            ),
        ],
        className="error-banner",
        role="alert",
    )


def chart(figure: go.Figure, label: str, *, class_name: str = "") -> Component:
    """Build a chart.

    Args:
        figure: What it draws.
        label: The same in words, for screen readers.
        class_name: CSS class of its frame.
    """
    graph = dcc.Graph(figure=figure, config=graph_config(), className="chart")
    return html.Div(
        graph,
        role="figure",
        className=f"chart-place {class_name}".strip(),
        style=keep_height(figure),
        **aria(label=label),
    )


def keep_height(figure: go.Figure) -> dict[str, str]:
    """Build the style of a place that has the height of its chart before it is drawn."""
    return {"minHeight": f"{figure.layout.height}px"}


def figures_list(figures: Mapping[str, str]) -> Component:
    """Build a list of named figures; those that are not known are left out."""
    known = {name: text for name, text in figures.items() if text not in {"-", ""}}
    return html.Dl(
        [html.Div([html.Dt(name), html.Dd(text)]) for name, text in known.items()],
        className="figures",
    )


def no_results() -> Component:
    """Build what a page shows before the first run."""
    return empty_state("No results yet", "", run_button())


def run_button() -> Component:
    """Link to the page Run."""
    return dcc.Link("Run tests", href="/run", className="button-link")
