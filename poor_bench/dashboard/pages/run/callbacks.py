"""Callbacks of the page: choose, start, steer, follow, retry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import Dash, Input, Output, State, ctx
from dash.development.base_component import Component

from poor_bench.dashboard.components.blocks import ABSENT, error_banner
from poor_bench.dashboard.components.controls import test_options
from poor_bench.dashboard.components.tables import still
from poor_bench.dashboard.page import (
    ShellIds,
    bind_address,
    clock_ms,
    leave_unchanged,
    on_click,
    on_data,
    show_error,
)
from poor_bench.dashboard.pages.run.layout import (
    LINKS,
    RunIds,
    chosen,
    controls,
    name_consent,
    read_controls,
    select_failed,
)
from poor_bench.dashboard.pages.run.plan import (
    FAILURE_COLUMNS,
    define_plan,
    failure_rows,
    failures_head,
    failures_table,
    nothing_to_run,
    preview,
    run_is_under_way,
    sandbox_warning,
)
from poor_bench.dashboard.pages.run.progress import others_head, run_body, run_class, run_head
from poor_bench.dashboard.pages.run.tuning import TuneIds, register_tuning, searches_csv
from poor_bench.dashboard.services.run_state import RunPhase, RunWay
from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.start_form import list_running
from poor_bench.dashboard.table_files import TableFile, bind_files, table_file
from poor_bench.dashboard.text.formatting import error_text
from poor_bench.dashboard.url_state import Redo, RunUrl
from poor_bench.errors import ConfigError, PoorBenchError, RunRefusedError
from poor_bench.runner.selection import Selection

Options = list[dict[str, str]]


def options(services: Services, url: RunUrl) -> tuple[Options, Options, Options]:
    """List the LLMs, classes and levels that can be chosen.

    What is chosen stays among them even if it does not exist: a box forgets what it cannot offer,
    and an empty one would run everything.
    """
    workspace = services.files.workspace()
    llms = [
        {
            "value": llm.id,
            "label": services.llms.name(llm.id) + ("" if llm.enabled else " (disabled)"),
        }
        for llm in workspace.llms
    ]
    classes, levels = test_options(workspace)
    return (
        _with_chosen(llms, url.llm_ids),
        _with_chosen(classes, url.classes),
        _with_chosen(levels, url.levels),
    )


def _with_chosen(options: Options, chosen: Sequence[str]) -> Options:
    known = {option["value"] for option in options}
    missing = [value for value in chosen if value not in known]
    return [*options, *({"value": value, "label": f"{value} (missing)"} for value in missing)]


def plan(
    services: Services, selection: Selection, url: RunUrl | None = None
) -> tuple[Component, bool, str, str]:
    """Show the plan of a choice.

    Returns:
        The plan, True if nothing is to start, and the display of the two buttons of batches.
    """
    if (missing := nothing_to_run(services.files.workspace())) is not None:
        return missing, True, "none", "none"
    try:
        planned = services.plans.preview(selection)
    except ConfigError as error:
        return error_banner(error), True, "none", "none"
    is_off = not planned.llms or services.runs.state().is_active
    shown = preview(planned, services.llms.name, url)
    return shown, is_off, _display(planned.batch), _display(planned.n_in_batch)


def _display(is_of_use: object) -> str:
    return "inline-block" if is_of_use else "none"


def sandbox(services: Services) -> Component | None:
    """Build a warning where code of models is not isolated, or not run for that reason."""
    try:
        terms = services.plans.sandbox_terms()
    except PoorBenchError as error:
        return error_banner(error)
    return sandbox_warning(terms) if terms is not None else None


def plan_csv(services: Services, selection: Selection, url: RunUrl | None = None) -> TableFile:
    """Write the plan of a choice as a file."""
    llms = services.plans.preview(selection).llms
    return define_plan(services.llms.name).file("plan", llms, url or RunUrl())


def failures_csv(services: Services) -> TableFile:
    """Write every trial that failed to run as a file."""
    rows = failure_rows(services.results.failures(), services.llms.name)
    return table_file("failures", rows, FAILURE_COLUMNS)


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    _register_choice(app, services)
    _register_shown(app, services)
    _register_buttons(app, services)
    register_tuning(app, services, LINKS, RunUrl)
    bind_files(app, services, RunIds.DOWNLOAD, {RunIds.FAILURES_CSV: failures_csv})
    bind_files(
        app,
        services,
        RunIds.DOWNLOAD,
        {RunIds.PREVIEW_CSV: _plan_file},
        State(RunIds.SEARCH, "data"),
        *controls(State),
    )
    shown = State(RunIds.SEARCH, "data")
    bind_files(app, services, RunIds.DOWNLOAD, {TuneIds.CSV: searches_csv}, shown)


def _plan_file(services: Services, search: str, *values: Any) -> TableFile:
    return plan_csv(services, chosen(values), RunUrl.read(search))


def _register_choice(app: Dash, services: Services) -> None:
    @on_data(app, Output(RunIds.SANDBOX, "children"), Input(RunIds.CLOCK, "disabled"))
    def _show_sandbox(_is_still: bool) -> Any:
        return sandbox(services)

    @on_data(
        app,
        Output(RunIds.LLMS, "data"),
        Output(RunIds.CLASSES, "data"),
        Output(RunIds.LEVELS, "data"),
        *controls(State),
    )
    def _show_options(*values: Any) -> Any:
        return options(services, read_controls(values))

    @on_click(
        app,
        RunIds.ALL,
        Output(RunIds.LLMS, "value"),
        Output(RunIds.CLASSES, "value"),
        Output(RunIds.LEVELS, "value"),
        Output(RunIds.TESTS, "value"),
        Output(RunIds.REDO, "value"),
    )
    def _choose_all() -> Any:
        return [], [], [], "", Redo.PENDING

    bind_address(app, RunIds.SEARCH)

    @app.callback(
        Output(RunIds.SEARCH, "data"),
        *controls(Input),
        State(RunIds.SEARCH, "data"),
        prevent_initial_call=True,
    )
    def _note_choice(*values: Any) -> str:
        *chosen, search = values
        return read_controls(chosen).change(tables=RunUrl.read(search).tables).search

    @on_data(
        app,
        Output(RunIds.PREVIEW, "children"),
        Output(RunIds.START, "disabled"),
        Output(RunIds.BATCH, "display"),
        Output(RunIds.COLLECT, "display"),
        Input(RunIds.CLOCK, "disabled"),
        Input(RunIds.SEARCH, "data"),
        *controls(Input),
    )
    def _show_plan(_is_still: bool, search: str, *values: Any) -> Any:
        if services.runs.state().is_active:
            return run_is_under_way(), True, "none", "none"
        shown, *buttons = plan(services, chosen(values), RunUrl.read(search))
        return still(shown, search=search), *buttons


def state(services: Services) -> tuple[list[Component], str, list[Component], bool, int]:
    """Show the progress of the run.

    Returns:
        Body, class and head of the run, whether there is nothing to follow, and how often the
        shell should look.
    """
    current = services.runs.state()
    return (
        run_body(current, services.llms.name),
        run_class(current),
        run_head(current),
        not current.is_active,
        clock_ms(current),
    )


def others(services: Services) -> tuple[Component | None, str, list[Component]]:
    """Build body, class and head of the runs of other kinds."""
    runs = services.running.runs()
    if not runs:
        return None, ABSENT, []
    return list_running(runs), "card", others_head(runs)


WAYS = {RunIds.BATCH: RunWay.BATCH, RunIds.COLLECT: RunWay.COLLECT}
"""Buttons whose runs are not live."""


def start(
    services: Services, selection: Selection, order: object = RunIds.START
) -> tuple[list[Component], str, Any, bool, int]:
    """Start what a button says and show how far it is; where another run was first, show that."""
    try:
        services.runs.start(selection, WAYS.get(RunIds(str(order)), RunWay.LIVE))
    except RunRefusedError as error:
        show_error(error_text(error))
    return state(services)


def select_order(services: Services, order: object, values: Sequence[Any]) -> Selection:
    """Select what a button starts.

    Args:
        services: Know what failed, and what is left of the last run.
        order: Id of the button.
        values: Of the controls of the choice.

    Raises:
        ConfigError: If nothing of it can be run.
        RunRefusedError: If no run can be continued.
    """
    match order:
        case RunIds.COLLECT:
            return Selection()
        case RunIds.RETRY:
            return select_failed(services.results.failures(), services.files.workspace())
        case RunIds.RESUME:
            return services.runs.find_rest()
    return chosen(values)


def find_consent(services: Services, selection: Selection, order: object) -> Component | None:
    """Build the plan that people have to agree to; None if the run starts without."""
    plans = services.plans
    is_collection = order == RunIds.COLLECT
    planned = plans.preview_collection() if is_collection else plans.preview(selection)
    return preview(planned, services.llms.name) if planned.needs_consent else None


def failures(
    services: Services, search: str | None = ""
) -> tuple[Component | None, str, list[Component]]:
    """Build body, class and head of what failed to run."""
    groups = services.results.failures()
    if not groups:
        return None, ABSENT, []
    table = failures_table(groups, services.llms.name, RunUrl.read(search))
    return table, "card", failures_head(groups)


def steer(services: Services, button: object) -> None:
    """Do what a button of the run says."""
    match button:
        case RunIds.PAUSE:
            services.runs.pause()
        case RunIds.CANCEL:
            services.runs.cancel()


def resume(services: Services) -> tuple[list[Component], str, list[Component], bool, int]:
    """Go on with the paused run."""
    services.runs.resume()
    return state(services)


def _register_shown(app: Dash, services: Services) -> None:
    @on_data(app, *_run_outputs(), Input(RunIds.CLOCK, "n_intervals"))
    def _show_state(_ticks: int | None) -> Any:
        return state(services)[:4]

    @on_data(app, *_card_outputs(RunIds.OTHERS, RunIds.OTHERS_FRAME, RunIds.OTHERS_HEAD))
    def _show_others() -> Any:
        return others(services)

    @on_data(
        app,
        *_card_outputs(RunIds.FAILURES, RunIds.FAILURES_FRAME, RunIds.FAILURES_HEAD),
        Input(RunIds.SEARCH, "data"),
    )
    def _show_failures(search: str) -> Any:
        table, *others = failures(services, search)
        return still(table, search=search), *others


def _card_outputs(body: str, frame: str, head: str, **options: Any) -> list[Output]:
    """Body, class and head of a card that is there only as long as it has something to show."""
    return [
        Output(body, "children", **options),
        Output(frame, "className", **options),
        Output(head, "children", **options),
    ]


def _run_outputs(**options: Any) -> list[Output]:
    return [
        *_card_outputs(RunIds.STATE, RunIds.FRAME, RunIds.HEAD, **options),
        Output(RunIds.CLOCK, "disabled", **options),
    ]


def _register_buttons(app: Dash, services: Services) -> None:
    outputs = [
        *_run_outputs(allow_duplicate=True),
        Output(ShellIds.CLOCK, "interval", allow_duplicate=True),
    ]

    _register_starts(app, services, outputs)

    @on_click(app, (RunIds.PAUSE, RunIds.CANCEL), *outputs)
    def _steer() -> Any:
        steer(services, ctx.triggered_id)
        return state(services)

    @app.callback(Output(RunIds.RETRY, "disabled"), Input(RunIds.CLOCK, "disabled"))
    def _hold_retry(is_still: bool) -> bool:
        return not is_still


def _register_starts(app: Dash, services: Services, outputs: list[Output]) -> None:
    opened = Output(RunIds.CONSENT, "opened", allow_duplicate=True)
    buttons = (RunIds.START, RunIds.BATCH, RunIds.COLLECT, RunIds.RETRY, RunIds.RESUME)

    @on_click(
        app,
        buttons,
        *outputs,
        opened,
        Output(RunIds.CONSENT_PLAN, "children"),
        Output(RunIds.CONSENT, "title"),
        Output(RunIds.CONSENT_START, "children"),
        Output(RunIds.ORDER, "data"),
        *controls(State),
        running=[(Output(button, "loading"), True, False) for button in buttons],
    )
    def _start(*values: Any) -> Any:
        order = ctx.triggered_id
        names = name_consent(order)
        if order == RunIds.RESUME and services.runs.state().phase is RunPhase.PAUSED:
            return *resume(services), False, None, *names, None
        selection = select_order(services, order, values)
        question = find_consent(services, selection, order)
        if question is not None:
            return *leave_unchanged(outputs), True, question, *names, [order, values]
        return *start(services, selection, order), False, None, *names, None

    @on_click(
        app,
        RunIds.CONSENT_START,
        *outputs,
        opened,
        State(RunIds.ORDER, "data"),  # what was asked about: controls may have changed since
        running=[(Output(RunIds.CONSENT_START, "loading"), True, False)],
    )
    def _start_with_consent(asked: tuple[str, list[Any]]) -> Any:
        order, values = asked
        return *start(services, select_order(services, order, values), order), False

    @on_click(app, RunIds.CONSENT_BACK, opened)
    def _go_back() -> bool:
        return False
