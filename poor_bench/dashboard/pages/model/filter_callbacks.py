"""Handlers of the filters: what can be chosen, and the choice as a query of the address."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from dash import Dash, Input, Output, State, dcc, no_update

from poor_bench.dashboard.components.llm_options import llm_options
from poor_bench.dashboard.components.states import empty_state
from poor_bench.dashboard.ids import ShellIds
from poor_bench.dashboard.pages.model.ids import ModelIds as Ids
from poor_bench.dashboard.scripts import bind_script
from poor_bench.dashboard.text.think_text import think_to_text
from poor_bench.errors import PoorBenchError

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.links import Search
    from poor_bench.dashboard.services.services import Services

Options = list[dict[str, str]]


def start(services: Services, search: Search) -> Search:
    """Choose the first LLM that has results where the address names none."""
    if search.get("llm"):
        return search
    try:
        return {**search, "llm": list(services.stored().llm_ids[:1])}
    except PoorBenchError:
        return search


def no_results() -> Component:
    """Return what stands on the page before the first run."""
    return empty_state(
        "No results yet",
        "Run the tests to read every result here.",
        dcc.Link("Run tests", href="/run", className="button-link"),
    )


def filter_options(services: Services) -> tuple[Options, Options, Options]:
    """Return the classes, levels and think parameters that can be chosen."""
    workspace, table = services.workspace(), services.stored()
    levels = sorted({test.level for test in workspace.tests})
    thinks = sorted({think_to_text(value) for value in table.values["think"]})
    return (
        [{"value": name, "label": name.replace("_", " ")} for name in workspace.test_classes],
        [{"value": str(level), "label": f"Level {level}"} for level in levels],
        [{"value": think, "label": f"Think: {think}"} for think in thinks],
    )


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    _register_filters(app, services)
    _register_query(app)


def _register_filters(app: Dash, services: Services) -> None:
    @app.callback(
        Output(Ids.LLM, "data"),
        Output(Ids.CLASSES, "data"),
        Output(Ids.LEVELS, "data"),
        Output(Ids.THINKS, "data"),
        Input(ShellIds.VERSION, "data"),
        State(Ids.LLM, "value"),
    )
    def _show_options(version: str | None, chosen: str | None) -> Any:
        if version is None:
            return (no_update,) * 4
        llms = llm_options(services.stored().llm_ids, filter(None, [chosen]), services.name)
        return llms, *filter_options(services)

    @app.callback(
        Output(Ids.EMPTY, "children"),
        Output(Ids.BODY, "hidden"),
        Input(ShellIds.VERSION, "data"),
    )
    def _show_empty(version: str | None) -> Any:
        is_empty = version is not None and not services.stored().llm_ids
        return no_results() if is_empty else None, is_empty

    @app.callback(
        Output(Ids.CLASSES, "value"),
        Output(Ids.LEVELS, "value"),
        Output(Ids.THINKS, "value"),
        Output(Ids.OUTCOME, "value"),
        Output(Ids.TEXT, "value"),
        Output(Ids.ISSUE, "data"),
        Input(Ids.CLEAR, "n_clicks"),
        prevent_initial_call=True,
    )
    def _clear(_clicks: int) -> Any:
        return [], [], [], "", "", ""


def _register_query(app: Dash) -> None:
    bind = partial(bind_script, app, "model")
    fields = (Ids.LLM, Ids.CLASSES, Ids.LEVELS, Ids.THINKS, Ids.OUTCOME, Ids.TEXT)
    bind(
        "collect",
        Output(Ids.QUERY, "data"),
        *(Input(field, "value") for field in fields),
        Input(Ids.ISSUE, "data"),
        prevent_initial_call=True,
    )
    bind(
        "settle",
        Output(Ids.SETTLED, "data"),
        Input(Ids.RESULTS, "getRowsResponse"),
        State(Ids.QUERY, "data"),
        State(Ids.SETTLED, "data"),
        prevent_initial_call=True,
    )
    bind("show", Output(Ids.QUERY, "id"), Input(Ids.QUERY, "data"), Input(Ids.SELECTED, "data"))
