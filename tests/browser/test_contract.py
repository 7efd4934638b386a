"""The dashboard that the specification describes, item by item, as a user sees it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.watched import heading
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import scored, write_results

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Locator, Page

Serve = Callable[[Path], str]
NewVisitor = Callable[[str], "BrowserContext"]

_KEEP_NOTICES = """
const wait = window.setTimeout;
window.setTimeout = (act, ms, ...more) => ms === 3000 ? 0 : wait(act, ms, ...more);
"""
"""They close by themselves, on a busy machine before anybody looks."""
GOOD, WEAK = "scripted:good", "scripted:weak"
MARKDOWN = "**1 of 2** cases passed\n\n- `f(2)` gave *3*"


def with_two_classes(files: WorkspaceFiles) -> Path:
    """Write a workspace of two classes and two LLMs with results."""
    files.classes.append({**files.classes[0], "id": "words"})
    files.add_tests(30)
    files.add_tests(30, class_id="words")
    files.add_llm("good", ["4"], size=7)
    files.add_llm("weak", ["4"])
    folder = files.write()
    ids = [test["test_id"] for test in files.tests]
    good = [scored(test_id, 1.0, think=False) for test_id in ids]
    weak = [scored(test_id, 0.5, details=MARKDOWN, execution_time_ms=2500.0) for test_id in ids]
    write_results(folder, {GOOD: good, WEAK: weak})
    return folder


def columns_of(page: Page, table: str) -> Locator:
    return page.get_by_role("region", name=table).get_by_role("columnheader")


def test_the_pages_show_what_the_specification_asks_for(
    workspace_files: WorkspaceFiles, serve: Serve, new_visitor: NewVisitor
) -> None:
    folder = with_two_classes(workspace_files)
    page = new_visitor(serve(folder)).new_page()
    page.add_init_script(_KEEP_NOTICES)
    _compares_models(page)
    _shows_one_model(page)
    _reads_files_again_at_refresh(page, folder)


def _compares_models(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("link", name=GOOD).first).to_be_visible()
    for place, name in enumerate((
        "Select", "Model", "Total Tests", "Average Score", "Pass Rate (%)",
        "Average Execution Time (s)", "Size (B)",
    )):  # fmt: skip
        columns = columns_of(page, "Model comparison")
        expect(columns.nth(place)).to_have_text(name, use_inner_text=True)
    models = page.get_by_role("region", name="Model comparison").locator("[col-id=model] a")
    expect(models).to_have_text([GOOD, WEAK])
    header = page.get_by_role("columnheader", name="Average Execution Time (s)")
    header.click()
    expect(models).to_have_text([WEAK, GOOD])
    header.click()
    expect(models).to_have_text([GOOD, WEAK])


def _shows_one_model(page: Page) -> None:
    page.goto("/model")
    heading(page, "Model")
    page.get_by_placeholder("Model").click()
    expect(page.get_by_role("option")).to_have_text([GOOD, WEAK])
    page.get_by_role("option", name=WEAK).click()
    _has_bars_by_test(page)
    expect(page.get_by_role("group", name="Issues").get_by_text("Partly wrong")).to_be_visible()
    _has_a_table_of_results(page)


def _has_bars_by_test(page: Page) -> None:
    chart = page.get_by_role("region", name="Scores", exact=True)
    expect(chart.locator(".xtick text").first).to_have_text("sum_001")
    expect(chart.locator(".xtick text")).to_have_count(60)
    expect(chart.locator(".xtick text").first).to_have_attribute(
        "transform", re.compile(r"rotate\(-60")
    )
    expect(chart.locator(".legendtext")).to_have_text(["sums", "words"])
    bars = chart.locator(".bars .point path")
    expect(bars).to_have_count(60)
    # the chart may be drawn again while it is looked at
    chart.page.wait_for_function(
        """() => {
            const bars = [...document.querySelectorAll("#model-chart-body .bars .point path")];
            const fills = bars.map(bar => getComputedStyle(bar).fill);
            const [first, second] = [new Set(fills.slice(0, 30)), new Set(fills.slice(30))];
            return fills.length === 60 && first.size === 1 && second.size === 1
                && fills[0] !== "" && fills[0] !== fills[59];
        }"""
    )


def _has_a_table_of_results(page: Page) -> None:
    expect(columns_of(page, "Results")).to_have_text(
        ["Test ID", "Score", "Test Category", "Execution Time", "Details", "Think"],
        use_inner_text=True,
    )
    table = page.get_by_role("region", name="Results")
    details = table.locator("[row-index='0'] [col-id=details]")
    expect(details.locator("strong")).to_have_text("1 of 2")
    expect(details.locator("strong")).to_have_css("font-weight", "600")
    expect(details.locator("code")).to_have_text("f(2)")
    expect(details.locator("em")).to_have_text("3")
    expect(table.locator(".ag-paging-description")).to_have_text(re.compile(r"1\s*of\s*2"))
    table.get_by_role("button", name="Next Page").click()
    expect(table.get_by_role("gridcell", name="sum_060", exact=True)).to_be_visible()


def _reads_files_again_at_refresh(page: Page, folder: Path) -> None:
    write_results(folder, {GOOD: [scored("sum_001", 1.0)]})
    page.get_by_role("button", name=re.compile("^Refresh")).click()
    expect(page.get_by_text("1 result of 1 model")).to_be_visible()
