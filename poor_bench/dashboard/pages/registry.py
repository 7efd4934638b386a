"""All pages, in the order of the navigation."""

from __future__ import annotations

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
from poor_bench.dashboard.pages.judge.layout import layout as judge_layout
from poor_bench.dashboard.pages.llms.callbacks import register as register_llms
from poor_bench.dashboard.pages.llms.callbacks import sketch as sketch_llms
from poor_bench.dashboard.pages.llms.layout import LLMsUrl
from poor_bench.dashboard.pages.llms.layout import layout as llms_layout
from poor_bench.dashboard.pages.model.callbacks import register as register_model
from poor_bench.dashboard.pages.model.callbacks import sketch as sketch_model
from poor_bench.dashboard.pages.model.callbacks import start
from poor_bench.dashboard.pages.model.layout import ModelIds, parts
from poor_bench.dashboard.pages.model.layout import layout as model_layout
from poor_bench.dashboard.pages.model.url import ModelUrl
from poor_bench.dashboard.pages.overview.callbacks import register as register_overview
from poor_bench.dashboard.pages.overview.callbacks import sketch as sketch_overview
from poor_bench.dashboard.pages.overview.layout import OverviewIds, OverviewUrl
from poor_bench.dashboard.pages.overview.layout import layout as overview_layout
from poor_bench.dashboard.pages.run.accepting import AcceptIds
from poor_bench.dashboard.pages.run.callbacks import register as register_run
from poor_bench.dashboard.pages.run.layout import RunIds
from poor_bench.dashboard.pages.run.layout import layout as run_layout
from poor_bench.dashboard.pages.run.progress import sketch as sketch_run
from poor_bench.dashboard.pages.run.tuning import TuneIds
from poor_bench.dashboard.pages.suites.callbacks import register as register_suites
from poor_bench.dashboard.pages.suites.callbacks import sketch as sketch_suites
from poor_bench.dashboard.pages.suites.layout import SuitesIds, SuiteUrl
from poor_bench.dashboard.pages.suites.layout import layout as suites_layout
from poor_bench.dashboard.pages.tests.callbacks import register as register_tests
from poor_bench.dashboard.pages.tests.callbacks import sketch as sketch_tests
from poor_bench.dashboard.pages.tests.layout import TestsIds, TestUrl
from poor_bench.dashboard.pages.tests.layout import layout as tests_layout
from poor_bench.dashboard.pages.tests.layout import parts as tests_parts
from poor_bench.dashboard.result_panel.frame import PanelIds
from poor_bench.dashboard.url_state import RunUrl

PAGES: tuple[Page, ...] = (
    Page(
        path="/",
        title="Overview",
        url=OverviewUrl,
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
        layout=llms_layout,
        sketch=sketch_llms,
        register=register_llms,
    ),
    Page(
        path="/run",
        title="Run",
        url=RunUrl,
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
