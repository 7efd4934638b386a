"""All pages, in the order of the navigation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from poor_bench.dashboard.page import Page
from poor_bench.dashboard.pages.compare.callbacks import register as register_compare
from poor_bench.dashboard.pages.compare.callbacks import sketch as sketch_comparison
from poor_bench.dashboard.pages.compare.layout import CompareIds, CompareUrl
from poor_bench.dashboard.pages.compare.layout import layout as compare_layout
from poor_bench.dashboard.pages.issues.callbacks import register as register_issues
from poor_bench.dashboard.pages.issues.callbacks import sketch as sketch_issues
from poor_bench.dashboard.pages.issues.layout import IssuesIds, IssueUrl
from poor_bench.dashboard.pages.issues.layout import layout as issues_layout
from poor_bench.dashboard.pages.judge.callbacks import register as register_judge
from poor_bench.dashboard.pages.judge.callbacks import sketch as sketch_judge
from poor_bench.dashboard.pages.judge.layout import JudgeIds, JudgeUrl
from poor_bench.dashboard.pages.judge.layout import chosen_run as chosen_judged_run
from poor_bench.dashboard.pages.judge.layout import layout as judge_layout
from poor_bench.dashboard.pages.llms.callbacks import register as register_llms
from poor_bench.dashboard.pages.llms.callbacks import sketch as sketch_llms
from poor_bench.dashboard.pages.llms.layout import LLMsUrl
from poor_bench.dashboard.pages.llms.layout import layout as llms_layout
from poor_bench.dashboard.pages.llms.tables import PAGE_SIZE as LLMS_AT_ONCE
from poor_bench.dashboard.pages.model.callbacks import register as register_model
from poor_bench.dashboard.pages.model.callbacks import sketch as sketch_model
from poor_bench.dashboard.pages.model.callbacks import start
from poor_bench.dashboard.pages.model.layout import COLUMNS as MODEL_COLUMNS
from poor_bench.dashboard.pages.model.layout import ModelIds, parts
from poor_bench.dashboard.pages.model.layout import layout as model_layout
from poor_bench.dashboard.pages.model.url import ModelUrl
from poor_bench.dashboard.pages.overview.callbacks import register as register_overview
from poor_bench.dashboard.pages.overview.callbacks import sketch as sketch_overview
from poor_bench.dashboard.pages.overview.layout import OverviewIds, OverviewUrl
from poor_bench.dashboard.pages.overview.layout import layout as overview_layout
from poor_bench.dashboard.pages.overview.tables import COLUMNS as OVERVIEW_COLUMNS
from poor_bench.dashboard.pages.overview.tables import GROUPINGS, TOPS
from poor_bench.dashboard.pages.run.accepting import AcceptIds
from poor_bench.dashboard.pages.run.callbacks import register as register_run
from poor_bench.dashboard.pages.run.layout import RunIds
from poor_bench.dashboard.pages.run.layout import layout as run_layout
from poor_bench.dashboard.pages.run.progress import sketch as sketch_run
from poor_bench.dashboard.pages.run.tuning import TuneIds
from poor_bench.dashboard.pages.suites.callbacks import register as register_suites
from poor_bench.dashboard.pages.suites.callbacks import sketch as sketch_suites
from poor_bench.dashboard.pages.suites.layout import SuitesIds, SuiteUrl
from poor_bench.dashboard.pages.suites.layout import chosen_case as chosen_suite_case
from poor_bench.dashboard.pages.suites.layout import chosen_run as chosen_suite_run
from poor_bench.dashboard.pages.suites.layout import layout as suites_layout
from poor_bench.dashboard.pages.tests.callbacks import register as register_tests
from poor_bench.dashboard.pages.tests.callbacks import sketch as sketch_tests
from poor_bench.dashboard.pages.tests.layout import TestsIds, TestUrl
from poor_bench.dashboard.pages.tests.layout import layout as tests_layout
from poor_bench.dashboard.pages.tests.layout import parts as tests_parts
from poor_bench.dashboard.pages.tests.tables import PAGE_SIZE as TESTS_AT_ONCE
from poor_bench.dashboard.result_panel.frame import PanelIds
from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.url_state import Checks, RunUrl, UrlState
from poor_bench.results.grid_lines import GridSort, read_order


def _check_selection(services: Services, _url: UrlState) -> Checks:
    """Tell which classes, levels and tests exist; results of removed tests can be opened, too."""
    workspace = services.files.workspace()
    tests = workspace.tests_by_id

    def is_test(test_id: str) -> bool:
        return test_id in tests or services.results.read_stored().find_code("test_id", test_id) >= 0

    return {
        "classes": lambda name: name in workspace.test_classes,
        "levels": lambda level: any(str(test.level) == str(level) for test in workspace.tests),
        "test": is_test,
    }


def _check_columns(columns: Sequence[Mapping[str, Any]]) -> Checks:
    """Tell if all fields that sort a table, or are its columns, exist."""
    known = {column["field"] for column in columns}

    def are_known(names: str) -> bool:
        return all(name.removeprefix("-") in known for name in names.split(","))

    return {"sort": are_known, "columns": are_known}


def _check_overview(services: Services, url: OverviewUrl) -> Checks:
    shown: Checks = {
        "grouping": lambda name: name in GROUPINGS,
        "top": lambda top: top in TOPS,
        "detail": lambda detail: detail == "levels",
    }
    return {**_check_selection(services, url), **_check_columns(OVERVIEW_COLUMNS), **shown}


def _check_model(services: Services, url: ModelUrl) -> Checks:
    return {**_check_selection(services, url), **_check_columns(MODEL_COLUMNS)}


def _check_compare(services: Services, url: CompareUrl) -> Checks:
    def is_order(text: str) -> bool:
        return read_order(text)[0] is not GridSort.FILE

    return {**_check_selection(services, url), "order": is_order}


def _check_tests(services: Services, url: TestUrl) -> Checks:
    tests = services.files.workspace().tests_by_id
    return {
        **_check_selection(services, url),
        "test": tests.__contains__,
        "ticked": tests.__contains__,
        "page": lambda page: (page - 1) * TESTS_AT_ONCE < len(tests),
    }


def _check_llms(services: Services, _url: LLMsUrl) -> Checks:
    return {"page": lambda page: (page - 1) * LLMS_AT_ONCE < len(services.list_llms())}


def _check_suites(services: Services, url: SuiteUrl) -> Checks:
    reports = services.suites.reports()
    report = chosen_suite_run(reports, url)
    case = chosen_suite_case(report, url) if report else None
    return {
        "suite": {each.name for each in reports}.__contains__,
        "run": {each.run_id for each in reports}.__contains__,
        "case": {each.id for each in (report.case_results if report else ())}.__contains__,
        "trial": {each.trial for each in (case.trial_results if case else ())}.__contains__,
    }


def _check_judge(services: Services, url: JudgeUrl) -> Checks:
    summaries = services.judged.summaries()
    chosen = chosen_judged_run(summaries, url)
    runs = {each.run.run_id for each in summaries}
    cases = {each.conversation.case_id for each in (chosen.cases if chosen else ())}
    return {
        "agent": {each.run.header.agent_id for each in summaries}.__contains__,
        "run": runs.__contains__,
        "base": runs.__contains__,
        "case": cases.__contains__,
    }


PAGES: tuple[Page, ...] = (
    Page(
        path="/",
        title="Overview",
        url=OverviewUrl,
        checks=_check_overview,
        layout=overview_layout,
        sketch=sketch_overview,
        first=(
            OverviewIds.NOTE,
            OverviewIds.EMPTY,
            OverviewIds.HEAT_MAP,
            OverviewIds.CHANGES,
        ),
        register=register_overview,
    ),
    Page(
        path="/model",
        title="Model",
        url=ModelUrl,
        checks=_check_model,
        shows=("test", "llm"),
        layout=model_layout,
        sketch=sketch_model,
        start=start,
        parts=parts,
        first=(
            ModelIds.RESULTS,
            ModelIds.NOTE,
            ModelIds.LLM,
            PanelIds.TITLE,
        ),
        register=register_model,
    ),
    Page(
        path="/compare",
        title="Compare",
        url=CompareUrl,
        checks=_check_compare,
        shows=("test", "llm"),
        layout=compare_layout,
        sketch=sketch_comparison,
        first=(
            CompareIds.SUBJECTS,
            CompareIds.CHARTS,
            CompareIds.NOTE,
            CompareIds.ADD,
            CompareIds.CLASSES,
        ),
        register=register_compare,
    ),
    Page(
        path="/issues",
        title="Issues",
        url=IssueUrl,
        checks=_check_selection,
        shows=("llm",),
        layout=issues_layout,
        sketch=sketch_issues,
        patience_s=0.6,
        first=(IssuesIds.LLMS, IssuesIds.NOTE),
        register=register_issues,
    ),
    Page(
        path="/tests",
        title="Tests",
        url=TestUrl,
        checks=_check_tests,
        shows=("test",),
        layout=tests_layout,
        sketch=sketch_tests,
        parts=tests_parts,
        first=(TestsIds.NOTE,),
        register=register_tests,
    ),
    Page(
        path="/llms",
        title="Models",
        url=LLMsUrl,
        checks=_check_llms,
        layout=llms_layout,
        sketch=sketch_llms,
        register=register_llms,
    ),
    Page(
        path="/run",
        title="Run",
        url=RunUrl,
        checks=_check_selection,
        layout=run_layout,
        sketch=sketch_run,
        first=(
            RunIds.LLMS,
            RunIds.STATE,
            RunIds.OTHERS,
            RunIds.SANDBOX,
            RunIds.RETRY,
            AcceptIds.SEARCH,
            TuneIds.LLM,
            TuneIds.STORED,
        ),
        register=register_run,
    ),
    Page(
        path="/judge",
        title="Judge",
        url=JudgeUrl,
        checks=_check_judge,
        shows=("case", "agent"),
        layout=judge_layout,
        sketch=sketch_judge,
        first=(JudgeIds.NOTE, JudgeIds.HISTORY),
        register=register_judge,
    ),
    Page(
        path="/suites",
        title="Suites",
        url=SuiteUrl,
        checks=_check_suites,
        shows=("case", "suite"),
        layout=suites_layout,
        sketch=sketch_suites,
        first=(SuitesIds.NOTE, SuitesIds.TRENDS),
        register=register_suites,
    ),
)


def page_at(path: str | None) -> Page | None:
    """Find the page at a path; None if it does not exist."""
    wanted = (path or "/").rstrip("/") or "/"
    return next((page for page in PAGES if page.path == wanted), None)
