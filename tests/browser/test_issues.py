from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.watched import heading

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext


def test_a_cause_leads_to_the_results_behind_it(
    results_shown: str, new_visitor: Callable[[str], BrowserContext]
) -> None:
    page = new_visitor(results_shown).new_page()
    page.goto("/issues")
    expect(page.get_by_text("20.0 points lost")).to_be_visible()
    page.get_by_role("link", name="medium").click()
    page.wait_for_url("**severity=medium**")
    # A click on a list that is about to be replaced would be lost.
    expect(page.get_by_role("link", name="medium")).to_have_attribute("aria-current", "true")
    cause = page.get_by_role("group").filter(has_text="Fix").first
    cause.get_by_role("link", name="sum_").first.click()
    heading(page, "Model")
    expect(
        page.get_by_role("complementary", name="Result").get_by_role("heading").first
    ).to_be_visible()
