"""The form of the page that starts a run, and the run while it goes on."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
from dash import Output, dcc, html

from poor_bench.dashboard.components.blocks import (
    ABSENT,
    aria,
    card,
    error_banner,
    live_card,
    live_head,
    loading_state,
    set_code,
)
from poor_bench.dashboard.components.controls import small_button, start_button
from poor_bench.dashboard.page import on_data, show_error
from poor_bench.dashboard.pages.run.progress import others_table
from poor_bench.dashboard.services.run_state import RunPhase
from poor_bench.dashboard.services.suite_starts import SuiteOrder
from poor_bench.dashboard.start_form import RunParts, StartForm, bind_start_form
from poor_bench.dashboard.text.formatting import error_text
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.evaluation.stored_run import SUITE_RUNS
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from dash import Dash
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.services import Services


class StartIds(StrEnum):
    """Ids of the form and of the run."""

    SUITE = "suite-name-select"
    TRIALS = "suite-trials-input"
    LLM = "suite-llm-select"
    MAX_COST = "suite-cost-input"
    PREVIEW = "suite-preview-body"
    START = "suite-start-button"
    CANCEL = "suite-cancel-button"
    FRAME = "suite-run-frame"
    HEAD = "suite-run-head"
    BODY = "suite-run-body"
    CLOCK = "suite-clock-interval"


CLOCK_MS = 1000
MOST_TRIALS = 1000
_TITLES = {
    RunPhase.IDLE: "Suite run of another process",
    RunPhase.RUNNING: "Running",
    RunPhase.STOPPING: "Stopping: finishing open trials",
    RunPhase.FINISHED: "Finished",
    RunPhase.CANCELLED: "Cancelled; finished trials are stored",
    RunPhase.BROKEN: "The run failed",
}


def start_form() -> Component:
    """Build the form without its choices."""
    return card(
        "Run a suite",
        html.Div(_fields(), className="judge-start", role="form", **aria(label="Run a suite")),
        html.Div(loading_state(1), id=StartIds.PREVIEW),
        note="Runs in a process of its own, one trial at a time, and continues if you close the "
        "browser. The suite's agents and profiles are code of the workspace.",
        tools=[start_button(StartIds.START)],
    )


def run_frame() -> Component:
    """Build the frame of the run, with its button and its clock."""
    return html.Div(
        [
            live_card(
                "Suite run in progress",
                frame_id=StartIds.FRAME,
                head_id=StartIds.HEAD,
                body_id=StartIds.BODY,
                tools=[small_button("Cancel", StartIds.CANCEL, "stop")],
            ),
            dcc.Interval(id=StartIds.CLOCK, interval=CLOCK_MS, disabled=True),
        ]
    )


def _fields() -> list[Component]:
    return [
        dmc.Select(
            id=StartIds.SUITE, label="Suite", placeholder="Choose a suite", data=[], searchable=True
        ),
        dmc.Select(
            id=StartIds.LLM,
            label="Model",
            placeholder="as in the suite",
            data=[],
            searchable=True,
            clearable=True,
        ),
        dmc.NumberInput(
            id=StartIds.TRIALS,
            label="Trials per case",
            placeholder="default",
            min=1,
            max=MOST_TRIALS,
            allowDecimal=False,
            debounce=400,
            value="",
        ),
        dmc.NumberInput(
            id=StartIds.MAX_COST, label="Cost limit (US$)", placeholder="no limit", min=0, value=""
        ),
    ]


def parse_order(name: str | None, trials: Any, llm_id: str | None, max_cost: Any) -> SuiteOrder:
    """Parse the values of the form.

    Raises:
        ConfigError: If no suite is chosen, or a number cannot be used.
    """
    if not name:
        raise ConfigError("choose a suite", hint="Suites are files in suites/ of the workspace.")
    most = _read_number(max_cost, "the cost limit must be a number of US dollars, 0 or more")
    number = _read_number(trials, f"trials must be 1 to {MOST_TRIALS}")
    if number is not None and (number != int(number) or not 1 <= number <= MOST_TRIALS):
        raise ConfigError(f"trials must be 1 to {MOST_TRIALS}")
    n_trials = None if number is None else int(number)
    return SuiteOrder(name=name, trials=n_trials, llm_id=llm_id or "", max_cost_usd=most)


def _read_number(value: Any, problem: str) -> float | None:
    if value in (None, ""):
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise ConfigError(problem)
    return float(value)


def preview(services: Services, *values: Any) -> tuple[Any, bool]:
    """Describe what a choice would run; the button is off where it cannot start."""
    if services.suite_starts.state().is_active:
        text = "Wait until the current run has finished."
        return html.P(text, className="quiet"), True
    if not values[0]:
        return html.P("Choose a suite to see the plan.", className="quiet"), True
    try:
        planned = services.suite_starts.plan(parse_order(*values))
    except PoorBenchError as error:
        return error_banner(error), True
    n_cases = len({plan.case.id for plan in planned})
    llms = sorted({plan.llm.id for plan in planned if plan.llm})
    models = f", with {', '.join(llms)}" if llms else "; no model is needed"
    text = f"{write_count(n_cases, 'case')}, {write_count(len(planned), 'trial')}{models}."
    return html.P(f"{text} The cost depends on what the agents do.", className="quiet"), False


def run_parts(services: Services) -> RunParts:
    """Build body, class and head of the runs of suites, and whether the clock rests."""
    state = services.suite_starts.state()
    running = [run for run in services.running.runs() if run.kind == SUITE_RUNS.name]
    if state.phase is RunPhase.IDLE and not running:
        return None, ABSENT, None, True
    body = [
        html.P(set_code(state.message), className="failure-box") if state.message else None,
        others_table(running) if running else None,
    ]
    marks = {"is-active": state.is_active, "can-cancel": state.phase is RunPhase.RUNNING}
    shown = " ".join(["card judge-run", *(mark for mark, is_true in marks.items() if is_true)])
    is_still = not state.is_active and not running
    return body, shown, live_head(_TITLES[state.phase], state.name), is_still


def start_run(services: Services, order: SuiteOrder) -> RunParts:
    """Start a run; where that is refused, say why and show the one that is running."""
    try:
        services.suite_starts.start(order)
    except PoorBenchError as error:
        show_error(error_text(error))
    return run_parts(services)


_FORM = StartForm(
    fields=(StartIds.SUITE, StartIds.TRIALS, StartIds.LLM, StartIds.MAX_COST),
    preview=StartIds.PREVIEW,
    start=StartIds.START,
    cancel=StartIds.CANCEL,
    frame=StartIds.FRAME,
    head=StartIds.HEAD,
    body=StartIds.BODY,
    clock=StartIds.CLOCK,
)


def register_start(app: Dash, services: Services) -> None:
    """Bind the form and the run."""

    @on_data(app, Output(StartIds.SUITE, "data"), Output(StartIds.LLM, "data"))
    def _options() -> Any:
        return services.suite_starts.list_names(), services.suite_starts.list_llms()

    bind_start_form(
        app,
        _FORM,
        preview=lambda *values: preview(services, *values),
        show=lambda: run_parts(services),
        start=lambda *values: start_run(services, parse_order(*values)),
        cancel=services.suite_starts.cancel,
    )
