"""Score of every compared LLM in every class; a cell limits the list of tests to its class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.addresses import toggled
from poor_bench.dashboard.components.attributes import aria
from poor_bench.dashboard.components.llm_mark import llm_mark
from poor_bench.dashboard.components.stay_link import StayLinks
from poor_bench.dashboard.pages.compare.ids import CompareIds as Ids
from poor_bench.dashboard.pages.compare.selection import CompareSelection
from poor_bench.dashboard.services.comparisons import ClassScore
from poor_bench.statistics.intervals import Estimate

if TYPE_CHECKING:
    from dash.development.base_component import Component

_LINKS = StayLinks(Ids.SEARCH)


def class_map(
    scores: Mapping[str, Sequence[ClassScore]],
    names: Sequence[str],
    selection: CompareSelection,
) -> Component:
    """Return the table of classes.

    Args:
        scores: Class id to one entry per LLM, the base first.
        names: What screens call the LLMs.
        selection: State of the page, for links to other states.
    """
    head = html.Tr(
        [html.Th("Model", scope="col"), *(_head(class_id, selection) for class_id in scores)]
    )
    body = [
        html.Tr(
            [
                html.Th(
                    html.Div([llm_mark(number), html.Span(name)], className="class-map-name"),
                    scope="row",
                ),
                *(
                    _cell(class_id, of_class[number], name, selection)
                    for class_id, of_class in scores.items()
                ),
            ]
        )
        for number, name in enumerate(names)
    ]
    return html.Div(
        html.Table([html.Thead(head), html.Tbody(body)], className="heat-map class-map"),
        className="heat-map-frame",
        tabIndex="0",
        role="region",
        **aria(label="Scores by model and class"),
    )


def _head(class_id: str, selection: CompareSelection) -> Component:
    is_chosen = class_id in selection.classes
    link = _LINKS.link(
        _class_name(class_id),
        _search(class_id, selection),
        className="class-link is-active" if is_chosen else "class-link",
        title="Show all classes" if is_chosen else "Show the tests of this class only",
        **aria(current="true" if is_chosen else "false"),
    )
    return html.Th(link, scope="col")


def _cell(class_id: str, score: ClassScore, name: str, selection: CompareSelection) -> Component:
    if score.score is None:
        return html.Td(html.Span("-", className="heat-cell is-empty"))
    against = score.against_base
    return html.Td(
        _LINKS.link(
            [
                html.Span(f"{name}, {_class_name(class_id)}: ", className="only-heard"),
                html.Span(f"{score.score:.2f}"),
                html.Span(f"{against.value:+.2f}", className=_change_class(against))
                if against is not None
                else None,
            ],
            _search(class_id, selection),
            className="heat-cell",
            title=_told(score),
            style={"--score": f"{score.score:.3f}"},
        )
    )


def _search(class_id: str, selection: CompareSelection) -> str:
    return selection.changed(classes=toggled(selection.classes, class_id), test="").search


def _class_name(class_id: str) -> str:
    return class_id.replace("_", " ") or "unknown class"


def _told(score: ClassScore) -> str:
    told = f"score {score.score:.3f}"
    seen = score.against_base
    if seen is None:
        return told
    return (
        f"{told}, {seen.value:+.3f} from the baseline (95 % CI {seen.low:+.2f} to {seen.high:+.2f})"
    )


def _change_class(seen: Estimate) -> str:
    is_clear = seen.low > 0 or seen.high < 0
    return "heat-change is-clear" if is_clear else "heat-change"
