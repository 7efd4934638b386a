"""What a page is, and the callbacks and messages that all pages share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from dash import Input, Output, State, no_update

from poor_bench.dashboard.url_state import UrlState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dash import Dash
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.run_state import RunState
    from poor_bench.dashboard.services.services import Services


class ShellIds(StrEnum):
    """What stands around every page."""

    ADDRESS = "shell-address-store"
    """Path and search of the page that is shown; `assets/address.js` follows the browser's."""
    VERSION = "shell-version-store"
    """A text that changes whenever there is something new to show; pages listen to it."""
    CLOCK = "shell-clock-interval"
    NAVIGATION = "shell-navigation-nav"
    RUN_STATUS = "shell-run-status"
    REFRESH = "shell-refresh-button"
    NOTICES = "shell-notices-container"
    PROBLEMS = "shell-problems-banner"
    PAGE = "shell-page-main"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of the dashboard."""

    path: str
    """Where it stands, such as `/run`."""
    title: str
    """What navigation and browser tab call it."""
    url: type[UrlState] = UrlState
    """The state that its address keeps."""
    layout: Callable[[Any], Component]
    """Builds the page without data from the state of its address; callbacks fill it."""
    start: Callable[[Services, Any], Any] = lambda _services, url: url
    """Completes the state of an address with what the page needs; never raises PoorBenchError."""
    parts: Callable[[], Sequence[Component]] = tuple
    """Returns one of each component with an id that callbacks put into the page later."""
    register: Callable[[Dash, Services], None]
    """Binds the handlers of the page to an application."""


def bind_script(app: Any, namespace: str, function: str, *arguments: Any, **options: Any) -> None:
    """Bind `window.dash_clientside.<namespace>.<function>`.

    Args:
        app: The Dash application; Dash gives its method no types.
        namespace: Name that the script gives its functions together.
        function: Name of the function.
        arguments: Outputs, inputs and states, as in a callback.
        options: Such as `prevent_initial_call`.
    """
    from dash import ClientsideFunction

    app.clientside_callback(ClientsideFunction(namespace, function), *arguments, **options)


def bind_address(app: Dash, search_id: str) -> None:
    """Show the state of a page in the address bar.

    Args:
        app: The application.
        search_id: The store that holds the query part of the page's address.
    """
    bind_script(app, "address", "show", Input(search_id, "data"), prevent_initial_call=True)


def bind_view(
    app: Dash, search_id: str, parts: Sequence[str], draw: Callable[[str], Sequence[Any]]
) -> None:
    """Fill parts of a page whenever its address or the data changes.

    Args:
        app: The application.
        search_id: The store that holds the query part of the page's address.
        parts: Ids of the elements.
        draw: Returns the children of each element for a query.
    """

    @app.callback(
        [Output(part, "children") for part in parts],
        Input(ShellIds.VERSION, "data"),
        Input(search_id, "data"),
    )
    def _draw(version: str | None, search: str) -> Sequence[Any]:
        return (no_update,) * len(parts) if version is None else draw(search)


def bind_file(
    app: Dash, download_id: str, button_id: str, content: Callable[..., Any], *states: State
) -> None:
    """Let a button download a file.

    Args:
        app: The application.
        download_id: The `dcc.Download` that saves it.
        button_id: The button.
        content: Returns the file as `dcc.Download` takes it.
        states: What is passed on to `content`.
    """

    @app.callback(
        Output(download_id, "data", allow_duplicate=True),
        Input(button_id, "n_clicks"),
        *states,
        prevent_initial_call=True,
    )
    def _download(clicks: int | None, *values: Any) -> Any:
        return content(*values) if clicks else no_update


CLOCK_BUSY_MS = 1500


CLOCK_IDLE_MS = 4000


def clock_ms(state: RunState) -> int:
    """Return how often to look for something new."""
    return CLOCK_BUSY_MS if state.is_active else CLOCK_IDLE_MS


def notice(title: str, text: str, *, is_error: bool = False) -> dict[str, Any]:
    """Return a message for `NotificationContainer.sendNotifications`."""
    return {
        "action": "show",
        "id": uuid4().hex,
        "title": title,
        "message": text,
        "color": "red" if is_error else "blue",
        "autoClose": 10_000 if is_error else 3_000,
    }


def show_error(text: str) -> None:
    """Tell the reader, from within a callback, that something did not work."""
    from dash import set_props

    message = notice("Action failed", text, is_error=True)
    set_props(ShellIds.NOTICES, {"sendNotifications": [message]})


def text_file(name: str, content: str) -> dict[str, Any]:
    """Return what `dcc.Download` takes as its data.

    Args:
        name: File name that the browser proposes.
        content: The text of the file.
    """
    return {"filename": name, "content": content, "base64": False, "type": "text/csv"}
