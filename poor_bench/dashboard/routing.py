"""Which page stands at which address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import Dash, Input, Output, no_update

from poor_bench.dashboard.ids import ShellIds
from poor_bench.dashboard.links import read_search
from poor_bench.dashboard.pages.registry import PAGES, page_at
from poor_bench.dashboard.scripts import bind_script
from poor_bench.dashboard.shell import navigation, page_not_found

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.services import Services


def show_page(
    services: Services, path: str | None, search: str | None
) -> tuple[Component, list[Component]]:
    """Return the page at an address, still without data, and the navigation."""
    page = page_at(path)
    if page is None:
        return page_not_found(), navigation(PAGES, "")
    state = page.start(services, read_search(search))
    return page.layout(state), navigation(PAGES, page.path)


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    bind_script(
        app, "address", "read", Output(ShellIds.ADDRESS, "data"), Input(ShellIds.ADDRESS, "id")
    )

    @app.callback(
        Output(ShellIds.PAGE, "children"),
        Output(ShellIds.NAVIGATION, "children"),
        Input(ShellIds.ADDRESS, "data"),
    )
    def _show_page(address: dict[str, str] | None) -> Any:
        if address is None:
            return no_update, no_update
        return show_page(services, address["path"], address["search"])
