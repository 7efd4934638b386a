"""Which page stands at which address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import Dash, Input, Output, no_update

from poor_bench.dashboard.ids import ShellIds
from poor_bench.dashboard.links import Search, read_search
from poor_bench.dashboard.pages.registry import PAGES, page_at
from poor_bench.dashboard.scripts import bind_script
from poor_bench.dashboard.shell import llm_not_found, navigation, page_not_found
from poor_bench.errors import PoorBenchError

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.pages.page import Page
    from poor_bench.dashboard.services.services import Services


def show_page(
    services: Services, path: str | None, search: str | None
) -> tuple[Component, list[Component]]:
    """Return the page at an address, still without data, and the navigation."""
    page = page_at(path)
    if page is None:
        return page_not_found(), navigation(PAGES, "")
    pages = navigation(PAGES, page.path)
    state, unknown = _with_llm_ids(services, page, read_search(search))
    if unknown is not None:
        return llm_not_found(unknown), pages
    return page.layout(page.start(services, state)), pages


def _with_llm_ids(
    services: Services, page: Page, search: Search
) -> tuple[Search, PoorBenchError | None]:
    """Return a query with the ids of the LLMs that it names; also the error for an unknown one.

    While files cannot be read, the query stays as it is: the shell tells what is wrong.
    """
    named = {key: search[key] for key in page.llm_keys if key in search}
    try:
        ids = {key: [services.llm_id_named(name) for name in named[key]] for key in named}
    except PoorBenchError as error:
        return search, error if services.problem() is None else None
    return {**search, **ids}, None


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
