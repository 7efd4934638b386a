"""The browser's own Back and Forward."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.watched import heading, holding
from tests.browser.workspaces import BAD, GOOD
from tests.waiting import wait_for

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page, Route

NewVisitor = Callable[[str], "BrowserContext"]


def test_back_and_forward_go_through_pages_and_views_but_not_through_typed_letters(
    results_shown: str, new_visitor: NewVisitor
) -> None:
    page = new_visitor(results_shown).new_page()
    page.goto("/")
    heading(page, "Overview")
    page.get_by_role("link", name="Compare").click()
    page.get_by_role("link", name="Regressions 20").click()
    # A click on a list that is about to be replaced would be lost.
    expect(page.get_by_role("listitem").filter(has_text="sum_")).to_have_count(20)
    page.get_by_role("link", name="sum_004", exact=True).click()
    test = page.get_by_role("complementary", name="Test").get_by_role("heading", name="sum_004")
    expect(test).to_be_visible()
    page.go_back()
    expect(test).to_have_count(0)
    expect(page).to_have_url(re.compile("show=regressions"))
    page.go_back()
    expect(page.get_by_text("1 to 25 of 60")).to_be_visible()
    page.go_back()
    heading(page, "Overview")
    for _ in range(3):
        page.go_forward()
    expect(test).to_be_visible()
    page.get_by_role("link", name="Overview", exact=True).click()
    page.get_by_role("region", name="Model comparison").get_by_role("link", name=GOOD).click()
    heading(page, "Model")
    _typed_letters_are_no_steps_back(page)


def test_a_page_that_is_being_left_does_not_write_its_view_into_the_next_address(
    results_shown: str, new_visitor: NewVisitor
) -> None:
    page = new_visitor(results_shown).new_page()
    page.goto(f"/model?llm={BAD}&test=sum_001")
    panel = page.get_by_role("complementary", name="Result")
    expect(panel.get_by_role("heading", name="sum_001")).to_be_visible()
    held: list[Route] = []
    page.route("**/_first?*", lambda route: held.insert(0, route))  # it brings the next page
    with holding(page, "panel-next-button"):
        with page.expect_request(lambda each: "panel-next-button" in (each.post_data or "")):
            page.keyboard.press("j")
        with page.expect_request("**/_first?*"):
            page.get_by_role("link", name="Overview", exact=True).click()
        expect(page).to_have_url(re.compile("/$"))
    selected = "window.dash_component_api.getLayout('model-selected-store').props.data[0]"
    wait_for(lambda: page.evaluate(selected) == "sum_002")
    for route in held:
        route.continue_()
    expect(page.get_by_text("120 trials")).to_be_visible()
    expect(page).to_have_url(re.compile("/$"))


def _typed_letters_are_no_steps_back(page: Page) -> None:
    page.get_by_placeholder("Model").click()
    page.get_by_role("option", name=BAD).click()
    expect(page).to_have_url(re.compile("llm=scripted%3Abad"))
    page.get_by_label("Search").first.fill("sum_00")
    expect(page).to_have_url(re.compile("text=sum_00"))
    page.get_by_label("Search").first.fill("sum_004")
    expect(page).to_have_url(re.compile("text=sum_004"))
    page.go_back()
    expect(page).to_have_url(re.compile(r"llm=scripted[^&]*good$"))
    expect(page.get_by_placeholder("Model")).to_have_value(GOOD)
