"""A form that starts a run: choices, plan, a question before money, and the run itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import dash_mantine_components as dmc
from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component

from poor_bench.dashboard.components.blocks import (
    ABSENT,
    aria,
    card,
    error_banner,
    live_card,
    live_head,
    number_range,
    set_code,
)
from poor_bench.dashboard.components.controls import small_button, start_button
from poor_bench.dashboard.components.tables import number, row, sheet
from poor_bench.dashboard.page import leave_unchanged, on_click, on_data, show_error
from poor_bench.dashboard.services.run_state import RunPhase
from poor_bench.dashboard.services.running import RunningRun
from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.text.formatting import (
    dollars_text,
    duration_text,
    error_text,
    limits_text,
)
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.runs.history import RunKind, RunProgress

RunParts = tuple[Any, str, Any, bool]
"""Body, class and head of a run, and whether its clock rests."""
CLOCK_MS = 1000
REQUIRED = "required"
"""Stands in an empty box without which nothing starts."""
PHASE_TITLES = {
    RunPhase.IDLE: "Run of another process",
    RunPhase.STARTING: "Starting",
    RunPhase.RUNNING: "Running",
    RunPhase.PAUSED: "Paused: open requests finish",
    RunPhase.STOPPING: "Stopping",
    RunPhase.FINISHED: "Finished",
    RunPhase.CANCELLED: "Cancelled, results stored",
    RunPhase.BROKEN: "The run failed",
    RunPhase.INTERRUPTED: "Stopped early, results stored",
}


class StartPlan(NamedTuple):
    """What a choice would run."""

    shown: Any
    is_off: bool = False
    """True if it cannot start."""
    needs_consent: bool = False
    """True if it is long or may cost money."""


@dataclass(frozen=True, kw_only=True)
class StartForm:
    """A form, its question and its run; their ids begin with `prefix`."""

    prefix: str
    title: str
    fields: tuple[str, ...]
    """Ids of the choices, in the order in which they are handed on."""
    note: str = ""
    kind: RunKind
    n_names: int = 1
    """The first choices, which name the run on screens."""

    def part(self, name: str) -> str:
        """Name an element."""
        return f"{self.prefix}-{name}"

    def build(self, fields: Sequence[Component]) -> list[Component]:
        """Build the form, the place of its run, its question and its clock."""
        return [
            card(
                self.title,
                html.Div(list(fields), className="start-fields", role="form",
                         **aria(label=self.title)),
                html.Div(id=self.part("preview-body")),
                note=self.note or None,
                tools=[start_button(self.part("start-button"))],
            ),
            live_card(
                f"Progress: {self.title}",
                frame_id=self.part("run-frame"),
                head_id=self.part("run-head"),
                body_id=self.part("run-body"),
                tools=[small_button("Cancel", self.part("cancel-button"), "stop")],
            ),
            consent_dialog(self.prefix, "Start run"),
            dcc.Store(id=self.part("asked-store")),
            dcc.Interval(id=self.part("clock-interval"), interval=CLOCK_MS, disabled=True),
        ]  # fmt: skip

    def run_outputs(self, **more: Any) -> list[Output]:
        """List what `RunParts` go to."""
        return [
            Output(self.part("run-body"), "children", **more),
            Output(self.part("run-frame"), "className", **more),
            Output(self.part("run-head"), "children", **more),
            Output(self.part("clock-interval"), "disabled", **more),
        ]


def consent_dialog(prefix: str, action: str) -> Component:
    """Build the question before an action, such as a run that is long or may cost money.

    Args:
        prefix: Ids begin with it.
        action: Stands on the button, and is the question.
    """
    dialog: Component = dmc.Modal(
        [
            html.Div(id=f"{prefix}-consent-body"),
            html.Div(
                [
                    dmc.Button(
                        "Back", id=f"{prefix}-consent-back-button", variant="default", n_clicks=0
                    ),
                    dmc.Button(action, id=f"{prefix}-consent-start-button", n_clicks=0),
                ],
                className="dialog-buttons",
            ),
        ],
        id=f"{prefix}-consent-modal",
        title=f"{action}?",
        size="lg",
        closeButtonProps=aria(label="Close"),
    )
    return dialog


def cost_field(field_id: str) -> Component:
    """Build the box for the limit of the cost."""
    box: Component = dmc.NumberInput(
        id=field_id, label="Cost limit (US$)", placeholder="no limit", value="", **number_range(0)
    )
    return box


def read_limit(value: Any, what: str = "cost limit", least: float = 0) -> float | None:
    """Read a number of a form; None where it is empty.

    Raises:
        ConfigError: If it is not a number, or below `least`.
    """
    if value in (None, ""):
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= least:
        raise ConfigError(limits_text(what, least))
    return float(value)


def write_cost(cost_usd: float | None) -> str:
    """Write the estimated cost at the end of a plan."""
    if cost_usd is None:
        return "; cost unknown"
    return f"; up to {dollars_text(cost_usd)}" if cost_usd else ""


def bind_start_form(
    app: Dash,
    services: Services,
    form: StartForm,
    *,
    plan: Callable[..., StartPlan],
    command: Callable[..., list[str]],
) -> None:
    """Bind a form and its run.

    Args:
        app: The dashboard.
        services: What the form starts and shows.
        form: Both.
        plan: Takes the values of the fields; may raise PoorBenchError.
        command: Writes the values of the fields as a command that runs them; may raise
            PoorBenchError.
    """
    run = services.commands[form.kind.name]
    show, ask = partial(show_console_run, services, form.kind), partial(plan_or_tell, plan)
    states = [State(field, "value") for field in form.fields]
    opened = Output(form.part("consent-modal"), "opened", allow_duplicate=True)
    run_outputs = form.run_outputs(allow_duplicate=True)

    @on_data(
        app,
        Output(form.part("preview-body"), "children"),
        Output(form.part("start-button"), "disabled"),
        Input(form.part("clock-interval"), "disabled"),
        *(Input(field, "value") for field in form.fields),
    )
    def _preview(_is_still: bool, *values: Any) -> Any:
        return ask(run.state().is_active, *values)[:2]

    @on_data(app, *form.run_outputs(), Input(form.part("clock-interval"), "n_intervals"))
    def _run(_ticks: int | None) -> Any:
        return show()

    def start_now(*values: Any) -> RunParts:
        try:
            run.start(", ".join(values[: form.n_names]), command(*values))
        except PoorBenchError as error:
            show_error(error_text(error))
        return show()

    @on_click(
        app,
        form.part("start-button"),
        *run_outputs,
        opened,
        Output(form.part("consent-body"), "children"),
        Output(form.part("asked-store"), "data"),
        *states,
    )
    def _start(*values: Any) -> Any:
        planned = ask(run.state().is_active, *values)
        if planned.needs_consent:
            return *leave_unchanged(run_outputs), True, planned.shown, values
        return *start_now(*values), False, no_update, None

    # What was asked about: fields may have changed since.
    asked = State(form.part("asked-store"), "data")

    @on_click(app, form.part("consent-start-button"), *run_outputs, opened, asked)
    def _start_with_consent(values: list[Any]) -> Any:
        return *start_now(*values), False

    @on_click(app, form.part("consent-back-button"), opened)
    def _go_back() -> bool:
        return False

    @on_click(app, form.part("cancel-button"), *run_outputs)
    def _cancel() -> Any:
        run.cancel()
        return show()


def plan_or_tell(plan: Callable[..., StartPlan], is_active: bool, *values: Any) -> StartPlan:
    """Plan a choice, or say why it cannot start; a box says itself that it is required."""
    if is_active:
        text = html.P("Another run is in progress.", className="quiet")
        return StartPlan(text, is_off=True)
    if not values[0]:
        return StartPlan(None, is_off=True)
    try:
        return plan(*values)
    except PoorBenchError as error:
        return StartPlan(error_banner(error), is_off=True)


def show_console_run(services: Services, kind: RunKind) -> RunParts:
    """Build the parts of the runs of one kind, whichever process runs them."""
    state = services.commands[kind.name].state()
    others = [each for each in services.running.runs() if each.kind == kind.name]
    if state.phase is RunPhase.IDLE and not others:
        return None, ABSENT, None, True
    can_cancel = state.is_active and state.phase is not RunPhase.STOPPING
    marks = {"is-active": state.is_active, "can-cancel": can_cancel}
    shown = " ".join(["card started-run", *(mark for mark, is_true in marks.items() if is_true)])
    lasted = duration_text(state.elapsed_s) if state.elapsed_s else ""
    head = live_head(PHASE_TITLES[state.phase], " · ".join(filter(None, (state.name, lasted))))
    log = html.Ul([html.Li(line) for line in state.log], className="error-list", role="log")
    parts = (
        html.P(set_code(state.message), className="failure-box") if state.message else None,
        list_running(others) if others else None,
        log if state.log else None,
    )
    is_still = not state.is_active and not others
    return [part for part in parts if part is not None], shown, head, is_still


def list_running(runs: Sequence[RunningRun]) -> Component:
    """Build the table of runs in progress."""
    rows = [
        row(run.kind, run.what, run.run_id, *_draw_share(run.what, run.progress)) for run in runs
    ]
    return sheet(("Kind", "What", "Run", "Progress", "Completed"), rows)


def _draw_share(name: str, progress: RunProgress) -> tuple[Component | None, Component]:
    done, planned = progress.n_done, progress.n_planned
    if planned is None:
        return None, number(f"{done:,}")
    return draw_progress(name, done, planned), number(f"{done:,} of {planned:,}")


def draw_progress(name: str, n_done: int, n_planned: int) -> Component:
    """Draw how much of something is completed as a bar."""
    share = 100 * n_done / n_planned if n_planned else 100
    bar: Component = dmc.Progress(value=share, size="sm", w=160, **aria(label=f"Progress: {name}"))
    return bar
