"""Accepting the best result of a search: what it changes, a question, the change."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import dash_mantine_components as dmc
from dash import Dash, Input, Output, State, dcc, html
from dash.development.base_component import Component

from poor_bench.dashboard.components.blocks import card, error_banner
from poor_bench.dashboard.components.controls import build_options
from poor_bench.dashboard.components.texts import plain_text
from poor_bench.dashboard.page import ShellIds, on_click, on_data, show_error
from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.start_form import consent_dialog
from poor_bench.dashboard.text.formatting import error_text
from poor_bench.errors import PoorBenchError, StoreError
from poor_bench.messages import harmless
from poor_bench.tuning.accepting import accept_result, has_winner, propose_change
from poor_bench.tuning.searches import KeptSearch, list_searches


class AcceptIds(StrEnum):
    """What the callbacks refer to."""

    FRAME = "accept-frame"
    SEARCH = "accept-search-select"
    CHANGE = "accept-change-body"
    PROPOSED = "accept-proposed-store"
    """The shown search and the key of its result."""
    ASK = "accept-ask-button"
    MODAL = "accept-consent-modal"
    QUESTION = "accept-consent-body"
    ACCEPT = "accept-consent-start-button"
    BACK = "accept-consent-back-button"


Proposed = list[str]


def build_accepting() -> list[Component]:
    """Build the card, which is hidden without a result, and its question."""
    ask = dmc.Button("Accept", id=AcceptIds.ASK, size="compact-sm", disabled=True, n_clicks=0)
    choice = dmc.Select(id=AcceptIds.SEARCH, label="Search", data=[], clearable=True)
    return [
        html.Div(
            card("Result", choice, html.Div(id=AcceptIds.CHANGE), tools=ask),
            id=AcceptIds.FRAME,
            hidden=True,
        ),
        consent_dialog("accept", "Accept"),
        dcc.Store(id=AcceptIds.PROPOSED),
    ]


def list_results(services: Services) -> list[dict[str, str]]:
    """List the searches with a result to accept, newest first."""
    found = [each for each in list_searches(services.data_dir())[::-1] if _is_offered(each)]
    return build_options((each.run_id, _name(each)) for each in found)


def _is_offered(search: KeptSearch) -> bool:
    try:
        return has_winner(search)
    except StoreError:
        return False


def _name(search: KeptSearch) -> str:
    return harmless(f"{search.header.get('name')}, {search.header.get('llm')}, {search.run_id}")


def show_change(services: Services, run_id: str | None) -> tuple[Any, Any, Proposed | None]:
    """Build the change of the file, the question, and what the answer is about."""
    if not run_id:
        return None, None, None
    try:
        change = propose_change(services.files.config(), run_id)
    except PoorBenchError as error:
        return error_banner(error), None, None
    shown = [html.P(change.finding), html.P(html.Code(str(change.path))), plain_text(change.diff)]
    question = html.P([change.finding, " Write ", html.Code(change.path.name), "?"])
    return shown, question, [run_id, change.key]


def accept(services: Services, proposed: Proposed | None) -> None:
    """Write the result that was shown, or say why that is not possible."""
    if not proposed:
        return
    run_id, key = proposed
    try:
        accept_result(services.files.config(), run_id, key)
    except PoorBenchError as error:
        show_error(error_text(error))
    services.files.forget()


def register_accepting(app: Dash, services: Services, ended: Input) -> None:
    """Bind card and question.

    Args:
        app: The dashboard.
        services: The workspace.
        ended: Changes when a search ends.
    """
    opened = Output(AcceptIds.MODAL, "opened", allow_duplicate=True)

    @on_data(app, Output(AcceptIds.SEARCH, "data"), Output(AcceptIds.FRAME, "hidden"), ended)
    def _list(_is_still: bool) -> Any:
        found = list_results(services)
        return found, not found

    @on_data(
        app,
        Output(AcceptIds.CHANGE, "children"),
        Output(AcceptIds.QUESTION, "children"),
        Output(AcceptIds.PROPOSED, "data"),
        Output(AcceptIds.ASK, "disabled"),
        Input(AcceptIds.SEARCH, "value"),
    )
    def _show(run_id: str | None) -> Any:
        change, question, proposed = show_change(services, run_id)
        return change, question, proposed, proposed is None

    @on_click(app, AcceptIds.ASK, opened)
    def _ask() -> bool:
        return True

    @on_click(
        app,
        AcceptIds.ACCEPT,
        opened,
        Output(AcceptIds.SEARCH, "value"),
        Output(ShellIds.VERSION, "data", allow_duplicate=True),
        State(AcceptIds.PROPOSED, "data"),
    )
    def _accept(proposed: Proposed | None) -> Any:
        accept(services, proposed)
        return False, None, services.version()

    @on_click(app, AcceptIds.BACK, opened)
    def _go_back() -> bool:
        return False
