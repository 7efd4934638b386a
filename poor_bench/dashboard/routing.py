"""Which page stands at which address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import Dash, Input, Output

from poor_bench.dashboard.ids import ShellIds
from poor_bench.dashboard.links import read_search
from poor_bench.dashboard.pages.registry import PAGES, page_at
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
    state = read_search(search) or page.start(services)
    return page.layout(state), navigation(PAGES, page.path)


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""

    @app.callback(
        Output(ShellIds.PAGE, "children"),
        Output(ShellIds.NAVIGATION, "children"),
        Input(ShellIds.URL, "pathname"),
        Input(ShellIds.URL, "search"),
    )
    def _show_page(path: str | None, search: str | None) -> Any:
        return show_page(services, path, search)
