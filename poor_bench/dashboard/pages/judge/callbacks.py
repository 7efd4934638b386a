"""Callbacks of the page: results, label form, start form."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

from dash import Dash, Input, Output, State, html, no_update
from dash.development.base_component import Component
from plotly.graph_objects import Figure

from poor_bench.dashboard.components.blocks import AWAITED, chart, empty_state, error_banner
from poor_bench.dashboard.components.controls import image_buttons
from poor_bench.dashboard.components.tables import sketch_layout, still
from poor_bench.dashboard.figures.history import judge_history, judge_radar
from poor_bench.dashboard.forms import report_saved
from poor_bench.dashboard.page import (
    ShellIds,
    bind_address,
    bind_view,
    on_click,
    on_data,
)
from poor_bench.dashboard.pages.judge.layout import (
    FORM,
    LINKS,
    THIS_CASE,
    JudgeIds,
    JudgeStartIds,
    JudgeUrl,
    LabelIds,
    chosen_case,
    chosen_run,
    layout,
    no_runs,
    plan_tiles,
    rubric_note,
    run_with_id,
    write_command,
)
from poor_bench.dashboard.pages.judge.pairwise import (
    PairIds,
    pairwise_csv,
    register_pairwise,
    write_run,
)
from poor_bench.dashboard.pages.judge.sheets import (
    agent_chips,
    build_corrected_sheet,
    case_card,
    case_sheet,
    change_sheet,
    dimension_sheet,
    next_link,
    notes_list,
    run_sheet,
    run_tiles,
    trust_sheet,
)
from poor_bench.dashboard.pages.judge.tables import (
    CORRECTED,
    TRUST,
    define_cases,
    define_changes,
    define_dimensions,
    define_runs,
    list_dimensions,
)
from poor_bench.dashboard.services.console_runs import must_ask
from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.start_form import (
    StartPlan,
    bind_start_form,
)
from poor_bench.dashboard.table_files import TableFile, bind_files, table_file
from poor_bench.errors import PoorBenchError
from poor_bench.judge.judged_run import RunSummary
from poor_bench.judge.registry import load_agent_registry
from poor_bench.judge.run_plan import JudgeRequest, find_plan_usd, prepare_plan
from poor_bench.labels.label import OVERALL
from poor_bench.providers.endpoint import is_local

_LEAST_AXES = 3
_RADAR, _HISTORY = "Dimensions", "Score over runs"


def show(services: Services, search: str | None) -> tuple[Any, ...]:
    """Build note, head, scores, cases and the open case."""
    summaries, url = services.judged.summaries(), JudgeUrl.read(search)
    summary = chosen_run(summaries, url)
    if summary is None:
        return "no runs yet", no_runs(), None, None, None, None
    case, run = chosen_case(summary, url), summary.run
    open_case = case.conversation.case_id if case else ""
    agents = {item.run.header.agent_id: item.run.header.agent for item in summaries}
    head = [
        agent_chips(agents, run.header.agent_id),
        run_tiles(summary),
        notes_list(summary),
    ]
    labels = services.judged.labels_on(case.conversation.hash) if case else ()
    cases = case_sheet(summary.cases, run.run_id, url, open_case)
    base = run_with_id(summaries, url.base)
    return (
        note(services, summary),
        head,
        *scores(services, summary, base, url),
        cases,
        html.Div([case_card(case, labels), next_link(services.judged.next_answer(), url)])
        if case
        else None,
    )


def note(services: Services, summary: RunSummary) -> str:
    """Describe the open run in one line."""
    header = summary.run.header
    when = f"{header.started[:16].replace('T', ' ')} UTC"
    parts = [header.agent, header.llm_id, when]
    if services.judged.is_under_way(header.run_id):
        parts.append("running")
    return " · ".join(part for part in parts if part)


def scores(
    services: Services, summary: RunSummary, base: RunSummary | None, url: JudgeUrl
) -> tuple[Component | None, Component]:
    """Build radar and table of one or two runs."""
    shown = [base, summary] if base is not None else [summary]
    series = [(write_run(item.run.header), item.panel.scores) for item in shown]
    n_axes = len(shown[0].panel.scores.keys() & shown[-1].panel.scores.keys())
    chart = (
        _graph(_RADAR, judge_radar(series), _describe(series)) if n_axes >= _LEAST_AXES else None
    )
    if base is None and not summary.panel.scores:
        return None, empty_state("Not judged", "Restart if stopped.")
    if base is None:
        return chart, dimension_sheet(summary, url)
    return chart, change_sheet(services.judged.comparison(base, summary), url)


def context(services: Services, search: str | None) -> tuple[Any, Any, Any, Any]:
    """Build history, runs, agreement and corrected scores."""
    summaries, url = services.judged.summaries(), JudgeUrl.read(search)
    measured = services.judged.agreement()
    trust = trust_sheet(measured, url)
    summary = chosen_run(summaries, url)
    if summary is None:  # people may have rated answers to tests
        return None, None, trust if measured else None, None
    of_agent = [
        item for item in summaries if item.run.header.agent_id == summary.run.header.agent_id
    ]
    others = [item for item in summaries if item not in of_agent]
    chart = _graph(_HISTORY, judge_history(of_agent), _HISTORY) if of_agent[1:] else None
    runs = run_sheet([*reversed(of_agent), *reversed(others)], url, summary.run.run_id)
    return chart, runs, trust, build_corrected_sheet(services.judged.estimate_scores(), url)


def _describe(series: Sequence[tuple[str, Any]]) -> str:
    texts = [
        f"{label}: " + ", ".join(f"{name} {score:.2f}" for name, score in values.items())
        for label, values in series
    ]
    return f"{_RADAR}. {'; '.join(texts)}"


def _graph(title: str, figure: Figure, label: str) -> Component:
    buttons = html.Div(image_buttons(title), className="chart-tools")
    return html.Div([buttons, chart(figure, label)])


def sketch(services: Services, url: JudgeUrl) -> Component:
    """Build the page as plain elements, with the figures of the run: no chart, nothing below it."""
    note, head, _, scores, *_ = show(services, url.search)
    filled: dict[str, Any] = dict.fromkeys(
        (JudgeIds.CASES, JudgeIds.CASE, JudgeIds.HISTORY, JudgeIds.TRUST)
    )
    awaited = html.Div(className=AWAITED) if scores else None
    filled |= {JudgeIds.NOTE: note, JudgeIds.HEAD: head, JudgeIds.SCORES: awaited}
    drawn: Component = sketch_layout(layout(url), filled)
    return drawn


def register(app: Dash, services: Services) -> None:
    """Register the callbacks."""

    def draw(search: str) -> tuple[Any, ...]:
        note, head, chart, sheet, cases, case = show(services, search)
        scores = (
            html.Div([chart, still(sheet, search=search)], className="judge-scores")
            if sheet
            else None
        )
        return note, still(head, search=search), scores, still(cases, search=search), still(case)

    def draw_context(search: str) -> tuple[Any, ...]:
        chart, runs, *trust = context(services, search)
        history = html.Div([chart, still(runs, search=search)]) if runs else None
        return history, *(still(each, search=search) for each in trust)

    bind_view(
        app,
        JudgeIds.SEARCH,
        (JudgeIds.NOTE, JudgeIds.HEAD, JudgeIds.SCORES, JudgeIds.CASES, JudgeIds.CASE),
        draw,
    )
    _register_label_form(app, services)
    _register_start(app, services)
    register_pairwise(app, services, LINKS, JudgeUrl)
    parts = (JudgeIds.HISTORY, JudgeIds.TRUST, JudgeIds.CORRECTED)
    bind_view(app, JudgeIds.SEARCH, parts, draw_context)
    bind_address(app, JudgeIds.SEARCH)
    files = {
        JudgeIds.SCORES_CSV: scores_csv,
        JudgeIds.CASES_CSV: cases_csv,
        JudgeIds.RUNS_CSV: runs_csv,
        JudgeIds.TRUST_CSV: trust_csv,
        JudgeIds.CORRECTED_CSV: build_corrected_csv,
        PairIds.CSV: pairwise_csv,
    }
    bind_files(app, services, JudgeIds.DOWNLOAD, files, State(JudgeIds.SEARCH, "data"))


WHOLE = "Overall"
_DIMENSION = f"{WHOLE}: "


def label_choices(services: Services, search: str | None) -> list[str]:
    """Choices of the score form for the open run."""
    summary = chosen_run(services.judged.summaries(), JudgeUrl.read(search))
    weights = summary.run.header.weights if summary else {}
    return [THIS_CASE, WHOLE, *(f"{_DIMENSION}{name}" for name in weights)]


def save_label(
    services: Services, search: str | None, about: str, score: object, who: str, note: str
) -> tuple[Any, Any]:
    """Keep a score; return what to show, and the new state of the data."""
    url = JudgeUrl.read(search)
    summary = chosen_run(services.judged.summaries(), url)
    case = chosen_case(summary, url) if summary else None
    if summary is None or case is None:
        return "Select case", no_update
    is_case = about == THIS_CASE
    case_id = case.conversation.case_id if is_case else ""
    dimension = about.removeprefix(_DIMENSION) if about.startswith(_DIMENSION) else OVERALL
    try:
        services.judged.add_label(
            summary.run.run_id, case_id, dimension, score, who or "", note or ""
        )
    except PoorBenchError as error:
        return error_banner(error), no_update
    return report_saved(f"Saved: {case_id or about}.").shown, services.version()


def _register_label_form(app: Dash, services: Services) -> None:
    """Register the callbacks."""

    @on_data(app, Output(LabelIds.ABOUT, "data"), Input(JudgeIds.SEARCH, "data"))
    def _choices(search: str) -> Any:
        return label_choices(services, search)

    labels = (LabelIds.ABOUT, LabelIds.SCORE, LabelIds.WHO, LabelIds.NOTE)

    @on_click(
        app,
        LabelIds.SAVE,
        Output(LabelIds.RESULT, "children"),
        Output(ShellIds.VERSION, "data", allow_duplicate=True),
        State(JudgeIds.SEARCH, "data"),
        *(State(field, "value") for field in labels),
    )
    def _save(*fields: Any) -> Any:
        return save_label(services, *fields)


Options = list[dict[str, str]]


def options(services: Services) -> tuple[Options, Options]:
    """List agents and judges; empty if a file is not valid."""
    try:
        registry = load_agent_registry(services.data_dir())
    except PoorBenchError:
        return [], []
    agents = [{"value": agent.id, "label": agent.name} for agent in registry.agents.values()]
    judges = [{"value": llm.id, "label": llm.label or llm.id} for llm in registry.llms.values()]
    return agents, judges


def plan_run(services: Services, *values: Any) -> StartPlan:
    """Describe what a choice would run."""
    write_command(*values)
    agent_id, judges, repeat, *_ = values
    folder = services.data_dir()
    request = JudgeRequest(agent_id=agent_id, judges=tuple(judges or ()), repeat=repeat)
    plan = prepare_plan(request, load_agent_registry(folder), folder, os.environ)
    most_usd = find_plan_usd(plan, is_local)
    shown = [plan_tiles(plan, most_usd), html.P(rubric_note(plan), className="quiet")]
    llms = (plan.llms[plan.agent.llm_id], *plan.judges)
    return StartPlan(shown, needs_consent=must_ask(plan.n_steps, llms, most_usd))


def _register_start(app: Dash, services: Services) -> None:
    """Bind the form and the run."""

    @on_data(app, Output(JudgeStartIds.AGENT, "data"), Output(JudgeStartIds.JUDGES, "data"))
    def _options() -> Any:
        return options(services)

    plan = partial(plan_run, services)
    bind_start_form(app, services, FORM, plan=plan, command=write_command)


def scores_csv(services: Services, search: str | None) -> TableFile:
    """Export the scores of the open run, or their changes from its baseline."""
    summaries, url = services.judged.summaries(), JudgeUrl.read(search)
    summary, base = chosen_run(summaries, url), run_with_id(summaries, url.base)
    if summary is None:
        return table_file("judge_scores", [])
    if base is None:
        return define_dimensions(summary).file("judge_scores", list_dimensions(summary), url)
    comparison = services.judged.comparison(base, summary)
    changes = (*comparison.scores, *comparison.cases)
    return define_changes(comparison).file("judge_changes", changes, url)


def cases_csv(services: Services, search: str | None) -> TableFile:
    """Export the cases of the open run, with feedback."""
    url = JudgeUrl.read(search)
    summary = chosen_run(services.judged.summaries(), url)
    return define_cases().file("judge_cases", summary.cases if summary else (), url)


def runs_csv(services: Services, search: str | None) -> TableFile:
    """Export all runs, newest first unless the reader sorts them."""
    runs = services.judged.summaries()[::-1]
    return define_runs().file("judge_runs", runs, JudgeUrl.read(search))


def trust_csv(services: Services, search: str | None) -> TableFile:
    """Export the agreement of each judge with people."""
    judges = [each for each in services.judged.agreement().items() if each[1].n]
    return TRUST.file("judge_trust", judges, JudgeUrl.read(search))


def build_corrected_csv(services: Services, search: str | None) -> TableFile:
    """Export the mean scores that people would give."""
    scores = [each for each in services.judged.estimate_scores() if each.corrected is not None]
    return CORRECTED.file("judge_corrected", scores, JudgeUrl.read(search))
