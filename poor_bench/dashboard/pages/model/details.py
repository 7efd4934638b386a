"""The result panel beside the table: which result is open, previous and next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from dash import Dash, Input, Output, State, ctx, no_update

from poor_bench.dashboard.components.tables import still
from poor_bench.dashboard.page import bind_script, on_click, on_data
from poor_bench.dashboard.pages.model.ids import ModelIds
from poor_bench.dashboard.pages.model.url import ModelUrl, read_selected_key, sort_query
from poor_bench.dashboard.result_panel.callbacks import register_panel
from poor_bench.dashboard.result_panel.frame import PanelIds
from poor_bench.dashboard.result_panel.panel import build_panel, build_title
from poor_bench.dashboard.result_panel.rating_bar import RatingIds

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.services import Services
    from poor_bench.results.table import TrialKey


SortModel = list[dict[str, Any]] | None


class Shown(NamedTuple):
    """What the panel and the stores around it hold."""

    title: list[Component]
    position: str
    is_first: bool
    is_last: bool
    body: list[Component | None]
    place: list[Any] | None
    """The trial with its place in the table, which may be None."""
    opened: Any
    """The result for `PanelIds.OPEN`."""


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


def build_shown_details(
    services: Services, search: str, sort: SortModel, selected: object
) -> Shown:
    """Build the panel of the selected trial; empty if none is selected or known."""
    query = ModelUrl.read(search).query
    key = find_chosen_trial(services, query.llm_id, selected)
    panel = services.panel.read(query.llm_id, key) if key is not None else None
    if key is None or panel is None:
        return Shown([], "", True, True, [], None, None)
    found = services.trials.find(sort_query(query, sort))
    place = found.find_place(key)
    title, body = build_title(panel), build_panel(panel, services.llms.name)
    opened = [query.llm_id, *key]
    if place is None:
        return Shown(title, "", True, True, body, [*key, None], opened)
    position = f"{place + 1:,} of {len(found):,}"
    is_last = place + 1 == len(found)
    return Shown(title, position, place == 0, is_last, body, [*key, place], opened)


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
        (PanelIds.PREVIOUS, PanelIds.NEXT),
        Output(ModelIds.SELECTED, "data", allow_duplicate=True),
        State(ModelIds.QUERY, "data"),
        State(ModelIds.SORT, "data"),
        State(ModelIds.SELECTED, "data"),
    )
    def _step(search: str, sort: SortModel, selected: object) -> Any:
        step = -1 if ctx.triggered_id == PanelIds.PREVIOUS else 1
        key = neighbour(services, search, sort, selected, step)
        return no_update if key is None else list(key)

    @on_click(app, PanelIds.CLOSE, Output(ModelIds.SELECTED, "data", allow_duplicate=True))
    def _close() -> Any:
        return None

    _register_panel(app, services)
    register_panel(app, services)


def _register_panel(app: Dash, services: Services) -> None:
    bind_script(
        app,
        "model",
        "rate",
        Output(RatingIds.TARGET, "data"),
        Input(ModelIds.OPEN, "data"),
        State(ModelIds.LLM, "value"),
        prevent_initial_call=True,
    )
    bind_script(
        app, "grid", "mark_open", Output(ModelIds.RESULTS, "id"), Input(ModelIds.OPEN, "data")
    )

    @on_data(
        app,
        Output(PanelIds.TITLE, "children"),
        Output(PanelIds.POSITION, "children"),
        Output(PanelIds.PREVIOUS, "disabled"),
        Output(PanelIds.NEXT, "disabled"),
        Output(PanelIds.BODY, "children"),
        Output(ModelIds.OPEN, "data"),
        Output(PanelIds.OPEN, "data"),
        Input(ModelIds.SELECTED, "data"),
        Input(ModelIds.QUERY, "data"),
        State(ModelIds.SORT, "data"),
        State(PanelIds.OPEN, "data"),
    )
    def _show(
        selected: object, search: str | None, sort: SortModel, opened: list[Any] | None
    ) -> Any:
        if search is None:
            return (no_update,) * 7
        shown = build_shown_details(services, search, sort, selected)
        return shown._replace(
            title=still(shown.title),
            body=still(shown.body),
            opened=no_update if shown.opened == opened else shown.opened,  # keeps what is typed
        )
