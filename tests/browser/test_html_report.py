from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from playwright.sync_api import expect

from poor_bench.messages import harmless
from poor_bench.reports.html.page import report_to_html
from tests.comparison.builders import make_tests
from tests.reports.builders import HOSTILE, make_hostile_report, make_report, make_results

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

Open = Callable[[str], "Page"]


@pytest.fixture
def open_report(tmp_path: Path, new_visitor: Callable[[str], BrowserContext]) -> Open:
    def opened(text: str) -> Page:
        path = tmp_path / "report.html"
        path.write_text(text, encoding="utf-8")
        page = new_visitor(path.as_uri()).new_page()
        page.goto(path.as_uri())
        return page

    return opened


def two_classes() -> str:
    results = make_results()
    tests = make_tests(*(f"t{n}" for n in range(6)), class_id="sums")
    tests |= make_tests(*(f"t{n}" for n in range(6, 12)), class_id="other")
    return report_to_html(make_report(results, tests=tests))


def test_heat_map_filters_tests_and_answers_unfold(open_report: Open) -> None:
    page = open_report(two_classes())
    expect(page.locator("#filters output")).to_have_text("12 of 12")
    page.locator("#classes").get_by_role("button", name="other").click()
    expect(page.locator("#filters output")).to_have_text("6 of 12")
    page.get_by_label("State").select_option("failed to run")
    expect(page.locator("#filters output")).to_have_text("1 of 12")
    page.locator(".test:visible > summary").click()
    page.locator(".answer:visible > summary", has_text="bad").click()
    expect(page.get_by_text("connection: refused").last).to_be_visible()


def test_leaderboard_is_sorted_by_a_click_and_the_theme_changes(open_report: Open) -> None:
    page = open_report(two_classes())
    first = page.locator("#leaderboard tbody tr").first
    expect(first).to_contain_text("good")
    page.locator("#leaderboard").get_by_role("columnheader", name="Median").click()
    expect(first).to_contain_text("bad")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Dark").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before


@pytest.mark.parametrize("media", ["screen", "print"])
def test_a_test_takes_one_line(open_report: Open, media: Literal["screen", "print"]) -> None:
    page = open_report(two_classes())
    page.emulate_media(media=media)
    line = page.locator(".test > summary").first
    tops = line.evaluate(
        "each => [...each.children].map((part) => part.offsetTop + part.offsetHeight / 2)"
    )
    assert len(tops) == 5
    assert max(tops) - min(tops) < 4


def test_hostile_texts_neither_run_nor_load_anything(open_report: Open) -> None:
    page = open_report(report_to_html(make_hostile_report()))
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog opened: {dialog.message}"))
    page.locator(".test > summary").first.click()
    page.locator(".answer > summary").first.click()
    expect(page.get_by_text(harmless(HOSTILE)).first).to_be_attached()
    assert page.locator("img").count() == 0
