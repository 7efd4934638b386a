"""Scores of the compared models by test class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.components.badges import (
    llm_mark,
)
from poor_bench.dashboard.components.controls import class_link
from poor_bench.dashboard.components.heat_cells import heat_legend, list_notes
from poor_bench.dashboard.components.tables import row, sheet
from poor_bench.dashboard.pages.compare.layout import LINKS, CompareUrl
from poor_bench.messages import write_count
from poor_bench.metrics.trust import list_trust_notes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dash.development.base_component import Component

    from poor_bench.dashboard.services.compare_service import ClassScore
    from poor_bench.statistics.intervals import Estimate
    from poor_bench.statistics.summary import Summary


def class_map(
    scores: Mapping[str, Sequence[ClassScore]],
    names: Sequence[str],
    url: CompareUrl,
    summaries: Mapping[tuple[int, str], Summary],
) -> Component:
    """Build the table of classes; a cell limits the list of tests to its class.

    Args:
        scores: Class id to one entry per LLM, the base first.
        names: What screens call the LLMs.
        url: State of the page, for links to other states.
        summaries: By place of the model and class id; what they lack is written below a score.
    """
    rows = [
        row(
            html.Div([llm_mark(index), html.Span(name)], className="class-map-name"),
            *(
                _cell(class_id, of_class[index], name, url, summaries.get((index, class_id)))
                for class_id, of_class in scores.items()
            ),
        )
        for index, name in enumerate(names)
    ]
    links = (class_link(LINKS, url, class_id, _class_name(class_id)) for class_id in scores)
    kind = "heat-map class-map"
    table = sheet(["Model", *links], rows, label="Scores by model and class", kind=kind)
    return html.Div([table, heat_legend()])


def _cell(
    class_id: str, score: ClassScore, name: str, url: CompareUrl, summary: Summary | None
) -> Component:
    notes = list_trust_notes(summary) if summary else ()
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
            url.toggle("classes", class_id).change(test="").search,
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
    return f"{told}; {seen.value:+.3f} from the baseline ({interval})"


def _change_class(seen: Estimate) -> str:
    is_clear = seen.low > 0 or seen.high < 0
    return "heat-change is-clear" if is_clear else "heat-change"
