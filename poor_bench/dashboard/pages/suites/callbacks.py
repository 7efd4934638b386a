"""Callbacks of the page: runs, files, the form that starts a run."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from dash import Dash, Output, State, html
from dash.development.base_component import Component

from poor_bench.dashboard.components.tables import sketch_layout, still
from poor_bench.dashboard.page import bind_address, bind_view, on_data
from poor_bench.dashboard.pages.suites.layout import (
    FORM,
    MOST_TRIALS,
    SuitesIds,
    SuiteStartIds,
    SuiteUrl,
    chosen_case,
    chosen_run,
    chosen_trial,
    layout,
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
from poor_bench.dashboard.services.console_runs import must_ask, write_options
from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.start_form import (
    StartPlan,
    bind_start_form,
    read_limit,
)
from poor_bench.dashboard.table_files import TableFile, bind_files
from poor_bench.dashboard.text.formatting import limits_text
from poor_bench.errors import ConfigError
from poor_bench.evaluation.models import EvalSuiteResult
from poor_bench.evaluation.runner import SuiteOptions, plan_trials
from poor_bench.evaluation.suite_file import list_suites, read_suite, select_cases
from poor_bench.messages import write_count


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
    parts = [report.name, f"{report.started[:16].replace('T', ' ')} UTC"]
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


def sketch(services: Services, url: SuiteUrl) -> Component:
    """Build the page as plain elements, with the figures and cases of the run."""
    drawn: Component = sketch_layout(
        layout(url), dict(zip(PARTS, show(services, url.search), strict=True))
    )
    return drawn


PARTS = (
    SuitesIds.NOTE,
    SuitesIds.CHIPS,
    SuitesIds.TILES,
    SuitesIds.CASES,
    SuitesIds.TAGS,
    SuitesIds.REPLAY,
    SuitesIds.RUNS,
)


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""

    def draw(search: str) -> tuple[Any, ...]:
        note, *parts = show(services, search)
        return note, *(still(part, search=search) for part in parts)

    bind_view(app, SuitesIds.SEARCH, PARTS, draw)
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


def plan_run(services: Services, *values: Any) -> StartPlan:
    """Describe what a choice would run, without starting it."""
    name, _, llm_id, _ = values
    write_command(services, *values)
    folder = services.data_dir()
    suite = read_suite(find_listed(folder, name), folder)
    suite = select_cases(suite, trials=_read_trials(values[1]))
    planned = plan_trials(suite, SuiteOptions(data_dir=folder, llm_id=llm_id or None))
    llms = {plan.llm.id: plan.llm for plan in planned if plan.llm}
    models = f", with {', '.join(sorted(llms))}" if llms else ", without a model"
    cases = write_count(len({plan.case.id for plan in planned}), "case")
    counts = f"{cases}, {write_count(len(planned), 'trial')}{models}"
    shown = html.P(f"{counts}. Cost unknown.", className="quiet")
    return StartPlan(shown, needs_consent=must_ask(len(planned), llms.values()))


def write_command(
    services: Services, name: str, trials: Any, llm_id: str | None, max_cost: Any
) -> list[str]:
    """Write the choice as a command.

    Raises:
        ConfigError: If the suite does not exist, or a number is not in range.
    """
    suite, most = find_listed(services.data_dir(), name), read_limit(max_cost)
    options = write_options(trials=_read_trials(trials), max_cost=most, llm=llm_id)
    return ["suite", "run", *options, str(suite)]


def _read_trials(trials: Any) -> int | None:
    number = read_limit(trials, "trials", 1)
    if number is not None and (number != int(number) or number > MOST_TRIALS):
        raise ConfigError(limits_text("trials", 1, MOST_TRIALS))
    return None if number is None else int(number)


def find_listed(data_dir: Path, name: str) -> Path:
    """Find a suite by its name; paths are not accepted from a browser.

    Raises:
        ConfigError: If it does not exist.
    """
    found = [path for path in list_suites(data_dir) if path.stem == name]
    if not found:
        raise ConfigError(f"unknown suite `{name}`")
    return found[0]


def options(services: Services) -> tuple[list[str], list[str]]:
    """List the suites and models that can be chosen."""
    suites = dict.fromkeys(path.stem for path in list_suites(services.data_dir()))
    return list(suites), [llm.id for llm in services.list_llms()]


def register_start(app: Dash, services: Services) -> None:
    """Bind the form and the run."""

    @on_data(app, Output(SuiteStartIds.SUITE, "data"), Output(SuiteStartIds.LLM, "data"))
    def _options() -> Any:
        return options(services)

    plan, command = partial(plan_run, services), partial(write_command, services)
    bind_start_form(app, services, FORM, plan=plan, command=command)
