"""The panel beside the table: everything about one trial, previous and next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
from dash import Dash, Input, Output, State, ctx, dcc, html, no_update

from poor_bench import metrics
from poor_bench.dashboard.components.badges import score_badge, weak_sandbox_badge
from poor_bench.dashboard.components.blocks import figures_list
from poor_bench.dashboard.components.texts import build_folded, difference, plain_text
from poor_bench.dashboard.page import bind_script, on_click, on_data
from poor_bench.dashboard.pages.model.layout import (
    ModelIds,
    ModelUrl,
    read_selected_key,
    sort_query,
)
from poor_bench.dashboard.text.differences import compare_texts
from poor_bench.dashboard.text.safe_markdown import safe_markdown
from poor_bench.messages import write_count
from poor_bench.results.query import think_to_text
from poor_bench.scoring.verdict import MAX_DETAILS

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.services import Services
    from poor_bench.dashboard.services.trial_search import ResultDetails
    from poor_bench.models.result import Result
    from poor_bench.results.table import TrialKey


def details_title(details: ResultDetails) -> list[Component]:
    """Return which trial is open."""
    result = details.result
    level = f" · level {details.level}" if details.level is not None else ""
    trial = f" · trial {result.trial}" if result.trial > 1 else ""
    return [
        html.H2(result.test_id),
        html.P(f"{details.class_id or 'removed test'}{level}{trial}"),
    ]


def details_body(details: ResultDetails) -> list[Component | None]:
    """Return everything about a trial."""
    return [
        _verdict(details),
        _difference(details),
        _section("Response", plain_text(details.answer, details.answer_span)),
        _thinking(details),
        _prompt(details),
        _section("Figures", _figures(details.result)),
    ]


def _verdict(details: ResultDetails) -> Component:
    result = details.result
    if result.failure is not None:
        kind = result.failure.kind.value.replace("_", " ")
        return html.Div(
            [
                html.Strong(f"Failed to run: {kind}"),
                html.P(result.failure.message),
                html.P("This is not a score; the test stays pending.", className="quiet"),
            ],
            className="failure-box",
        )
    strict = result.strict_score
    issues = [html.Li(f"{title}: {evidence}") for title, evidence in details.issues]
    return html.Div(
        [
            html.Div(
                [
                    score_badge(result.score),
                    html.Span(
                        f"strict {strict:.2f}: the answer is not in the required format",
                        className="quiet",
                    )
                    if strict is not None and strict != result.score
                    else None,
                    *(
                        dmc.Badge(mark.replace("_", " "), color="orange", variant="light")
                        for mark in result.marks
                    ),
                    weak_sandbox_badge(result.weak_sandbox),
                ],
                className="verdict-line",
            ),
            dcc.Markdown(safe_markdown(result.details[:MAX_DETAILS]), className="evaluator-says"),
            html.Ul(issues, className="details-issues") if issues else None,
        ]
    )


def _difference(details: ResultDetails) -> Component | None:
    if not details.expected or details.result.score is None:
        return None
    if details.result.score >= 1.0:
        return _section("Expected", plain_text(details.expected))
    if not details.got:
        return _section("Expected; no answer found", plain_text(details.expected))
    return _section(
        "Expected and actual",
        html.P([html.Del("expected"), " ", html.Ins("actual")], className="difference-key"),
        difference(compare_texts(details.expected, details.got)),
    )


def _thinking(details: ResultDetails) -> Component | None:
    if not details.thinking:
        return None
    n_words = len(details.thinking.split())
    return build_folded(f"Thinking ({write_count(n_words, 'word')})", plain_text(details.thinking))


def _prompt(details: ResultDetails) -> Component | None:
    if not details.prompt:
        return None
    as_today = "" if details.is_prompt_stored else " (rendered from the current files)"
    system = plain_text(details.system_prompt) if details.system_prompt else None
    return build_folded(
        f"Prompt{as_today}",
        html.H4("System") if system else None,
        system,
        html.H4("User") if system else None,
        plain_text(details.prompt),
    )


def _figures(result: Result) -> Component:
    figures = {
        **{metric.label: metric.show_trial(result) for metric in metrics.TRIAL},
        "Finish reason": result.finish_reason or "-",
        "Answer format": result.found or "-",
        "Sandbox": result.sandbox or "-",
        "Think": think_to_text(result.think),
        "Time of request": result.timestamp[:19].replace("T", " "),
        "Run": result.run_id or "-",
    }
    return figures_list(figures)


def _section(title: str, *children: Component) -> Component:
    return html.Section([html.H3(title), *children])


SortModel = list[dict[str, Any]] | None
Shown = tuple[list["Component"], str, bool, bool, list["Component | None"], list[Any] | None]


def find_chosen_trial(services: Services, llm_id: str, selected: object) -> TrialKey | None:
    """Return the trial that a store names, or its failure where it has no score; None for none."""
    key = read_selected_key(selected)
    if key is None:
        return None
    table = services.results.read_stored()
    candidates = (key, key._replace(is_failure=True))
    return next((each for each in candidates if table.find(llm_id, each) is not None), None)


def neighbour(
    services: Services, search: str, sort: SortModel, selected: object, step: int
) -> TrialKey | None:
    """Return the trial `step` rows further in the table; None where there is none."""
    query = ModelUrl.read(search).query
    key = find_chosen_trial(services, query.llm_id, selected)
    found = services.trials.find(sort_query(query, sort))
    place = found.find_place(key) if key is not None else None
    return None if place is None else found.key_at(place + step)


def shown_details(services: Services, search: str, sort: SortModel, selected: object) -> Shown:
    """Build the panel of the selected trial; empty if none is selected or known.

    Returns:
        Title, position, whether there is nothing before and nothing behind, body, and the trial
        with its place.
    """
    query = ModelUrl.read(search).query
    key = find_chosen_trial(services, query.llm_id, selected)
    details = services.trials.details(query.llm_id, key) if key is not None else None
    if key is None or details is None:
        return [], "", True, True, [], None
    found = services.trials.find(sort_query(query, sort))
    place = found.find_place(key)
    title, body = details_title(details), details_body(details)
    if place is None:
        return title, "", True, True, body, [*key, None]
    position = f"{place + 1:,} of {len(found):,}"
    return title, position, place == 0, place + 1 == len(found), body, [*key, place]


def bar_to_selected(services: Services, search: str, click: dict[str, Any]) -> list[Any] | None:
    """Return the first trial of the test whose bar was chosen."""
    [test_id, *_] = click["points"][0]["customdata"]
    found = services.trials.find(ModelUrl.read(search).query)
    keys = (found.key_at(place) for place in range(len(found)))
    key = next((key for key in keys if key is not None and key.test_id == test_id), None)
    return None if key is None else list(key)


def register_details(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    bind_script(
        app,
        "model",
        "select_row",
        Output(ModelIds.SELECTED, "data"),
        Input(ModelIds.RESULTS, "selectedRows"),
        prevent_initial_call=True,
    )

    @app.callback(
        Output(ModelIds.SELECTED, "data", allow_duplicate=True),
        Input(ModelIds.CHART_GRAPH, "clickData"),
        State(ModelIds.QUERY, "data"),
        prevent_initial_call=True,
    )
    def _select_bar(click: dict[str, Any] | None, search: str) -> Any:
        return no_update if not click else bar_to_selected(services, search, click) or no_update

    @on_click(
        app,
        (ModelIds.PREVIOUS, ModelIds.NEXT),
        Output(ModelIds.SELECTED, "data", allow_duplicate=True),
        State(ModelIds.QUERY, "data"),
        State(ModelIds.SORT, "data"),
        State(ModelIds.SELECTED, "data"),
    )
    def _step(search: str, sort: SortModel, selected: object) -> Any:
        step = -1 if ctx.triggered_id == ModelIds.PREVIOUS else 1
        key = neighbour(services, search, sort, selected, step)
        return no_update if key is None else list(key)

    @on_click(app, ModelIds.CLOSE, Output(ModelIds.SELECTED, "data", allow_duplicate=True))
    def _close() -> Any:
        return None

    _register_panel(app, services)


def _register_panel(app: Dash, services: Services) -> None:
    bind_script(
        app, "grid", "mark_open", Output(ModelIds.RESULTS, "id"), Input(ModelIds.OPEN, "data")
    )

    @on_data(
        app,
        Output(ModelIds.DETAILS_TITLE, "children"),
        Output(ModelIds.DETAILS_POSITION, "children"),
        Output(ModelIds.PREVIOUS, "disabled"),
        Output(ModelIds.NEXT, "disabled"),
        Output(ModelIds.DETAILS, "children"),
        Output(ModelIds.OPEN, "data"),
        Input(ModelIds.SELECTED, "data"),
        Input(ModelIds.QUERY, "data"),
        State(ModelIds.SORT, "data"),
    )
    def _show(selected: object, search: str | None, sort: SortModel) -> Any:
        if search is None:
            return (no_update,) * 6
        return shown_details(services, search, sort, selected)
