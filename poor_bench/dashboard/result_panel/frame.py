"""The frame of the result panel: head, buttons, slots, and what its buttons do."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import dash_mantine_components as dmc
from dash import Dash, Input, Output, State, dcc, html, set_props
from dash.development.base_component import Component

from poor_bench.config.load import TESTS_FILE
from poor_bench.dashboard.components.blocks import aria, data, icon
from poor_bench.dashboard.components.tables import still_place, trees
from poor_bench.dashboard.forms import note_saved, saved_in
from poor_bench.dashboard.page import ShellIds, notice, on_click, on_data, show_notice
from poor_bench.dashboard.result_panel.answers import build_earlier
from poor_bench.dashboard.services.services import Services
from poor_bench.errors import ConfigError
from poor_bench.results.table import TrialKey


class PanelIds(StrEnum):
    """What callbacks of the panel refer to; a page has one panel."""

    OPEN = "panel-open-store"
    """The result that is open: `[model id, test id, trial, is failure]`, or None."""
    TITLE = "panel-title"
    POSITION = "panel-position"
    PREVIOUS = "panel-previous-button"
    NEXT = "panel-next-button"
    CLOSE = "panel-close-button"
    BODY = "panel-body"
    EARLIER = "panel-earlier-body"
    EARLIER_OPEN = "panel-earlier-store"
    """True once the reader opened the list of earlier answers."""
    RESCORE = "panel-rescore-button"
    REPORT_TEXT = "panel-report-text"
    REPORT = "panel-report-button"
    REPORT_FORM = "panel-report-form"


def build_frame(*below_head: Component) -> Component:
    """Build the panel while no result is open: it is hidden until it has a title.

    Args:
        below_head: Controls that stay when another result opens, such as the rating bar.
    """
    return html.Aside(
        [
            html.Div(
                [
                    html.Div(id=PanelIds.TITLE, className="details-title"),
                    html.Span(id=PanelIds.POSITION, className="details-position"),
                    _button(PanelIds.PREVIOUS, "previous", "Previous (K)"),
                    _button(PanelIds.NEXT, "next", "Next (J)"),
                    _button(PanelIds.CLOSE, "close", "Close (Escape)"),
                ],
                className="details-head",
            ),
            *below_head,
            html.Div(
                [
                    still_place(PanelIds.BODY),
                    _build_earlier(),
                    _build_corrections(),
                ],
                className="details-body",
            ),
            dcc.Store(id=PanelIds.OPEN),
            dcc.Store(id=PanelIds.EARLIER_OPEN, data=False),
        ],
        className="details",
        **aria(label="Result"),
        **data(keys="on"),
    )


def _build_earlier() -> Component:
    return html.Details(
        [html.Summary("Earlier answers"), still_place(PanelIds.EARLIER)],
        className="folded",
        **data(toggle_store=PanelIds.EARLIER_OPEN),
    )


def _build_corrections() -> Component:
    return html.Details(
        [
            html.Summary("Wrong score?"),
            dmc.Button("Rescore", id=PanelIds.RESCORE, size="xs", variant="default"),
            html.Div(
                [
                    dmc.Textarea(
                        id=PanelIds.REPORT_TEXT,
                        disabled=True,
                        label="Reason",
                        description=saved_in(TESTS_FILE),
                        autosize=True,
                        minRows=2,
                        maxRows=8,
                        size="xs",
                    ),
                    dmc.Button("Report test", id=PanelIds.REPORT, size="xs", variant="default"),
                ],
                id=PanelIds.REPORT_FORM,
                className="form-stack",
            ),
        ],
        className="folded corrections",
    )


def _button(button_id: PanelIds, name: str, label: str) -> Component:
    button: Component = dmc.ActionIcon(
        icon(name),
        id=button_id,
        variant="subtle",
        color="gray",
        n_clicks=0,
        **aria(label=label),
        **data(discards="yes"),
    )
    return button


def read_open(opened: object) -> tuple[str, TrialKey] | None:
    """Read which result a store says is open; None for none."""
    if not isinstance(opened, list) or len(opened) != 4:
        return None
    llm_id, test_id, trial, is_failure = opened
    if not isinstance(llm_id, str) or not isinstance(test_id, str) or not isinstance(trial, int):
        return None
    return llm_id, TrialKey(test_id, trial, bool(is_failure))


def show_earlier(services: Services, opened: object) -> Any:
    """List the earlier answers of the model whose result is open; None without one."""
    named = read_open(opened)
    panel = services.panel.read(*named) if named else None
    if panel is None:
        return None
    result = panel.details.result
    earlier = services.panel.earlier(result.llm_id, result.test_id)
    return build_earlier(earlier, result, panel.trials)


def rescore(services: Services, opened: object) -> dict[str, Any]:
    """Score the open answer anew, and say what came of it.

    Raises:
        ConfigError: If no result is open, or it cannot be scored.
    """
    named = read_open(opened)
    if named is None:
        raise ConfigError("unknown result")
    rescored = services.panel.rescore(*named)
    if rescored.problem:
        return notice("Not scored", rescored.problem, is_error=True)
    scores = [each.score for each in (rescored.old, rescored.outcome)]
    before, now = ("n/a" if score is None else f"{score:.2f}" for score in scores)
    return notice("Rescored", f"{before} to {now}")


def report(services: Services, opened: object, reason: str | None) -> dict[str, Any]:
    """Note in tests.json why the open test may be wrong.

    Raises:
        ConfigError: If no result is open, or the file cannot be written.
    """
    named = read_open(opened)
    if named is None:
        raise ConfigError("unknown result")
    services.panel.report(named[1].test_id, reason or "")
    return notice("Saved", note_saved(TESTS_FILE))


def register_panel(app: Dash, services: Services) -> None:
    """Bind the handlers."""

    @on_data(
        app,
        Output(PanelIds.EARLIER, "trees"),
        Input(PanelIds.OPEN, "data"),
        Input(PanelIds.EARLIER_OPEN, "data"),
        prevent_initial_call=True,
    )
    def _show_earlier(opened: object, is_asked: bool) -> Any:
        return trees(show_earlier(services, opened)) if is_asked else []

    @app.callback(
        Output(PanelIds.REPORT_TEXT, "value"),
        Output(PanelIds.REPORT_FORM, "data-form"),
        Input(PanelIds.OPEN, "data"),
        # What is typed before its answer would be replaced by it.
        running=[(Output(PanelIds.REPORT_TEXT, "disabled"), True, False)],
        prevent_initial_call=True,
    )
    def _show_report(opened: object) -> Any:
        named = read_open(opened)
        test = services.files.workspace().tests_by_id.get(named[1].test_id) if named else None
        return (test.reported, f"report of {test.test_id}") if test else ("", "")

    @on_click(
        app, PanelIds.RESCORE, Output(PanelIds.RESCORE, "loading"), State(PanelIds.OPEN, "data")
    )
    def _rescore(opened: object) -> Any:
        show_notice(rescore(services, opened))
        set_props(ShellIds.VERSION, {"data": services.version()})
        return False

    @on_click(
        app,
        PanelIds.REPORT,
        Output(PanelIds.REPORT, "loading"),
        State(PanelIds.OPEN, "data"),
        State(PanelIds.REPORT_TEXT, "value"),
    )
    def _report(opened: object, reason: str | None) -> Any:
        show_notice(report(services, opened, reason))
        set_props(ShellIds.VERSION, {"data": services.version()})
        return False
