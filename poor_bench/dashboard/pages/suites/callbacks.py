"""Callbacks of the page: runs, files, the form that starts a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import Output, State, html

from poor_bench.dashboard.components.blocks import (
    ABSENT,
    error_banner,
    live_head,
    set_code,
)
from poor_bench.dashboard.components.tables import still
from poor_bench.dashboard.forms import RunParts, StartForm, bind_start_form
from poor_bench.dashboard.page import bind_address, bind_view, on_data, show_error
from poor_bench.dashboard.pages.run.progress import others_table
from poor_bench.dashboard.pages.suites.layout import (
    MOST_TRIALS,
    StartIds,
    SuitesIds,
    SuiteUrl,
    chosen_case,
    chosen_run,
    chosen_trial,
    no_runs,
    of_the_same_suite,
    suite_chips,
)
from poor_bench.dashboard.pages.suites.replay import replay_card
from poor_bench.dashboard.pages.suites.tables import (
    TAGS,
    case_table,
    define_cases,
    define_runs,
    run_table,
    suite_tiles,
    tag_table,
    trend_card,
)
from poor_bench.dashboard.services.run_state import RunPhase
from poor_bench.dashboard.services.suite_runs import SuiteOrder
from poor_bench.dashboard.table_files import TableFile, bind_files
from poor_bench.dashboard.text.formatting import error_text
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.evaluation.stored_run import SUITE_RUNS
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from dash import Dash
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.services import Services
    from poor_bench.evaluation.models import EvalSuiteResult


def cases_csv(services: Services, search: str | None) -> TableFile:
    """Cases of the run that is shown."""
    url = SuiteUrl.read(search)
    report = chosen_run(services.suites.reports(), url)
    return define_cases().file("suite_cases", report.case_results if report else (), url)


def tags_csv(services: Services, search: str | None) -> TableFile:
    """Tags of the run that is shown."""
    url = SuiteUrl.read(search)
    report = chosen_run(services.suites.reports(), url)
    return TAGS.file("suite_tags", report.tag_results if report else (), url)


def runs_csv(services: Services, search: str | None) -> TableFile:
    """Runs of the suite that is shown, newest first unless the reader sorts them."""
    reports, url = services.suites.reports(), SuiteUrl.read(search)
    report = chosen_run(reports, url)
    runs = of_the_same_suite(reports, report) if report else []
    return define_runs().file("suite_runs", runs[::-1], url)


def show(services: Services, search: str | None) -> tuple[Any, ...]:
    """Note, suite switches, figures, cases, tags, replay and runs."""
    reports, url = services.suites.reports(), SuiteUrl.read(search)
    report = chosen_run(reports, url)
    if report is None:
        return "no runs yet", None, None, no_runs(), None, None, None
    case = chosen_case(report, url)
    suites = list(dict.fromkeys(each.name for each in reports))
    of_suite = of_the_same_suite(reports, report)
    return (
        note(services, report),
        suite_chips(suites, report.name),
        suite_tiles(report),
        case_table(report, url, case.id if case else ""),
        tag_table(report, url),
        replay(services, report, url),
        run_table(of_suite, url, report.run_id),
    )


def trends(services: Services, search: str | None) -> Component | None:
    """Chart of the suite that is shown."""
    reports = services.suites.reports()
    report = chosen_run(reports, SuiteUrl.read(search))
    return trend_card(of_the_same_suite(reports, report)) if report else None


def note(services: Services, report: EvalSuiteResult) -> str:
    """One line about the run that is shown."""
    parts = [report.name, f"run of {report.started[:16].replace('T', ' ')} UTC"]
    parts.append(write_count(len(report.case_results), "case"))
    parts += [f"model: {report.models}"] if report.models else []
    if services.suites.is_going_on(report.run_id):
        parts.append("running")
    elif report.cancelled:
        parts.append("stopped early")
    return " · ".join(parts)


def replay(services: Services, report: EvalSuiteResult, url: SuiteUrl) -> Component | None:
    """The selected case with one of its trials, step by step."""
    result = chosen_case(report, url)
    if result is None:
        return None
    trial = chosen_trial(result, url)
    case = services.suites.case(report.run_id, result.id)
    return replay_card(
        report.run_id,
        result,
        trial,
        case.directive if case else "",
        services.suites.steps(report.run_id, trial) if trial else [],
        url,
    )


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""

    def draw(search: str) -> tuple[Any, ...]:
        note, *parts = show(services, search)
        return note, *(still(part, search=search) for part in parts)

    parts = (
        SuitesIds.NOTE,
        SuitesIds.CHIPS,
        SuitesIds.TILES,
        SuitesIds.CASES,
        SuitesIds.TAGS,
        SuitesIds.REPLAY,
        SuitesIds.RUNS,
    )
    bind_view(app, SuitesIds.SEARCH, parts, draw)
    bind_view(
        app, SuitesIds.SEARCH, (SuitesIds.TRENDS,), lambda search: (trends(services, search),)
    )
    bind_address(app, SuitesIds.SEARCH)
    register_start(app, services)
    shown = State(SuitesIds.SEARCH, "data")
    files = {
        SuitesIds.CASES_CSV: cases_csv, SuitesIds.TAGS_CSV: tags_csv, SuitesIds.RUNS_CSV: runs_csv,
    }  # fmt: skip
    bind_files(app, services, SuitesIds.DOWNLOAD, files, shown)


_TITLES = {
    RunPhase.IDLE: "Suite run of another process",
    RunPhase.RUNNING: "Running",
    RunPhase.STOPPING: "Stopping: finishing open trials",
    RunPhase.FINISHED: "Finished",
    RunPhase.CANCELLED: "Cancelled; finished trials are stored",
    RunPhase.BROKEN: "The run failed",
}


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
