from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.watched import heading
from tests.browser.workspaces import BAD, GOOD
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import scored, write_results

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Locator, Page

Serve = Callable[[Path], str]
NewVisitor = Callable[[str], "BrowserContext"]


def open_compare(visitor: BrowserContext) -> Page:
    page = visitor.new_page()
    page.goto("/compare")
    heading(page, "Compare")
    expect(page.get_by_role("group", name="Overall").get_by_text("worse")).to_be_visible()
    return page


def chosen_chips(page: Page) -> Locator:
    return page.locator("a.chip[aria-current='true']")


def test_the_address_restores_the_view_in_another_browser_and_models_can_be_exchanged(
    results_shown: str, new_visitor: NewVisitor
) -> None:
    page = open_compare(new_visitor(results_shown))
    page.get_by_role("link", name="Regressions 20").click()
    # A click on a list that is about to be replaced would be lost.
    expect(chosen_chips(page).filter(has_text="Regressions")).to_be_visible()
    orders = page.get_by_role("group", name="Sort by", exact=True)
    orders.get_by_role("link", name="Difference", exact=True).click()
    expect(chosen_chips(page).filter(has_text="Difference ▲")).to_be_visible()
    page.get_by_role("link", name="sum_010", exact=True).click()
    page.wait_for_url("**test=sum_010**")
    other = new_visitor(results_shown).new_page()
    other.goto(page.url)
    for shown in (page, other):
        expect(shown.get_by_role("heading", name="sum_010")).to_be_visible()
        expect(chosen_chips(shown).filter(has_text="Regressions")).to_be_visible()
        expect(chosen_chips(shown).filter(has_text="Difference ▲")).to_be_visible()
    page.get_by_role("link", name="Overview", exact=True).click()
    page.get_by_role("link", name="Compare", exact=True).click()
    expect(page.get_by_role("group", name="Overall").get_by_text("worse")).to_be_visible()
    _columns_and_order_stand_in_the_address(page)
    _a_class_is_chosen_in_its_table_and_left_again(page)
    _models_are_removed_added_and_become_the_baseline(page)


def test_an_open_list_stays_open_when_figures_draw_its_table_anew(
    results_shown: str, new_visitor: NewVisitor
) -> None:
    page = open_compare(new_visitor(results_shown))
    expect(page.get_by_role("group", name="Overall").get_by_text("worse")).to_be_visible()
    table = page.locator(".choosable", has=page.get_by_role("group", name="Overall"))
    button = table.get_by_text("Columns", exact=True)
    tick = table.get_by_role("checkbox", name="Tie group")
    draw_anew = """(box) => {
      const anew = box.cloneNode(true);
      anew.open = false;
      box.replaceWith(anew);
    }"""
    for is_open in (True, False):
        button.click()
        expect(tick).to_be_visible(visible=is_open)
        table.locator("details.dropdown").evaluate(draw_anew)
        page.evaluate("() => new Promise((go) => requestAnimationFrame(() => setTimeout(go)))")
        expect(tick).to_be_visible(visible=is_open)


def test_an_open_list_closes_after_a_click_elsewhere_so_that_nothing_moves_during_it(
    results_shown: str, new_visitor: NewVisitor
) -> None:
    page = open_compare(new_visitor(results_shown))
    table = page.locator(".choosable", has=page.get_by_role("group", name="Overall"))
    tick = table.get_by_role("checkbox", name="Tie group")
    table.get_by_text("Columns", exact=True).click()
    expect(tick).to_be_visible()
    page.locator("#compare-strip-csv-button").hover()
    page.mouse.down()
    expect(page.locator("#compare-strip-csv-button")).to_be_focused()
    expect(tick).to_be_visible()
    with page.expect_download():
        page.mouse.up()
    expect(tick).to_be_hidden()


def _columns_and_order_stand_in_the_address(page: Page) -> None:
    table = page.locator(".choosable", has=page.get_by_role("group", name="Overall"))
    table.get_by_text("Columns", exact=True).click()
    tick = table.get_by_role("checkbox", name="Tie group")
    tick.click()
    heads = table.get_by_role("columnheader")
    expect(heads.get_by_text("Tie group")).to_have_count(0)
    expect(tick).not_to_be_checked()  # the list is still open
    expect(tick).to_be_focused()
    page.keyboard.press("Escape")
    expect(tick).to_be_hidden()
    heads.get_by_role("link", name="Score").click()
    expect(table.get_by_role("columnheader", name="Score")).to_have_attribute(
        "aria-sort", "ascending"
    )
    expect(heads.get_by_role("link", name="Score")).to_be_focused()  # it was drawn anew
    page.wait_for_url("**table=overall**score**")
    page.reload()
    heading(page, "Compare")
    expect(table.get_by_role("rowheader").first).to_contain_text(BAD)
    expect(heads.get_by_text("Tie group")).to_have_count(0)


def _a_class_is_chosen_in_its_table_and_left_again(page: Page) -> None:
    """The table follows the list of tests, and its links know what is chosen."""
    chosen = page.get_by_role("link", name="Class: sums ✕")
    of_class = page.locator(".class-map .class-link").first
    of_class.click()
    expect(chosen).to_be_visible()
    expect(of_class).to_have_attribute("aria-current", "true")
    of_class.click()
    expect(chosen).to_have_count(0)
    expect(of_class).to_have_attribute("aria-current", "false")


def _models_are_removed_added_and_become_the_baseline(page: Page) -> None:
    compared = page.get_by_role("group", name="Overall")
    rows = compared.get_by_role("row")
    n_shown = rows.count()
    page.get_by_role("link", name=f"Remove {GOOD}").click()
    expect(rows).to_have_count(n_shown - 1)
    page.get_by_label("Model or run").first.click()
    page.get_by_role("option", name=GOOD, exact=True).click()
    expect(rows).to_have_count(n_shown)
    page.wait_for_url("**llm=**")
    expect(page.get_by_text(f"2 models, baseline: {BAD}")).to_be_visible()
    expect(compared.get_by_text("better")).to_be_visible()
    page.get_by_role("link", name=f"Set {GOOD} as baseline").click()
    expect(page.get_by_text(f"2 models, baseline: {GOOD}")).to_be_visible()
    expect(compared.get_by_text("worse")).to_be_visible()


def test_boxes_write_the_address_and_the_list_begins_at_its_first_page(
    results_shown: str, new_visitor: NewVisitor
) -> None:
    page = new_visitor(results_shown).new_page()
    page.goto("/tests?max-mean=0.5&page=2")
    heading(page, "Tests")
    words, most = page.get_by_role("textbox", name="Search"), page.get_by_label("Mean score: to")
    expect(most).to_have_value("0.5")
    page.wait_for_url("**page=2**")  # what the boxes hold at first changes nothing
    words.fill(" sum ")
    page.wait_for_url(lambda address: address.endswith("/tests?max-mean=0.5&text=sum"))
    most.fill("")
    page.wait_for_url(lambda address: address.endswith("/tests?text=sum"))
    words.fill("")
    page.wait_for_url(lambda address: address.endswith("/tests"))


def test_what_the_reader_opened_in_the_open_test_stays_open_when_news_come(
    workspace_files: WorkspaceFiles, serve: Serve, new_visitor: NewVisitor
) -> None:
    workspace_files.add_tests(2)
    folder = workspace_files.write()
    known = [scored(f"sum_00{number}", 1.0, prompt=f"the prompt {number}") for number in (1, 2)]
    write_results(folder, {GOOD: known, BAD: [scored("sum_001", 0.0, "5"), *known[1:]]})
    page = new_visitor(serve(folder)).new_page()
    page.goto("/compare?test=sum_001")
    panel = page.get_by_role("complementary", name="Test")
    panel.locator("summary", has_text="Prompt").click()
    expect(panel.get_by_text("the prompt 1")).to_be_visible()
    write_results(folder, {GOOD: known, BAD: [scored("sum_001", 0.0, "a new answer"), *known[1:]]})
    expect(panel.get_by_text("a new answer").first).to_be_visible()
    expect(panel.get_by_text("the prompt 1")).to_be_visible()
    page.keyboard.press("j")
    expect(panel.get_by_role("heading", name="sum_002")).to_be_visible()
    expect(panel.get_by_text("the prompt 2")).to_be_hidden()


def test_numbers_that_differ_stand_apart_in_the_difference_of_words(
    workspace_files: WorkspaceFiles, serve: Serve, new_visitor: NewVisitor
) -> None:
    workspace_files.add_tests(1)
    for name in ("good", "bad"):
        workspace_files.add_llm(name, ["4"])
    folder = workspace_files.write()
    test_id = workspace_files.tests[0]["test_id"]
    answers = {GOOD: "The sum of all is 15", BAD: "The sum of all is 150.5"}
    write_results(folder, {name: [scored(test_id, 1.0, text)] for name, text in answers.items()})
    page = new_visitor(serve(folder)).new_page()
    page.goto(f"/compare?test={test_id}")
    right = page.locator("pre del + ins")
    expect(right).to_be_visible()
    gap = "(e) => e.getClientRects()[0].left - e.previousSibling.getClientRects()[0].right"
    assert right.evaluate(gap) > 2
