"""Callbacks of the page: query services, build components."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from dash import State, dcc, html

from poor_bench.dashboard.bindings import bind_address, bind_file, bind_view
from poor_bench.dashboard.components.attributes import aria
from poor_bench.dashboard.components.buttons import image_buttons
from poor_bench.dashboard.components.still import still
from poor_bench.dashboard.figures.judge_history import judge_history
from poor_bench.dashboard.figures.judge_radar import judge_radar
from poor_bench.dashboard.figures.style import graph_config
from poor_bench.dashboard.pages.judge import files, sheets
from poor_bench.dashboard.pages.judge.conversation import case_card
from poor_bench.dashboard.pages.judge.ids import JudgeIds as Ids
from poor_bench.dashboard.pages.judge.layout import no_runs
from poor_bench.dashboard.pages.judge.run_sheets import case_sheet, run_sheet
from poor_bench.dashboard.pages.judge.selection import (
    chosen_case,
    chosen_run,
    run_with_id,
    selection_of,
)
from poor_bench.dashboard.pages.judge.trust_sheet import trust_sheet
from poor_bench.judge.history.summary import RunSummary

if TYPE_CHECKING:
    from dash import Dash
    from dash.development.base_component import Component
    from plotly.graph_objects import Figure

    from poor_bench.dashboard.services.services import Services

_LEAST_AXES = 3
_RADAR, _HISTORY = "Scores by dimension", "Scores from run to run"


def show(services: Services, search: str | None) -> tuple[Any, ...]:
    """Build note, head, scores, cases and the open case."""
    summaries, selection = services.judged.summaries(), selection_of(search)
    summary = chosen_run(summaries, selection)
    if summary is None:
        return "no judged runs yet", no_runs(), None, None, None, None
    case, run = chosen_case(summary, selection), summary.run
    open_case = case.conversation.case_id if case else ""
    agents = {item.run.header.agent_id: item.run.header.agent_name for item in summaries}
    head = [
        sheets.agent_chips(agents, run.header.agent_id),
        sheets.run_tiles(summary),
        sheets.notes_list(summary),
    ]
    labels = services.judged.labels_on(case.conversation.hash) if case else ()
    cases = case_sheet(summary.cases, run.run_id, selection, open_case)
    base = run_with_id(summaries, selection.base)
    return (
        note(services, summary),
        head,
        *scores(services, summary, base),
        cases,
        case_card(case, labels) if case else None,
    )


def note(services: Services, summary: RunSummary) -> str:
    """Describe the open run in one line."""
    header = summary.run.header
    when = f"run of {header.started[:16].replace('T', ' ')} UTC"
    parts = [header.agent_name, header.llm_id, when]
    if services.judged.is_under_way(header.run_id):
        parts.append("running")
    return " · ".join(part for part in parts if part)


def scores(
    services: Services, summary: RunSummary, base: RunSummary | None
) -> tuple[Component | None, Component]:
    """Build radar and table of one or two runs."""
    shown = [base, summary] if base is not None else [summary]
    series = [(_label(item), item.panel.scores) for item in shown]
    n_axes = len(shown[0].panel.scores.keys() & shown[-1].panel.scores.keys())
    chart = (
        _graph(_RADAR, judge_radar(series), _described(series)) if n_axes >= _LEAST_AXES else None
    )
    if base is None:
        return chart, sheets.dimension_sheet(summary)
    return chart, sheets.change_sheet(services.judged.comparison(base, summary))


def context(services: Services, search: str | None) -> tuple[Any, Any, Any]:
    """Build history, runs and agreement."""
    summaries, selection = services.judged.summaries(), selection_of(search)
    summary = chosen_run(summaries, selection)
    if summary is None:
        return None, None, None
    of_agent = [
        item for item in summaries if item.run.header.agent_id == summary.run.header.agent_id
    ]
    others = [item for item in summaries if item not in of_agent]
    chart = _graph(_HISTORY, judge_history(of_agent), _HISTORY) if of_agent[1:] else None
    runs = run_sheet([*others, *of_agent], selection, summary.run.run_id)
    return chart, runs, trust_sheet(services.judged.agreement())


def _label(summary: RunSummary) -> str:
    header = summary.run.header
    return f"{header.agent_name}, {header.started[:16].replace('T', ' ')}"


def _described(series: Sequence[tuple[str, Any]]) -> str:
    texts = [
        f"{label}: " + ", ".join(f"{name} {score:.2f}" for name, score in values.items())
        for label, values in series
    ]
    return f"{_RADAR}. {'; '.join(texts)}"


def _graph(title: str, figure: Figure, label: str) -> Component:
    graph = dcc.Graph(figure=figure, config=graph_config(), className="chart")
    return html.Div(
        [
            html.Div(image_buttons(title), className="chart-tools"),
            html.Div(graph, role="figure", **aria(label=label)),
        ]
    )


def register(app: Dash, services: Services) -> None:
    """Register the callbacks."""

    def draw(search: str) -> tuple[Any, ...]:
        note, head, chart, sheet, cases, case = show(services, search)
        scores = html.Div([chart, still(sheet)], className="judge-scores") if sheet else None
        return note, still(head, search=search), scores, still(cases, search=search), still(case)

    def draw_context(search: str) -> tuple[Any, ...]:
        chart, runs, trust = context(services, search)
        history = html.Div([chart, still(runs, search=search)]) if runs else None
        return history, still(trust)

    bind_view(app, Ids.SEARCH, (Ids.NOTE, Ids.HEAD, Ids.SCORES, Ids.CASES, Ids.CASE), draw)
    bind_view(app, Ids.SEARCH, (Ids.HISTORY, Ids.TRUST), draw_context)
    bind_address(app, Ids.SEARCH)
    for button, content in (
        (Ids.SCORES_CSV, files.scores_csv),
        (Ids.CASES_CSV, files.cases_csv),
        (Ids.RUNS_CSV, files.runs_csv),
        (Ids.TRUST_CSV, files.trust_csv),
    ):
        bind_file(app, Ids.DOWNLOAD, button, partial(content, services), State(Ids.SEARCH, "data"))
