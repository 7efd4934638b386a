"""Handlers of the form in which a person scores a conversation or an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import Dash, Input, Output, State, no_update

from poor_bench.dashboard.components.states import error_banner
from poor_bench.dashboard.ids import ShellIds
from poor_bench.dashboard.pages.judge.ids import JudgeIds as Ids
from poor_bench.dashboard.pages.judge.ids import LabelIds
from poor_bench.dashboard.pages.judge.layout import THIS_CASE
from poor_bench.dashboard.pages.judge.selection import chosen_case, chosen_run, selection_of
from poor_bench.errors import PoorBenchError
from poor_bench.judge.history.summary import OVERALL

if TYPE_CHECKING:
    from poor_bench.dashboard.services.services import Services

WHOLE = "the whole agent"
_DIMENSION = "the agent: "


def choices(services: Services, search: str | None) -> list[str]:
    """Choices of the score form for the open run."""
    summary = chosen_run(services.judged.summaries(), selection_of(search))
    weights = summary.run.header.weights if summary else {}
    return [THIS_CASE, WHOLE, *(f"{_DIMENSION}{name}" for name in weights)]


def save(
    services: Services, search: str | None, about: str, score: object, who: str, note: str
) -> tuple[Any, Any]:
    """Keep a score; return what to show, and the new state of the data."""
    selection = selection_of(search)
    summary = chosen_run(services.judged.summaries(), selection)
    case = chosen_case(summary, selection) if summary else None
    if summary is None or case is None:
        return "Choose a conversation to score.", no_update
    is_case = about == THIS_CASE
    case_id = case.conversation.case_id if is_case else ""
    dimension = about.removeprefix(_DIMENSION) if about.startswith(_DIMENSION) else OVERALL
    try:
        services.judged.add_label(
            summary.run.run_id, case_id, dimension, score, who or "", note or ""
        )
    except PoorBenchError as error:
        return error_banner(error), no_update
    return f"Saved: {case_id or about}.", services.version()


def register(app: Dash, services: Services) -> None:
    """Register the callbacks."""

    @app.callback(
        Output(LabelIds.ABOUT, "data"),
        Input(ShellIds.VERSION, "data"),
        Input(Ids.SEARCH, "data"),
    )
    def _choices(version: str | None, search: str) -> Any:
        return no_update if version is None else choices(services, search)

    @app.callback(
        Output(LabelIds.RESULT, "children"),
        Output(ShellIds.VERSION, "data", allow_duplicate=True),
        Input(LabelIds.SAVE, "n_clicks"),
        State(Ids.SEARCH, "data"),
        State(LabelIds.ABOUT, "value"),
        State(LabelIds.SCORE, "value"),
        State(LabelIds.WHO, "value"),
        State(LabelIds.NOTE, "value"),
        prevent_initial_call=True,
    )
    def _save(clicks: int | None, *fields: Any) -> Any:
        return save(services, *fields) if clicks else (no_update, no_update)
