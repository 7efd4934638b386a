"""What a page is, and the callbacks and messages that all pages share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from dash import Dash, Input, Output, State, ctx, dcc, no_update
from dash.development.base_component import Component

from poor_bench.dashboard.components.tables import still
from poor_bench.dashboard.services.computations import waiting
from poor_bench.dashboard.services.workspace_watch import looking_once
from poor_bench.dashboard.url_state import Checks, UrlState

if TYPE_CHECKING:
    from poor_bench.dashboard.services.run_state import RunState
    from poor_bench.dashboard.services.services import Services

Handler = Callable[..., Any]


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
    THEME = "shell-theme-provider"
    TITLES = "shell-titles-store"
    """Path of each page to its title and what else the title of the window shows."""
    NAMES = "shell-names-store"
    """Id of each model to its name, where they differ."""
    KEYS = "shell-keys-dialog"
    """The list of keys; `assets/key_help.js` opens it."""
    CONNECTION = "shell-connection-banner"
    """Shown by `assets/connection.js` while the server does not answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of the dashboard."""

    path: str
    """Where it stands, such as `/run`."""
    title: str
    """What navigation and browser tab call it."""
    url: type[UrlState] = UrlState
    """The state that its address keeps."""
    shows: tuple[str, ...] = ()
    """Names in the query of its address that the title of the window shows, such as `test`."""
    layout: Callable[[Any], Component]
    """Builds the page without data from the state of its address; callbacks fill it."""
    start: Callable[[Services, Any], Any] = lambda _services, url: url
    """Completes the state of an address with what the page needs; never raises PoorBenchError."""
    checks: Callable[[Services, Any], Checks] = lambda _services, _url: {}
    """Tells which values of an address exist; others are taken as the default."""
    sketch: Callable[[Services, Any], Component | None] | None = None
    """Builds plain elements of what the page shows first; the document has them."""
    patience_s: float = 0.0
    """How long the document waits for each computation, from its start: scripts start later."""
    parts: Callable[[], Sequence[Component]] = tuple
    """Build one of each component with an id that callbacks put into the page later."""
    first: Sequence[str] = ()
    """Elements whose content comes with the page: of each callback that is quick, the first."""
    register: Callable[[Dash, Services], None]
    """Binds the handlers of the page to an application."""


def read_address(services: Services, page: Page, search: str | None) -> tuple[Any, list[str]]:
    """Read the state of an address, and list what it names that does not exist.

    Args:
        services: What the page may ask.
        page: The page at the address.
        search: Query of the address.

    Raises:
        PoorBenchError: If the address names an unknown model.
    """
    url = page.url.read(search).with_llm_ids(services.llms.id_named)
    if url == page.url():
        return url, page.url.find_senseless(search)
    url, unknown = url.keep_known(page.checks(services, url))
    return url, [*page.url.find_senseless(search), *unknown]


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


def bind_news(app: Dash) -> None:
    """Let a tab that has news tell the other tabs of the browser, which then ask at once."""
    version, pause = Input(ShellIds.VERSION, "data"), State(ShellIds.CLOCK, "interval")
    output = Output(ShellIds.CLOCK, "id")
    bind_script(app, "clocks", "tell", output, version, pause, prevent_initial_call=True)


def bind_address(app: Dash, search_id: str) -> None:
    """Show the state of a page in the address bar.

    Args:
        app: The application.
        search_id: The store that holds the query of the page's address.
    """
    bind_script(app, "address", "show", Input(search_id, "data"), prevent_initial_call=True)


def bind_controls(app: Dash, search_id: str, url: type[UrlState], **controls: str) -> None:
    """Write what controls hold into the state of a page, in the browser: nothing waits for it.

    Args:
        app: The application.
        search_id: The store that holds the query of the page's address.
        url: The state of the page.
        controls: Name of a field to the id of its control; empty controls are its default.
    """
    names, steps = url.name_in_query(controls), url.name_in_query(url.STEPS)
    untyped: Any = app
    untyped.clientside_callback(
        f"(...values) => window.dash_clientside.address.choose({names}, {steps}, values)",
        Output(search_id, "data"),
        *(Input(control, "value") for control in controls.values()),
        State(search_id, "data"),
        prevent_initial_call=True,
    )


def on_data(
    app: Dash, *arguments: Output | Input | State, **options: Any
) -> Callable[[Handler], Handler]:
    """Register a handler that also runs whenever the data changes, but not before the first look.

    It only shows what is there, so that it looks at the files once.

    Args:
        app: The application.
        arguments: Outputs, inputs and states; the handler takes the values of the latter two.
        options: Of the callback, such as `prevent_initial_call` of a part that is filled later:
            whatever is asked while a page opens delays the rest.
    """
    outputs = [each for each in arguments if isinstance(each, Output)]
    others = [each for each in arguments if not isinstance(each, Output)]

    def register(handler: Handler) -> Handler:
        @app.callback(*outputs, Input(ShellIds.VERSION, "data"), *others, **options)
        def _handle(version: str | None, *values: Any) -> Any:
            if version is None:
                return leave_unchanged(outputs)
            with looking_once():
                return _empty_parts(outputs, handler(*values))

        return handler

    return register


def _empty_parts(outputs: Sequence[Output], answer: Any) -> Any:
    """Give parts without content an empty list: at None, Dash would not forget what was in them.

    Its next answer to something that is gone would end all that the page does.
    """
    values = [answer] if len(outputs) == 1 else answer
    if values is no_update:
        return answer
    pairs = zip(outputs, values, strict=True)
    emptied = [
        [] if value is None and output.component_property == "children" else value
        for output, value in pairs
    ]
    return emptied[0] if len(outputs) == 1 else emptied


def on_click(
    app: Dash, buttons: str | Sequence[str], *arguments: Output | State, **options: Any
) -> Callable[[Handler], Handler]:
    """Register a handler of buttons; a page that opens is not a click.

    Args:
        app: The application.
        buttons: Id of the button, or of each.
        arguments: Outputs and states; the handler takes the values of the states.
        options: Of the callback, such as `running`.
    """
    ids = [buttons] if isinstance(buttons, str) else list(buttons)
    outputs = [each for each in arguments if isinstance(each, Output)]
    states = [each for each in arguments if isinstance(each, State)]
    clicks = [Input(each, "n_clicks") for each in ids]

    def register(handler: Handler) -> Handler:
        @app.callback(*outputs, *clicks, *states, prevent_initial_call=True, **options)
        def _handle(*values: Any) -> Any:
            is_click = any(values[: len(ids)])
            return handler(*values[len(ids) :]) if is_click else leave_unchanged(outputs)

        return handler

    return register


def leave_unchanged(outputs: Sequence[Any]) -> Any:
    """Leave the outputs as they are."""
    return no_update if len(outputs) == 1 else (no_update,) * len(outputs)


def bind_view(
    app: Dash, search_id: str, parts: Sequence[str], draw: Callable[[str], Sequence[Any]]
) -> None:
    """Fill parts of a page whenever its address or the data changes.

    Args:
        app: The application.
        search_id: The store that holds the query of the page's address.
        parts: Ids of the elements.
        draw: Builds the children of each element for a query.
    """

    @on_data(app, *(Output(part, "children") for part in parts), Input(search_id, "data"))
    def _draw(search: str) -> Any:
        drawn = draw(search)
        return drawn if len(parts) > 1 else drawn[0]


def bind_computed_view(
    app: Dash, search_id: str, parts: Sequence[str], wait_id: str, draw: Callable[[str], Any]
) -> None:
    """Fill parts of a page, again and again until what they show has been computed.

    Args:
        app: The application.
        search_id: The store that holds the query of the page's address.
        parts: Ids of the elements: first the one of the note, whose text is not a component.
        wait_id: Of the clock of `build_wait_clock`.
        draw: Builds the children of each element for a query, and returns whether they are current
            as its last value.
    """

    @on_data(
        app,
        *(Output(part, "children") for part in parts),
        Output(wait_id, "disabled"),
        Output(wait_id, "interval"),
        Input(search_id, "data"),
        Input(wait_id, "n_intervals"),
        State(wait_id, "interval"),
    )
    def _draw(search: str, _waited: int | None, waited_ms: int | None) -> Any:
        # A clock's question is held until all is known, so that little that is left comes at once.
        is_clock = ctx.triggered_id == wait_id
        with waiting(_HELD_S) if is_clock else nullcontext():
            note, *drawn, is_current = draw(search)
        shown = (part if part is no_update else still(part, search=search) for part in drawn)
        return note, *shown, is_current, lengthen_wait(waited_ms, is_current=is_current)


_WAIT_MS, _LONGEST_WAIT_MS = 250, 5000
_HELD_S = 0.5


def build_wait_clock(wait_id: str) -> Component:
    """Build the clock of `bind_computed_view`; it rests until something is computed."""
    clock: Component = dcc.Interval(id=wait_id, interval=_WAIT_MS, disabled=True)
    return clock


def lengthen_wait(waited_ms: int | None, *, is_current: bool) -> int:
    """Choose when to look again, in milliseconds: each time later while something is computed.

    Of a page that the reader has just left nobody knows how long it waited.

    Example:
        >>> lengthen_wait(250, is_current=False), lengthen_wait(4000, is_current=False)
        (312, 5000)
        >>> lengthen_wait(None, is_current=False)
        312
        >>> lengthen_wait(4000, is_current=True)
        250
    """
    return _WAIT_MS if is_current else min((waited_ms or _WAIT_MS) * 5 // 4, _LONGEST_WAIT_MS)


CLOCK_BUSY_MS = 1500
CLOCK_IDLE_MS = 4000


def clock_ms(state: RunState) -> int:
    """Choose the time between two refreshes, in milliseconds."""
    return CLOCK_BUSY_MS if state.is_active else CLOCK_IDLE_MS


def notice(title: str, text: Any, *, is_error: bool = False) -> dict[str, Any]:
    """Build a message for `NotificationContainer.sendNotifications`."""
    return {
        "action": "show",
        "id": uuid4().hex,
        "title": title,
        "message": text,
        "color": "red" if is_error else "blue",
        "autoClose": 10_000 if is_error else 3_000,
        "closeButtonProps": {"aria-label": "Close"},
    }


def show_notice(message: dict[str, Any]) -> None:
    """Tell the reader something from within a callback; `message` is a `notice`.

    A callback of a page with an output in the shell would run whenever the page opens.
    """
    from dash import set_props

    set_props(ShellIds.NOTICES, {"sendNotifications": [message]})


def show_error(text: str) -> None:
    """Tell the reader, from within a callback, that something did not work."""
    show_notice(notice("Action failed", text, is_error=True))
