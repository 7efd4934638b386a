"""What stands around every page: header, navigation, notices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import dash_mantine_components as dmc
from dash import dcc, html

from poor_bench.dashboard.components.attributes import aria
from poor_bench.dashboard.components.card import page_head
from poor_bench.dashboard.components.icon import icon
from poor_bench.dashboard.components.states import empty_state
from poor_bench.dashboard.components.ticked_text import ticked_text
from poor_bench.dashboard.ids import ShellIds
from poor_bench.dashboard.pages.page import Page
from poor_bench.dashboard.theme import MANTINE_THEME

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.errors import PoorBenchError

CLOCK_BUSY_MS = 1500
CLOCK_IDLE_MS = 4000


def shell(pages: Sequence[Page]) -> Component:
    """Return the whole application around an empty page."""
    provider: Component = dmc.MantineProvider(
        [
            dcc.Store(id=ShellIds.ADDRESS),
            dcc.Store(id=ShellIds.VERSION),
            dcc.Interval(id=ShellIds.CLOCK, interval=CLOCK_IDLE_MS),
            dmc.NotificationContainer(id=ShellIds.NOTICES, position="bottom-right"),
            html.A("Skip to content", href=f"#{ShellIds.PAGE}", className="skip-link"),
            _header(pages),
            html.Div(id=ShellIds.PROBLEMS, className="problems"),
            html.Main(id=ShellIds.PAGE, className="page", tabIndex="-1"),
        ],
        theme=MANTINE_THEME,
        defaultColorScheme="auto",
    )
    return provider


def _header(pages: Sequence[Page]) -> Component:
    brand = dcc.Link(
        [html.Span(className="brand-mark"), html.Span("poor_bench")], href="/", className="brand"
    )
    tools = html.Div(
        [
            html.Div(id=ShellIds.RUN_STATUS, className="run-status"),
            dmc.Tooltip(
                dmc.ActionIcon(
                    icon("refresh"),
                    id=ShellIds.REFRESH,
                    variant="subtle",
                    color="gray",
                    **aria(label="Refresh results and files"),
                ),
                label="Refresh results and files",
            ),
            dmc.ColorSchemeToggle(
                lightIcon=icon("sun"),
                darkIcon=icon("moon"),
                variant="subtle",
                color="gray",
                **aria(label="Switch between light and dark"),
            ),
        ],
        className="header-tools",
    )
    return html.Header(
        [
            brand,
            html.Nav(navigation(pages, "/"), id=ShellIds.NAVIGATION, **aria(label="Pages")),
            tools,
        ],
        className="header",
    )


def navigation(pages: Sequence[Page], path: str) -> list[Component]:
    """Return the links to the pages; the one at `path` is marked as the present one."""
    return [
        dcc.Link(
            page.title,
            href=page.path,
            className="nav-link is-active" if page.path == path else "nav-link",
        )
        for page in pages
    ]


def llm_not_found(error: PoorBenchError) -> Component:
    """Make what stands at an address that names an unknown LLM."""
    nothing = empty_state(
        "Unknown model",
        ticked_text(f"Check the address: {error} ({error.hint})."),
        dcc.Link("Go to overview", href="/", className="button-link"),
    )
    return html.Div([page_head("Not found"), nothing], className="page-body")


def page_not_found() -> Component:
    """Return what stands at an address without a page."""
    nothing = empty_state(
        "Page not found",
        "Check the address, or go to the overview.",
        dcc.Link("Go to overview", href="/", className="button-link"),
    )
    return html.Div([page_head("Not found"), nothing], className="page-body")
