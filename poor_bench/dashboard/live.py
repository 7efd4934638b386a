"""How open pages follow what changes in the files, without being loaded again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import Dash, Input, Output, State, no_update

from poor_bench.dashboard.components.blocked_state import blocked_state
from poor_bench.dashboard.components.notice import notice
from poor_bench.dashboard.components.run_status import run_status
from poor_bench.dashboard.ids import ShellIds
from poor_bench.dashboard.services.run_state import RunState
from poor_bench.dashboard.shell import CLOCK_BUSY_MS, CLOCK_IDLE_MS
from poor_bench.errors import PoorBenchError
from poor_bench.messages import counted

if TYPE_CHECKING:
    from poor_bench.dashboard.services.services import Services


def follow(services: Services, known_version: str | None) -> tuple[Any, int, Any]:
    """Return the present version where it is new, how soon to ask again, and the run."""
    version = services.version()
    state = services.runs.state()
    return (no_update if version == known_version else version), clock_ms(state), run_status(state)


def clock_ms(state: RunState) -> int:
    """Return how often to look for something new."""
    return CLOCK_BUSY_MS if state.is_active else CLOCK_IDLE_MS


def refresh(services: Services) -> tuple[str, list[dict[str, Any]]]:
    """Read everything again; return the new version and a notice of what is there."""
    services.refresh()
    version = services.version()
    try:
        table = services.table()
        text = f"{counted(len(table), 'result')} of {counted(len(table.llm_ids), 'model')}"
    except PoorBenchError as error:
        return version, [notice("Refresh failed", str(error), is_error=True)]
    return version, [notice("Up to date", text)]


def show_problems(services: Services, path: str | None) -> tuple[Any, str]:
    """Return what keeps workspace or results from being read, and the class of the page.

    A page that cannot be filled is hidden; a run that goes on stays in sight.
    """
    problem = services.problem()
    if problem is None:
        return None, "page"
    is_run = (path or "").rstrip("/") == "/run" and services.runs.state().is_active
    return blocked_state(problem), "page" if is_run else "page is-blocked"


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""

    @app.callback(
        Output(ShellIds.VERSION, "data"),
        Output(ShellIds.CLOCK, "interval"),
        Output(ShellIds.RUN_STATUS, "children"),
        Input(ShellIds.CLOCK, "n_intervals"),
        State(ShellIds.VERSION, "data"),
    )
    def _follow(_ticks: int | None, known: str | None) -> tuple[Any, int, Any]:
        return follow(services, known)

    @app.callback(
        Output(ShellIds.VERSION, "data", allow_duplicate=True),
        Output(ShellIds.NOTICES, "sendNotifications"),
        Input(ShellIds.REFRESH, "n_clicks"),
        prevent_initial_call=True,
    )
    def _refresh(_clicks: int) -> tuple[str, list[dict[str, Any]]]:
        return refresh(services)

    @app.callback(
        Output(ShellIds.PROBLEMS, "children"),
        Output(ShellIds.PAGE, "className"),
        Input(ShellIds.VERSION, "data"),
        Input(ShellIds.ADDRESS, "data"),
    )
    def _show(_version: str | None, address: dict[str, str] | None) -> Any:
        return show_problems(services, address["path"] if address else None)
