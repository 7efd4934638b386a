"""Every table and every chart can be saved, on every page."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from poor_bench.evaluation.models import EvalSuite
from poor_bench.evaluation.runner import SuiteOptions, run_suite_now
from tests.browser.watched import heading, holding
from tests.browser.workspaces import BAD, GOOD, judge_run, with_results
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import scored, write_results
from tests.evaluation.builders import make_case

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

SAVED = re.compile(r"(as CSV|as PNG|as SVG)$")
FILES = {
    "Overview": ["models.csv", "scores_by_class.csv", *(
        f"poor_bench-score-against-{what}.{form}"
        for what in ("size", "time") for form in ("png", "svg")
    )],
    "Model": ["poor_bench-scores.png", "poor_bench-scores.svg", "results.csv"],
    "Compare": ["compared_classes.csv", "compared_tests.csv", "comparison.csv"],
    "Issues": ["format_tax.csv", "issues.csv"],
    "Tests": ["test_classes.csv", "tests.csv"],
    "Models": ["llms.csv"],
    "Run": ["failures.csv", "plan.csv"],
    "Judge": ["judge_cases.csv", "judge_runs.csv", "judge_scores.csv", "judge_trust.csv", *(
        f"poor_bench-{what}.{form}"
        for what in ("dimensions", "score-over-runs") for form in ("png", "svg")
    )],
    "Suites": [
        "poor_bench-trends.png", "poor_bench-trends.svg", "suite_cases.csv", "suite_runs.csv",
    ],
}  # fmt: skip


@pytest.fixture
def folder(workspace_files: WorkspaceFiles) -> Path:
    folder = with_results(workspace_files, n_tests=6)
    for llm in workspace_files.llms:
        llm["size"] = 1.5
    workspace_files.add_tests(1)
    folder = workspace_files.write()
    failed = scored("sum_002", 0.0, "[API ERROR] connection refused")
    right = [scored(f"sum_{number:03}", 1.0) for number in (1, 3, 4)]
    write_results(folder, {"scripted:good": right, BAD: [*right[1:], failed]})
    judge_run(folder, 20, 4.0, 4.2)
    judge_run(folder, 21, 4.1, 4.3)
    case = make_case(id="echo", profile="tests.evaluation.agents:echo")
    for _ in range(2):
        run_suite_now(EvalSuite(name="demo", cases=(case,)), SuiteOptions(data_dir=folder))
    return folder


def saved_from(page: Page, folder: Path) -> dict[str, bytes]:
    buttons = page.get_by_role("button", name=SAVED)
    contents = {}
    for button in buttons.all():
        with page.expect_download() as download:
            button.click()
        path = folder / download.value.suggested_filename
        download.value.save_as(path)
        contents[path.name] = path.read_bytes()
    return contents


def test_news_are_shown_while_a_file_is_made(
    workspace_files: WorkspaceFiles,
    serve: Callable[[Path], str],
    new_visitor: Callable[[str], BrowserContext],
) -> None:
    workspace_files.add_tests(3)
    workspace_files.add_llm("good", ["4"])
    folder = workspace_files.write()
    known = [scored("sum_001", 1.0), scored("sum_002", 1.0)]
    write_results(folder, {GOOD: known})
    page = new_visitor(serve(folder)).new_page()
    page.goto("/")
    expect(page.get_by_text("2 trials ·")).to_be_visible()
    with holding(page, "overview-file-download"):
        page.get_by_role("button", name="Download overview leaderboard as CSV").click()
        expect(page.get_by_text("computing ...")).to_be_visible()
        write_results(folder, {GOOD: [*known, scored("sum_003", 1.0)]})
        expect(page.get_by_text("3 trials ·")).to_be_visible()


def test_every_table_and_chart_is_saved_as_a_file(
    folder: Path, serve: Callable[[Path], str], new_visitor: Callable[[str], BrowserContext]
) -> None:
    page = new_visitor(serve(folder)).new_page()
    page.goto("/")
    for name, files in FILES.items():
        page.get_by_role("navigation", name="Pages").get_by_role(
            "link", name=name, exact=True
        ).click()
        heading(page, name)
        for late in page.locator("[data-seen-store]").all():
            late.scroll_into_view_if_needed()
        # What comes later moves buttons, and a button that moves below the mouse loses a click.
        expect(page.get_by_role("status", name="Loading")).to_have_count(0)
        expect(page.get_by_role("button", name=SAVED)).to_have_count(len(files))
        n_charts = sum(file.endswith("svg") for file in files)
        expect(page.locator(".js-plotly-plot")).to_have_count(n_charts)
        contents = saved_from(page, folder)
        assert sorted(contents) == sorted(files)
        for file, content in contents.items():
            if file.endswith(".png"):
                assert content.startswith(b"\x89PNG")
            elif file.endswith(".svg"):
                assert content.startswith(b"<svg")
            elif file not in {"format_tax.csv", "judge_trust.csv"}:
                assert len(list(csv.reader(content.decode().splitlines()))) > 1, file
    _a_file_that_takes_time_is_announced(page)


def _a_file_that_takes_time_is_announced(page: Page) -> None:
    button = page.get_by_role("button", name=SAVED).last
    expect(button).not_to_have_text("computing ...")  # of its file before
    words = button.inner_text()
    with page.expect_download():
        with holding(page, f'"id":"{button.get_attribute("id")}"'):
            button.click()
            expect(button).to_have_text("computing ...")
        expect(button).to_have_text(words)
