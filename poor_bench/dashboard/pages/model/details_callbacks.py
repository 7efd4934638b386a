"""Handlers of the panel beside the table: which trial it shows, previous and next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import Dash, Input, Output, State, ctx, no_update

from poor_bench.dashboard.ids import ShellIds
from poor_bench.dashboard.pages.model.details_panel import details_body, details_title
from poor_bench.dashboard.pages.model.ids import ModelIds as Ids
from poor_bench.dashboard.pages.model.query import query_of, selected_key, sorted_as
from poor_bench.dashboard.scripts import bind_script
from poor_bench.dashboard.services.result_table import TrialKey

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.services import Services

SortModel = list[dict[str, Any]] | None
Shown = tuple[list["Component"], str, bool, bool, list["Component | None"], list[Any] | None]


def asked_for(services: Services, llm_id: str, selected: object) -> TrialKey | None:
    """Return the trial that a store names, or its failure where it has no score; None for none."""
    key = selected_key(selected)
    if key is None:
        return None
    table = services.stored()
    candidates = (key, key._replace(is_failure=True))
    return next((each for each in candidates if table.find(llm_id, each) is not None), None)


def neighbour(
    services: Services, search: str, sort: SortModel, selected: object, step: int
) -> TrialKey | None:
    """Return the trial `step` rows further in the table; None where there is none."""
    query = query_of(search)
    key = asked_for(services, query.llm_id, selected)
    found = services.find(sorted_as(query, sort))
    place = found.place_of(key) if key is not None else None
    return None if place is None else found.key_at(place + step)


def shown_details(services: Services, search: str, sort: SortModel, selected: object) -> Shown:
    """Return what the panel shows of the selected trial; nothing where none is selected or known.

    Returns:
        Title, position, whether there is nothing before and nothing behind, body, and the trial
        with its place.
    """
    query = query_of(search)
    key = asked_for(services, query.llm_id, selected)
    details = services.details(query.llm_id, key) if key is not None else None
    if key is None or details is None:
        return [], "", True, True, [], None
    found = services.find(sorted_as(query, sort))
    place = found.place_of(key)
    title, body = details_title(details), details_body(details)
    if place is None:
        return title, "", True, True, body, [*key, None]
    position = f"{place + 1:,} of {len(found):,}"
    return title, position, place == 0, place + 1 == len(found), body, [*key, place]


def bar_to_selected(services: Services, search: str, click: dict[str, Any]) -> list[Any] | None:
    """Return the first trial of the test whose bar was chosen."""
    [test_id, *_] = click["points"][0]["customdata"]
    found = services.find(query_of(search))
    keys = (found.key_at(place) for place in range(len(found)))
    key = next((key for key in keys if key is not None and key.test_id == test_id), None)
    return None if key is None else list(key)


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    bind_script(
        app,
        "model",
        "select_row",
        Output(Ids.SELECTED, "data"),
        Input(Ids.RESULTS, "selectedRows"),
        prevent_initial_call=True,
    )

    @app.callback(
        Output(Ids.SELECTED, "data", allow_duplicate=True),
        Input(Ids.CHART_GRAPH, "clickData"),
        State(Ids.QUERY, "data"),
        prevent_initial_call=True,
    )
    def _select_bar(click: dict[str, Any] | None, search: str) -> Any:
        return no_update if not click else bar_to_selected(services, search, click) or no_update

    @app.callback(
        Output(Ids.SELECTED, "data", allow_duplicate=True),
        Input(Ids.PREVIOUS, "n_clicks"),
        Input(Ids.NEXT, "n_clicks"),
        State(Ids.QUERY, "data"),
        State(Ids.SORT, "data"),
        State(Ids.SELECTED, "data"),
        prevent_initial_call=True,
    )
    def _step(_back: int, _on: int, search: str, sort: SortModel, selected: object) -> Any:
        step = -1 if ctx.triggered_id == Ids.PREVIOUS else 1
        key = neighbour(services, search, sort, selected, step)
        return no_update if key is None else list(key)

    @app.callback(
        Output(Ids.SELECTED, "data", allow_duplicate=True),
        Input(Ids.CLOSE, "n_clicks"),
        prevent_initial_call=True,
    )
    def _close(_clicks: int) -> Any:
        return None

    _register_panel(app, services)


def _register_panel(app: Dash, services: Services) -> None:
    bind_script(app, "grid", "mark_open", Output(Ids.RESULTS, "id"), Input(Ids.OPEN, "data"))

    @app.callback(
        Output(Ids.DETAILS_TITLE, "children"),
        Output(Ids.DETAILS_POSITION, "children"),
        Output(Ids.PREVIOUS, "disabled"),
        Output(Ids.NEXT, "disabled"),
        Output(Ids.DETAILS, "children"),
        Output(Ids.OPEN, "data"),
        Input(Ids.SELECTED, "data"),
        Input(ShellIds.VERSION, "data"),
        Input(Ids.QUERY, "data"),
        State(Ids.SORT, "data"),
    )
    def _show(selected: object, version: str | None, search: str | None, sort: SortModel) -> Any:
        if version is None or search is None:
            return (no_update,) * 6
        return shown_details(services, search, sort, selected)
