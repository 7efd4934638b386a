"""Handlers that most pages have: they follow address and data, and offer files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dash import Input, Output, State, no_update

from poor_bench.dashboard.ids import ShellIds
from poor_bench.dashboard.scripts import bind_script

if TYPE_CHECKING:
    from dash import Dash


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
