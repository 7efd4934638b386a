"""What surrounds every page: header, navigation, routing, messages, following of changes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import dash_mantine_components as dmc
from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component

from poor_bench.dashboard.components.blocks import (
    aria,
    data,
    empty_state,
    icon,
    page_head,
    set_code,
    tell_unknown,
)
from poor_bench.dashboard.components.keys import key_list
from poor_bench.dashboard.components.tables import still
from poor_bench.dashboard.page import (
    CLOCK_IDLE_MS,
    Page,
    ShellIds,
    bind_news,
    bind_script,
    clock_ms,
    notice,
    read_address,
)
from poor_bench.dashboard.pages.registry import PAGES, page_at
from poor_bench.dashboard.services.run_state import RunState
from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.theme import MANTINE_THEME
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.messages import write_count
from poor_bench.models.problem import Problem, Severity


def shell(pages: Sequence[Page], workspace: str = "") -> Component:
    """Build the whole application around an empty page.

    Args:
        pages: All pages.
        workspace: Tells workspaces apart where a browser keeps something for one.
    """
    provider: Component = dmc.MantineProvider(
        [
            dcc.Store(id=ShellIds.ADDRESS),
            dcc.Store(id=ShellIds.VERSION),
            dcc.Store(
                id=ShellIds.TITLES,
                data={page.path: {"title": page.title, "shows": page.shows} for page in pages},
            ),
            dcc.Store(id=ShellIds.NAMES),
            dcc.Interval(id=ShellIds.CLOCK, interval=CLOCK_IDLE_MS),
            dmc.NotificationContainer(id=ShellIds.NOTICES, position="bottom-right"),
            html.A("Skip to content", href=f"#{ShellIds.PAGE}", className="skip-link"),
            _header(pages),
            connection_banner(),
            html.Div(id=ShellIds.PROBLEMS, className="problems"),
            html.Main(
                id=ShellIds.PAGE, className="page", tabIndex="-1", **data(workspace=workspace)
            ),
            key_list(ShellIds.KEYS),
        ],
        id=ShellIds.THEME,
        theme=MANTINE_THEME,
        defaultColorScheme="auto",
    )
    return provider


_CONNECTION = {
    "stopped": (
        "Server does not answer.",
        "Retrying. Restart if stopped.",
    ),
    "refused": (
        "Server restarted.",
        "Open the printed link: it ends with ?token=...",
    ),
}
"""State of the connection, as `assets/connection.js` names it, to what the banner says."""


def connection_banner() -> Component:
    """Build the banner that a script shows while the server does not answer."""
    return html.Div(
        [
            html.P([html.Strong(title), " ", text], className=f"if-{state}")
            for state, (title, text) in _CONNECTION.items()
        ],
        id=ShellIds.CONNECTION,
        className="connection-banner",
        role="alert",
    )


def sketch_shell(pages: Sequence[Page], page: Page, content: Component) -> Component:
    """Build what surrounds a page as plain elements, without controls."""
    nav = html.Nav(navigation(pages, page.path), **aria(label="Pages"))
    return html.Div(
        [
            html.Header([_brand(), nav], className="header"),
            html.Main(content, className="page"),
        ]
    )


def _brand() -> Component:
    return dcc.Link(
        [html.Span(className="brand-mark"), html.Span("poor_bench")], href="/", className="brand"
    )


def _header(pages: Sequence[Page]) -> Component:
    tools = html.Div(
        [
            html.Div(id=ShellIds.RUN_STATUS, className="run-status"),
            dmc.Tooltip(
                dmc.ActionIcon(
                    icon("refresh"),
                    id=ShellIds.REFRESH,
                    variant="subtle",
                    color="gray",
                    **aria(label="Refresh"),
                ),
                label="Refresh",
            ),
            dmc.Tooltip(
                dmc.ActionIcon(
                    html.Span("?", className="key-sign"),
                    variant="subtle",
                    color="gray",
                    **aria(label="Keyboard shortcuts (?)"),
                    **data(open_keys=""),
                ),
                label="Keyboard shortcuts (?)",
            ),
            dmc.ColorSchemeToggle(
                lightIcon=icon("sun"),
                darkIcon=icon("moon"),
                variant="subtle",
                color="gray",
                **aria(label="Light or dark"),
                **data(theme_switch=""),
            ),
        ],
        className="header-tools",
    )
    return html.Header(
        [
            still(_brand()),
            html.Nav(still(navigation(pages, "/")), id=ShellIds.NAVIGATION, **aria(label="Pages")),
            tools,
        ],
        className="header",
    )


def navigation(pages: Sequence[Page], path: str) -> list[Component]:
    """Build the links to the pages; the one at `path` is marked as the present one."""
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
        set_code(f"{error} ({error.hint})."),
        dcc.Link("Overview", href="/", className="button-link"),
    )
    return html.Div([page_head("Not found"), nothing], className="page-body")


def page_not_found() -> Component:
    """Build the page for an unknown address."""
    nothing = empty_state(
        "Unknown page",
        "",
        dcc.Link("Overview", href="/", className="button-link"),
    )
    return html.Div([page_head("Not found"), nothing], className="page-body")


def run_status(state: RunState) -> Component | None:
    """Show the progress of the run as a link to its page; None without a run."""
    if not state.is_active:
        return None
    figures = f"{state.n_done:,} / {state.n_items:,}" if state.n_items else "starting"
    return dcc.Link(
        [html.Span(className="pulse"), html.Span(f"{state.phase.value} {figures}")],
        href="/run",
        className="run-pill",
    )


_SHOWN_PROBLEMS = 50


def build_blocked_state(error: PoorBenchError) -> Component:
    """Describe what is wrong, where, the way out, and that nothing is lost."""
    problems = error.problems if isinstance(error, ConfigError) else ()
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    is_config = isinstance(error, ConfigError)
    title = "Workspace has errors" if is_config else "Results cannot be read"
    return html.Section(
        [
            html.Div(
                [
                    html.Div(icon("warning"), className="blocked-mark"),
                    html.Div([html.H1(title), html.P(_meaning(error))]),
                ],
                className="blocked-head",
            ),
            *_files(errors[:_SHOWN_PROBLEMS]),
            *_rest(error, len(errors) - _SHOWN_PROBLEMS),
        ],
        className="blocked-state",
        role="alert",
    )


def _meaning(error: PoorBenchError) -> str:
    said = "" if isinstance(error, ConfigError) and error.problems else f"{error}. "
    return f"{said}Results unchanged. Page reloads itself."


def _files(problems: list[Problem]) -> list[Component]:
    by_file = groupby(sorted(problems, key=lambda problem: problem.file), lambda one: one.file)
    return [_file(file, list(found)) for file, found in by_file]


def _file(file: str, problems: list[Problem]) -> Component:
    return html.Div(
        [
            html.H2([html.Code(file), html.Span(write_count(len(problems), "problem"))]),
            html.Ul([_problem(problem) for problem in problems]),
        ],
        className="blocked-file",
    )


def _problem(problem: Problem) -> Component:
    line = f"line {problem.line}" if problem.line else ""
    place = " · ".join(part for part in (line, problem.place) if part)
    return html.Li(
        [
            html.Div(place, className="blocked-place") if place else None,
            html.Div(set_code(problem.message)),
            html.Div(set_code(problem.hint), className="quiet") if problem.hint else None,
        ]
    )


def _rest(error: PoorBenchError, n_more: int) -> list[Component]:
    texts = [f"and {n_more:,} more"] if n_more > 0 else []
    texts += [error.hint] if error.hint else []
    return [html.P(set_code(text), className="quiet") for text in texts]


def show_page(
    services: Services, path: str | None, search: str | None
) -> tuple[Component, list[Component]]:
    """Build the page at an address, still without data, and the navigation."""
    page = page_at(path)
    if page is None:
        return page_not_found(), navigation(PAGES, "")
    pages = navigation(PAGES, page.path)
    url, unknown = page.url.read(search), list[str]()
    try:
        url, unknown = read_address(services, page, search)
    except PoorBenchError as error:
        if services.problem() is None:  # else the shell tells what is wrong with the files
            return llm_not_found(error), pages
    content = page.layout(page.start(services, url))
    content.children = [tell_unknown(unknown), *content.children]
    for name, value in data(page=page.path).items():
        setattr(content, name, value)
    return content, pages


def register_pages(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    bind_script(
        app, "address", "read", Output(ShellIds.ADDRESS, "data"), Input(ShellIds.ADDRESS, "id")
    )

    bind_script(
        app,
        "theme",
        "force",
        Output(ShellIds.THEME, "forceColorScheme"),
        Input(ShellIds.THEME, "id"),
    )

    bind_script(
        app,
        "title",
        "show",
        Output(ShellIds.TITLES, "id"),
        Input(ShellIds.ADDRESS, "data"),
        Input(ShellIds.TITLES, "data"),
        Input(ShellIds.NAMES, "data"),
    )

    @app.callback(
        Output(ShellIds.PAGE, "children"),
        Output(ShellIds.NAVIGATION, "children"),
        Input(ShellIds.ADDRESS, "data"),
    )
    def _show_page(address: dict[str, str] | None) -> Any:
        if address is None:
            return no_update, no_update
        content, pages = show_page(services, address["path"], address["search"])
        return content, still(pages)


def follow(services: Services, known_version: str | None) -> tuple[Any, int, Any]:
    """Read the present version where it is new, how soon to ask again, and the run."""
    version = services.version()
    state = services.runs.state()
    return (no_update if version == known_version else version), clock_ms(state), run_status(state)


def refresh(services: Services) -> tuple[str, list[dict[str, Any]]]:
    """Read everything again; return the new version and a notice of what is there."""
    services.refresh()
    version = services.version()
    try:
        table = services.results.table()
        text = f"{write_count(len(table), 'result')} of {write_count(len(table.llm_ids), 'model')}"
    except PoorBenchError as error:
        return version, [notice("Action failed", str(error), is_error=True)]
    return version, [notice("Up to date", text)]


_WITHOUT_TESTS = ("/judge", "/suites")
"""Pages that show what a workspace has beside its tests."""


def show_problems(services: Services, path: str | None) -> tuple[Any, str]:
    """Show why workspace or results cannot be read, and choose the class of the page.

    A page that cannot be filled is hidden; a run that goes on stays in sight.
    """
    problem, page = services.problem(), (path or "").rstrip("/")
    if problem is None or (page in _WITHOUT_TESTS and not services.has_tests_file()):
        return None, "page"
    is_run = page == "/run" and services.runs.state().is_active
    return build_blocked_state(problem), "page" if is_run else "page is-blocked"


def register_clock(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    bind_news(app)

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
        Output(ShellIds.NAMES, "data"),
        Input(ShellIds.VERSION, "data"),
        Input(ShellIds.ADDRESS, "data"),
    )
    def _show(_version: str | None, address: dict[str, str] | None) -> Any:
        shown, page_class = show_problems(services, address["path"] if address else None)
        return shown, page_class, services.llms.labels() if shown is None else no_update
