"""Where the subjects differ: charts that filter the tests and each other, and scores by class.

Bars and cells are links, so that keys reach them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from dash import html
from dash.development.base_component import Component

from poor_bench.dashboard.components.badges import heat_legend, list_notes, llm_mark
from poor_bench.dashboard.components.blocks import aria
from poor_bench.dashboard.components.controls import (
    COLUMNS_AT_ONCE,
    chip_row,
    class_link,
    page_steps,
)
from poor_bench.dashboard.components.sheets import SheetColumn, SheetTable
from poor_bench.dashboard.pages.compare.layout import FACET_FIELDS, LINKS, CompareUrl
from poor_bench.dashboard.services.compare_service import ClassScore
from poor_bench.messages import write_count
from poor_bench.metrics.trust import TrustNote
from poor_bench.results.grid import Facet
from poor_bench.statistics.intervals import Estimate

_TITLES = {
    Facet.CLASS: "Class",
    Facet.LEVEL: "Level",
    Facet.CAUSE: "Cause",
    Facet.LATENCY: "Latency",
    Facet.CHANGE: "Difference",
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
        )
        for facet in FACET_FIELDS
        for value in url.chosen[facet]
    ]
    charts = [_build_chart(facet, counts[facet], url) for facet in FACET_FIELDS]
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
    label = _TITLES[facet]
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
        **aria(current="true" if is_chosen else "false"),
    )


def _toggle(url: CompareUrl, facet: Facet, value: str) -> str:
    is_number = facet is Facet.LEVEL
    return url.toggle(FACET_FIELDS[facet], int(value) if is_number else value).search


def class_map(
    scores: Mapping[str, Sequence[ClassScore]],
    names: Sequence[str],
    url: CompareUrl,
    notes: Mapping[tuple[int, str], Sequence[TrustNote]],
) -> Component:
    """Build the table of classes; a cell limits the list of tests to its class.

    Args:
        scores: Class id to one entry per LLM, the base first.
        names: What screens call the LLMs.
        url: State of the page, for links to other states.
        notes: By place of the model and class id, written below a score.
    """
    n_pages = -(-len(scores) // COLUMNS_AT_ONCE)
    url = url.change(class_page=max(1, min(url.class_page, n_pages)))
    first = (url.class_page - 1) * COLUMNS_AT_ONCE
    on_page = list(scores)[first : first + COLUMNS_AT_ONCE]
    searches = {name: url.toggle("classes", name).change(test="").search for name in on_page}

    def cell(class_id: str, place: int) -> Component:
        score, below = scores[class_id][place], notes.get((place, class_id), ())
        return _cell(class_id, score, names[place], searches[class_id], below)

    models: SheetColumn[int] = SheetColumn(
        field="model", heading="Model", value=lambda place: names[place],
        cell=partial(_name_line, names), head=html.Th("Model", scope="col"),
    )  # fmt: skip
    classes: list[SheetColumn[int]] = [
        SheetColumn(
            field=_field(class_id), heading=_class_name(class_id), value=_read_nothing,
            cell=partial(cell, class_id),
            head=html.Th(class_link(LINKS, url, class_id, _class_name(class_id)), scope="col"),
        )
        for class_id in on_page
    ]  # fmt: skip
    columns = [models, *classes]
    table: SheetTable[int] = SheetTable(name=_MAP, label="Score by class", columns=columns)
    drawn = table.draw(range(len(names)), LINKS, url, kind="heat-map class-map")
    steps = page_steps(
        LINKS, url, len(scores), COLUMNS_AT_ONCE, label="Classes", field="class_page"
    )
    return html.Div([drawn, heat_legend(), steps])


_MAP = "classes"


def _field(class_id: str) -> str:
    """Name the column of a class; no class can be named as the column of models."""
    return f"={class_id}"


def list_shown_classes(class_ids: Collection[str], url: CompareUrl) -> list[str]:
    """List the classes of a file of the table: the chosen columns, or all if it has pages."""
    chosen = url.find_view(_MAP).columns
    is_whole = not chosen or len(class_ids) > COLUMNS_AT_ONCE
    return [each for each in class_ids if is_whole or _field(each) in chosen]


def _name_line(names: Sequence[str], place: int) -> Component:
    return html.Div([llm_mark(place), html.Span(names[place])], className="class-map-name")


def _read_nothing(_place: int) -> None:
    """Leave the rows in the order of the subjects."""


def _cell(
    class_id: str, score: ClassScore, name: str, search: str, notes: Sequence[TrustNote]
) -> Component:
    if score.score is None:
        return html.Td(html.Span(["n/a", *list_notes(notes)], className="heat-cell is-empty"))
    against = score.against_base
    return html.Td(
        LINKS.link(
            [
                html.Span(f"{name}, {_class_name(class_id)}: ", className="only-heard"),
                html.Span(f"{score.score:.2f}"),
                html.Span(f"{against.value:+.2f}", className=_change_class(against))
                if against is not None
                else None,
                html.Span(write_count(score.n, "test"), className="heat-cell-n"),
                *list_notes(notes),
            ],
            search,
            className="heat-cell",
            title=_describe_score(score),
            style={"--score": f"{score.score:.3f}"},
        )
    )


def _class_name(class_id: str) -> str:
    return class_id.replace("_", " ") or "unknown class"


def _describe_score(score: ClassScore) -> str:
    told = f"score {score.score:.3f}, {write_count(score.n, 'test')}"
    seen = score.against_base
    if seen is None:
        return told
    interval = f"95 % CI {seen.low:+.2f} to {seen.high:+.2f}, {seen.basis} in common"
    return f"{told}; {seen.value:+.3f} ({interval})"


def _change_class(seen: Estimate) -> str:
    is_clear = seen.low > 0 or seen.high < 0
    return "heat-change is-clear" if is_clear else "heat-change"
