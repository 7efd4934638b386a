from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.served import served
from tests.browser.watched import heading, holding, until_answered, until_held
from tests.browser.workspaces import (
    BAD,
    GOOD,
    HOSTILE,
    to_run_until_cancelled,
    with_every_page_filled,
    with_results,
)
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import scored, services_with, write_results
from tests.waiting import wait_for

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page, Request, Route

Serve = Callable[[Path], str]
NewVisitor = Callable[[str], "BrowserContext"]


@pytest.fixture(scope="module")
def pages_filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a dashboard that has something on every page."""
    files = WorkspaceFiles(tmp_path_factory.mktemp("pages_filled"))
    with served(with_every_page_filled(files)) as address:
        yield address


_NOTE_FIRST_PAINTS = """() => {
  window.painted = [];
  const note = (one) => "firstPaint" in one.dataset && window.painted.push(one.innerText);
  new MutationObserver((changes) => changes.forEach((each) => each.addedNodes.forEach(note)))
    .observe(document.body, { childList: true });
}"""
_COUNT_PAGES = """
window.counts = [];
const isThere = (one) => one.checkVisibility({ visibilityProperty: true });
const count = (kind) => [...document.querySelectorAll(kind)].filter(isThere).length;
const look = () => {
  const pages = [count("main"), count("main h1")];
  if (pages[1] || window.counts.length) window.counts.push(`${pages}`);
  window.requestAnimationFrame(look);
};
look();
"""
"""How many pages eyes and screen readers find, frame by frame from the first heading on."""


_NOTE_WIDTHS = """
window.widths = [];
const look = () => {
  const rows = document.querySelector("#react-entry-point .ag-center-cols-container:has(.ag-row)");
  if (rows && !document.querySelector("[data-first-paint]")) window.widths.push(rows.clientWidth);
  window.requestAnimationFrame(look);
};
look();
"""
"""How wide the rows of the page are, frame by frame from its own first picture on."""


_KEEP_FIRST_PAINT = """
window.keepsFirstPaint = true;
const wait = window.setTimeout;
const GIVEN_UP_MS = 10_000;
window.setTimeout = (act, ms, ...more) => ms === GIVEN_UP_MS ? 0 : wait(act, ms, ...more);
"""
"""It is not given up either, however busy this machine is."""
_NOTE_MOVES = """
// What is awaited is not given up, however busy this machine is.
document.addEventListener("readystatechange", () =>
  document.documentElement.style.setProperty("--patience", "1000s"));
const shown = (root) => [...root.querySelectorAll("h1, h2, button")]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }) && one.innerText.trim())
  .map((one) => [one.innerText.trim(), Math.round(one.getBoundingClientRect().y)]);
window.shifts = [];
const noteShifts = (list) => list.getEntries().forEach((each) => window.shifts.push(each.value));
new PerformanceObserver(noteShifts)
  .observe({ type: "layout-shift", buffered: true });
const lookAgain = () => {
  const sketch = document.querySelector("[data-first-paint]");
  if (sketch) window.sketched = shown(sketch);
  window.requestAnimationFrame(lookAgain);
};
lookAgain();
window.listMoved = () => {
  const drawn = shown(document.querySelector("#react-entry-point")).map(String);
  return window.sketched.filter((each) => !drawn.includes(String(each)));
};
"""
"""Where headings and buttons of the first paint stood, and how much of the page moved later."""
_UNTIL_PAINTED = """() =>
  new Promise((done) => new PerformanceObserver(done).observe({ type: "paint", buffered: true }))
  .then(() => true)"""


@pytest.mark.parametrize(
    "path", ["/model", "/compare", "/tests", "/issues", "/run", "/judge", "/suites"]
)
def test_nothing_moves_while_a_page_takes_the_place_of_its_first_paint(
    pages_filled: str, new_visitor: NewVisitor, path: str
) -> None:
    page = new_visitor(pages_filled).new_page()
    page.goto(path)
    page.add_init_script(_KEEP_FIRST_PAINT)
    page.add_init_script(_NOTE_MOVES)
    for _ in range(2):  # the second time the server knows the figures
        goto_and_paint_before_scripts(page, path)
        expect(page.locator("[data-first-paint]")).to_have_count(0)
        expect(page.locator("h1")).to_be_visible()
        expect(page.locator(".is-awaited, .loading-state")).to_have_count(0)
        expect(page.locator(".chart-place:not(:has(.main-svg))")).to_have_count(0)
        until_answered(page)
    assert page.evaluate("window.listMoved()") == []
    assert page.evaluate("window.shifts.reduce((sum, each) => sum + each, 0)") < 0.0005


def goto_and_paint_before_scripts(page: Page, path: str) -> None:
    """Open a page again; its scripts, which bring styles of their own, come after first paint."""
    scripts = page.locator("script[defer]").get_attribute("src")
    assert scripts
    held: list[Route] = []
    page.route(f"**{scripts}", lambda route: held.insert(0, route))
    with page.expect_request(f"**{scripts}"):
        page.goto(path, wait_until="commit")
    expect(page.locator("[data-first-paint]")).to_be_visible()
    page.evaluate(_UNTIL_PAINTED)
    held.pop().continue_()
    page.unroute(f"**{scripts}")


def test_nothing_moves_on_page_run_while_a_run_goes_on(
    workspace_files: WorkspaceFiles, serve: Serve, new_visitor: NewVisitor
) -> None:
    page = new_visitor(serve(to_run_until_cancelled(workspace_files))).new_page()
    page.goto("/run")
    page.get_by_role("region", name="Plan").get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("button", name="Start run").click()
    expect(page.get_by_text("3 of 400 trials")).to_be_visible()
    page.goto("/")
    expect(page.locator(".ag-row").first).to_be_visible()  # from now on there is a first paint
    page.add_init_script(_KEEP_FIRST_PAINT)
    page.add_init_script(_NOTE_MOVES)
    page.goto("/run")
    expect(page.locator("[data-first-paint]")).to_have_count(0)
    expect(page.get_by_text("3 of 400 trials")).to_be_visible()
    expect(page.locator(".is-awaited, .loading-state")).to_have_count(0)
    assert page.evaluate("window.listMoved()") == []
    assert page.evaluate("window.shifts.reduce((sum, each) => sum + each, 0)") < 0.005
    page.get_by_role("button", name="Cancel").click()


def test_what_stands_below_a_part_that_never_comes_is_shown_after_all(
    pages_filled: str, new_visitor: NewVisitor
) -> None:
    page = new_visitor(pages_filled).new_page()
    page.goto("/tests")
    expect(page.locator(".tests-sheet")).to_be_visible()
    expect(page.locator(".is-awaited")).to_have_count(0)  # from now on the server knows the figures
    with holding(page, "tests-picture-body") as held:
        page.goto("/tests")
        expect(page.locator("[data-first-paint]")).to_have_count(0)
        expect(page.locator(".results-and-details")).to_be_visible()
        expect(page.locator(".is-awaited")).to_have_count(1)
        until_held(page, held)


def test_failures_that_come_late_move_nothing_on_page_run(
    pages_filled: str, new_visitor: NewVisitor
) -> None:
    page = new_visitor(pages_filled).new_page()
    with holding(page, "run-failures-body"):
        page.goto("/run")
        expect(page.locator("[data-first-paint]")).to_have_count(0)
        expect(page.locator(".loading-state")).to_have_count(0)
        tune = page.get_by_role("region", name="Tune", exact=True)
        expect(tune).to_be_visible()
        place = tune.bounding_box()
    expect(page.get_by_role("heading", name="Failed to run")).to_be_visible()
    assert tune.bounding_box() == place


def test_what_comes_late_moves_nothing_below_it_until_all_of_it_is_asked_for(
    workspace_files: WorkspaceFiles, serve: Serve, new_visitor: NewVisitor
) -> None:
    scores = {f"m{n}": [int(n > place) for place in range(0, 24, 3)] for n in range(24)}
    services_with(workspace_files, scores, 8)
    page = new_visitor(serve(workspace_files.folder)).new_page()
    tests = page.get_by_role("region", name="Tests", exact=True)
    page.goto("/tests")
    expect(page.locator(".tests-sheet")).to_be_visible()
    expect(page.locator(".is-awaited")).to_have_count(0)
    with holding(page, "tests-picture-body"):
        page.goto("/tests")
        expect(page.locator("#tests-picture-body.is-late")).to_have_count(1)
        expect(page.locator(".is-awaited")).to_have_count(1)
        place = tests.bounding_box()
    chart = page.get_by_role("region", name="Discrimination")
    expect(chart.locator(".main-svg").first).to_be_attached()
    assert tests.bounding_box() == place
    chart.get_by_role("button", name="Show all").click()
    expect(chart.get_by_role("button", name="Show all")).to_be_hidden()
    assert place is not None
    least = place["y"] + 200
    wait_for(lambda: (tests.bounding_box() or place)["y"] > least)


@pytest.mark.parametrize(
    "path", ["/tests?test=sum_001", "/judge?case=hello", "/suites?case=by-echo"]
)
def test_j_and_k_open_the_rows_beside_the_open_one(
    pages_filled: str, new_visitor: NewVisitor, path: str
) -> None:
    page = new_visitor(pages_filled).new_page()
    page.goto(path)
    opened = page.locator(".sheet tr.is-open a[data-stay-store]:not([role=checkbox])").first
    expect(opened).to_be_visible()
    first = opened.inner_text()  # its name: figures of the row may come later
    page.keyboard.press("j")
    expect(opened).not_to_have_text(first, use_inner_text=True)
    page.keyboard.press("K")  # as it is listed
    expect(opened).to_have_text(first, use_inner_text=True)


def test_j_pressed_again_before_the_answer_moves_one_row_further(
    pages_filled: str, new_visitor: NewVisitor
) -> None:
    page = new_visitor(pages_filled).new_page()
    page.goto("/tests?test=sum_001")
    opened = page.locator(".sheet tr.is-open a.strip-name")
    expect(opened).to_have_text("sum_001")
    until_answered(page)
    with holding(page, "tests-search-store") as held:
        page.keyboard.press("j")
        until_held(page, held)
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("k")
    expect(opened).to_have_text("sum_003")
    expect(page).to_have_url(re.compile("test=sum_003"))


def test_a_test_that_was_closed_is_followed_by_others(
    pages_filled: str, new_visitor: NewVisitor
) -> None:
    page = new_visitor(pages_filled).new_page()
    page.goto("/tests")
    listed = page.get_by_role("region", name="Tests", exact=True)
    for test_id in ("sum_001", "sum_002", "sum_003"):
        listed.get_by_role("link", name=test_id).click()
        opened = page.get_by_role("heading", name=test_id, level=2)
        expect(opened).to_be_visible()
        until_answered(page)
        page.keyboard.press("Escape")
        expect(opened).to_have_count(0)
        until_answered(page)


def test_paper_shows_all_columns_of_the_tests_and_no_controls(
    pages_filled: str, new_visitor: NewVisitor
) -> None:
    page = new_visitor(pages_filled).new_page()
    page.set_viewport_size({"width": 794, "height": 1123})  # A4
    page.goto("/tests")
    expect(page.locator(".tests-sheet tbody tr").first).to_be_visible()
    page.emulate_media(media="print")
    for control in (".range-row", ".bulk-bar", ".tests-sheet .tick-cell"):
        expect(page.locator(control).first).to_be_hidden()
    row, heads = page.locator(".tests-sheet tbody tr").first, page.locator(".tests-sheet thead th")
    assert row.locator("> :visible").count() == heads.filter(visible=True).count()
    assert page.evaluate("document.documentElement.scrollWidth") == 794
    assert row.locator(".strip-name").evaluate("name => name.getClientRects().length") == 1
    page.goto(f"/model?llm={BAD}")
    expect(page.get_by_role("gridcell", name="sum_001", exact=True)).to_be_attached()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    first = page.locator("table.printed tbody tr").first
    expect(first.get_by_role("cell", name=re.compile(r"^\d\.\d\d, stale$"))).to_be_visible()
    page.goto("/llms")
    expect(page.get_by_role("columnheader", name="Actions")).to_be_hidden()
    page.goto(f"/compare?llm={GOOD}&llm={BAD}")
    name = page.locator(".line-name").first
    expect(name).to_be_visible()
    name.evaluate("name => { name.textContent = 'A model told to think step by step, at length'; }")
    assert name.evaluate("name => name.scrollWidth <= name.clientWidth")


def test_paper_has_no_forms_whole_charts_and_the_models_of_each_cause(
    pages_filled: str, new_visitor: NewVisitor
) -> None:
    page = new_visitor(pages_filled).new_page()
    page.goto("/issues")
    expect(page.locator(".cause[open] .chip").first).to_be_visible()
    assert page.locator(".share-value").evaluate_all(
        "all => all.filter(each => each.scrollWidth > each.clientWidth).length"
    ) == 0  # fmt: skip
    page.emulate_media(media="print")
    expect(page.locator(".cause[open] .chip").first).to_be_visible()
    page.emulate_media(media="screen")
    page.goto("/judge")
    chart = page.locator(".chart-place").first
    expect(chart.locator(".main-svg").first).to_be_visible()
    page.emulate_media(media="print")
    for form in ("Judge agent", "Your score", "Compare runs"):
        expect(page.get_by_role("region", name=form)).to_have_count(0)
    expect(page.get_by_role("button").filter(visible=True)).to_have_count(0)
    expect(chart).to_have_css("break-inside", "avoid")


def test_a_run_takes_no_further_row_of_a_narrow_header(
    results_shown: str, new_visitor: NewVisitor
) -> None:
    page = new_visitor(results_shown).new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/")
    expect(page.locator(".ag-row").first).to_be_visible()
    height = "document.querySelector('#react-entry-point .header').offsetHeight"
    before = page.evaluate(height)
    figures = "cancelling 12,345 / 100,000"
    pill = f'<a class="run-pill"><span class="pulse"></span><span>{figures}</span></a>'
    page.evaluate(
        "(html) => { document.getElementById('shell-run-status').innerHTML = html; }", pill
    )
    assert page.evaluate(height) == before
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_one_page_is_there_from_before_its_scripts_on_and_on_the_way_through_all_without_a_mouse(
    results_shown: str, new_visitor: NewVisitor
) -> None:
    page = new_visitor(results_shown).new_page()
    page.add_init_script(_KEEP_FIRST_PAINT)
    page.goto("/")
    page.locator(".ag-row").first.wait_for()  # from now on the server knows the figures
    page.add_init_script(_COUNT_PAGES)
    page.add_init_script(_NOTE_WIDTHS)
    _models_are_shown_before_the_scripts(page)
    _columns_stay(page)
    _exactly_one_page_is_there_on_the_way_through_all(page)
    _a_link_shows_its_page_at_once_and_then_the_page_itself(page)


def _models_are_shown_before_the_scripts(page: Page) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/_bundle/*.js", hold)
    page.goto("/", wait_until="commit")
    _let_go(page, held)  # the first one chooses the colours
    sketch = page.locator("[data-first-paint]")
    expect(sketch.get_by_role("link", name=GOOD)).to_be_visible()
    expect(page.locator(".ag-row")).to_have_count(0)
    _let_go(page, held)
    page.locator(".ag-row").first.wait_for()
    expect(sketch).to_have_count(0)
    page.unroute("**/_bundle/*.js")
    for route in held:  # what charts need
        route.continue_()


def _columns_stay(page: Page) -> None:
    page.locator(".colour-key, .heat-map").first.wait_for()
    page.wait_for_function("() => window.widths.length > 30")
    assert len(set(page.evaluate("window.widths"))) == 1


def _exactly_one_page_is_there_on_the_way_through_all(page: Page) -> None:
    drawn = {"Compare": ".test-row", "Run": ".run-table, .empty-state", "Judge": ".empty-state",
             "Suites": ".empty-state", "Issues": ".cause", "Overview": ".ag-row"}  # fmt: skip
    links = page.get_by_role("navigation", name="Pages").get_by_role("link")
    names = links.all_inner_texts()
    assert drawn.keys() < {*names}
    for name in (*names, "Overview"):
        expect(page.locator("[data-first-paint]")).to_have_count(0)
        links.get_by_text(name, exact=True).focus()
        page.keyboard.press("Enter")
        heading(page, name)
        page.locator("#react-entry-point").locator(drawn.get(name, "h1")).first.wait_for()
        for late in page.locator("[data-seen-store]").all():
            late.scroll_into_view_if_needed()
        expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    assert set(page.evaluate("window.counts")) == {"1,1"}


def _a_link_shows_its_page_at_once_and_then_the_page_itself(page: Page) -> None:
    page.locator(".model-link", has_text=GOOD).wait_for()
    expect(page.locator("[data-first-paint]")).to_have_count(0)
    page.evaluate(_NOTE_FIRST_PAINTS)
    page.locator(".model-link", has_text=GOOD).click()
    page.locator(".ag-row .score-badge").first.wait_for()
    expect(page.locator("[data-first-paint]")).to_have_count(0)
    [text] = page.evaluate("window.painted")
    assert GOOD in text
    assert "Pass rate" in text
    page.get_by_role("link", name="Run", exact=True).click()
    heading(page, "Run")
    assert "All enabled" in page.evaluate("window.painted")[1]


def _let_go(page: Page, held: list[Route]) -> None:
    """Answer the next request that is held."""
    while not held:
        page.wait_for_timeout(50)
    held.pop(0).continue_()


def test_the_address_of_an_open_result_restores_it_in_another_browser(
    results_shown: str, new_visitor: NewVisitor
) -> None:
    page = new_visitor(results_shown).new_page()
    page.goto(f"/model?llm={BAD}")
    page.get_by_role("gridcell", name="sum_004", exact=True).click()
    page.wait_for_url("**test=sum_004**")
    panel = page.get_by_role("complementary", name="Result")
    expect(panel.get_by_text("4 of 60")).to_be_visible()
    page.keyboard.press("j")
    page.wait_for_url("**test=sum_005**")
    other = new_visitor(results_shown).new_page()
    other.goto(page.url)
    panel = other.get_by_role("complementary", name="Result")
    expect(panel.get_by_role("heading", name="sum_005")).to_be_in_viewport()
    expect(panel.get_by_text("5 of 60")).to_be_visible()
    other.keyboard.press("Escape")
    expect(other).to_have_url(re.compile("llm=[^&]*$"))
    page.go_back()
    expect(page.get_by_role("complementary", name="Result").get_by_text("4 of 60")).to_be_visible()


def test_a_link_turns_to_its_row_a_chart_has_shapes_as_buttons_and_rows_come_back_after_a_filter(
    results_shown: str, new_visitor: NewVisitor
) -> None:
    page = new_visitor(results_shown).new_page()
    page.goto(f"/model?llm={BAD}&test=sum_058")
    opened, row = (page.get_by_role("gridcell", name=f"sum_0{n}", exact=True) for n in ("58", "04"))
    expect(opened).to_be_visible()  # the table has turned to it
    zoom = page.locator(".modebar-btn[data-title='Zoom']")
    expect(zoom).to_have_count(1)
    expect(page.locator(".modebar-btn[data-title*='hare']")).to_have_count(0)
    expect(zoom.locator("svg")).to_have_css("background-color", "rgba(0, 0, 0, 0)")
    expect(zoom.locator("svg")).to_have_css("mask-image", "none")
    page.get_by_label("Search").first.fill("no such text")
    expect(opened).to_have_count(0)
    page.get_by_label("Search").first.fill("sum_00")
    expect(row).to_be_visible()


def _asks_for_tiles(request: Request) -> bool:
    return '"output":"model-tiles-body.children"' in (request.post_data or "")


def test_figures_and_an_open_panel_follow_a_filter_and_a_sort_asks_for_rows_only(
    results_shown: str, new_visitor: NewVisitor
) -> None:
    page = new_visitor(results_shown).new_page()
    page.goto(f"/model?llm={BAD}")
    expect(page.locator("#model-tiles-body")).to_contain_text("All results")
    asked: list[bool] = []
    page.on("request", lambda request: asked.append(_asks_for_tiles(request)))
    score = page.locator("#model-results-grid [col-id='score'].ag-header-cell")
    score.click()
    expect(score).to_have_attribute("aria-sort", "ascending")
    score.click()
    # A click on a row that is about to be replaced would be lost.
    expect(page.get_by_role("gridcell", name="sum_001", exact=True)).to_have_count(0)
    page.get_by_role("gridcell", name="sum_003", exact=True).click()
    panel = page.get_by_role("complementary", name="Result")
    expect(panel.get_by_role("heading", name="sum_003")).to_be_visible()
    assert not any(asked)
    with page.expect_request(_asks_for_tiles):
        page.get_by_label("Search").first.fill("sum_003")
    expect(panel.get_by_text("1 of 1", exact=True)).to_be_visible()
    expect(page.locator("#model-count-text")).to_contain_text("1 of ")


def test_the_place_of_an_open_result_follows_a_sort_and_the_neighbours_are_those_of_the_table(
    results_shown: str, new_visitor: NewVisitor
) -> None:
    page = new_visitor(results_shown).new_page()
    page.goto(f"/model?llm={BAD}&table-sort=test_id")
    page.get_by_role("gridcell", name="sum_001", exact=True).click()
    panel = page.get_by_role("complementary", name="Result")
    expect(panel.get_by_text("1 of 60", exact=True)).to_be_visible()
    expect(panel.get_by_role("button", name="Previous (K)")).to_be_disabled()
    page.locator("#model-results-grid [col-id='test_id'].ag-header-cell").click()
    expect(panel.get_by_text("60 of 60", exact=True)).to_be_visible()
    expect(panel.get_by_role("button", name="Next (J)")).to_be_disabled()
    page.keyboard.press("k")
    expect(panel.get_by_role("heading", name="sum_002")).to_be_visible()


def test_charts_follow_the_models_that_a_search_finds(
    results_shown: str, new_visitor: NewVisitor
) -> None:
    page = new_visitor(results_shown).new_page()
    page.goto("/")
    page.locator("[data-seen-store]").scroll_into_view_if_needed()
    chart = page.get_by_role("figure", name="Score against time")
    for llm_id in (GOOD, BAD):
        expect(chart).to_have_accessible_name(re.compile(llm_id))
    page.locator("#overview-text-input").fill(BAD)
    expect(chart).not_to_have_accessible_name(re.compile(GOOD))
    expect(chart).to_have_accessible_name(re.compile(BAD))
    page.locator("#overview-text-input").fill("no such model")
    expect(page.locator("#overview-leaderboard-grid")).to_contain_text(
        "Nothing matches these filters."
    )
    expect(page.get_by_text('Add "size" to llms.json.')).to_have_count(0)


def test_a_search_fills_the_table_that_is_there_and_a_model_out_of_sight_is_not_compared(
    results_shown: str, new_visitor: NewVisitor
) -> None:
    page = new_visitor(results_shown).new_page()
    page.goto("/")
    models = page.locator(".ag-row .model-link")
    expect(models).to_have_count(2)
    table = page.locator("#overview-leaderboard-grid .ag-root").element_handle()
    for tick in page.locator(".ag-row .ag-checkbox-input").all():
        tick.check()
    compare = page.locator("#overview-compare-button")
    expect(compare).to_have_text("Compare (2)")
    for text, found in ((BAD, [BAD]), ("", [GOOD, BAD])):
        page.locator("#overview-text-input").fill(text)
        expect(models).to_have_text(found)
        expect(compare).to_have_text("Compare")
        assert table.evaluate("each => each.isConnected")


def _open_low(results_shown: str, new_visitor: NewVisitor) -> Page:
    """Open Overview in a window so low that nothing but the head of the page is in sight."""
    page = new_visitor(results_shown).new_page()
    page.set_viewport_size({"width": 1440, "height": 300})
    page.goto("/")
    expect(page.locator(".ag-row .model-link")).not_to_have_count(0)
    return page


_SCROLL_PAST_HEADS = """(by) => {
  const top = (of) => document.querySelector(`.heat-map-frame ${of}`).getBoundingClientRect().top;
  const below = document.querySelector(".header").getBoundingClientRect().bottom;
  window.scrollBy(0, top(".heat-map") - below + by);
  const frame = () => new Promise(requestAnimationFrame);
  return frame().then(frame).then(() =>
    [below - top(".heat-map"), top("thead th") - below].map(Math.round));
}"""


def test_the_heads_of_the_heat_map_stay_below_the_header_when_the_window_scrolls(
    results_shown: str, new_visitor: NewVisitor
) -> None:
    page = _open_low(results_shown, new_visitor)
    page.locator(".heat-map").scroll_into_view_if_needed()
    until_answered(page)
    assert page.evaluate(_SCROLL_PAST_HEADS, 30) == [30, 0]
    past, heads = page.evaluate(_SCROLL_PAST_HEADS, 300)
    assert (past, heads) == (300, pytest.approx(-300, abs=5))  # with the map, which is out of sight


_NOTE_CHANGES = """() => {
  window.changes = [];
  let last = window.store.getState();
  window.store.subscribe(() => {
    const now = window.store.getState();
    window.changes.push(Object.keys(now).filter((part) => now[part] !== last[part]));
    last = now;
  });
}"""


def test_components_hear_of_changes_of_the_page_and_not_of_steps_of_callbacks(
    results_shown: str, new_visitor: NewVisitor
) -> None:
    page = new_visitor(results_shown).new_page()
    page.goto("/")
    models = page.locator(".ag-row .model-link")
    expect(models).to_have_count(2)
    page.evaluate(_NOTE_CHANGES)
    page.locator("#overview-text-input").fill(BAD)
    expect(models).to_have_text([BAD])
    heard = [set(parts) - {"callbacks"} for parts in page.evaluate("() => window.changes")]
    assert any("layout" in parts for parts in heard)
    assert all(heard)


_SLOW_CLOCK = """() => {
  const now = performance.now.bind(performance), since = now();
  performance.now = () => since + (now() - since) / 100;
}"""
"""Charts are not given up, however busy this machine is."""


def test_the_keys_that_print_load_charts_that_were_never_in_sight(
    results_shown: str, new_visitor: NewVisitor
) -> None:
    page = _open_low(results_shown, new_visitor)
    expect(page.locator("[data-seen-store] .main-svg")).to_have_count(0)
    drawn = "document.querySelectorAll('[data-seen-store] .main-svg').length"
    page.evaluate(f"() => {{ window.print = () => {{ window.printed = {drawn}; }}; }}")
    page.evaluate(_SLOW_CLOCK)
    page.keyboard.press("Control+p")
    wait_for(lambda: page.evaluate("window.printed > 0"))


def test_a_table_is_printed_whole_and_leads_by_arrows_or_the_mouse_down_to_one_answer(
    results_shown: str, new_visitor: NewVisitor
) -> None:
    page = new_visitor(results_shown).new_page()
    page.goto("/")
    expect(page.locator(".ag-row .model-link")).not_to_have_count(0)
    heads = page.locator("#overview-leaderboard-grid").get_by_role("columnheader")
    n_heads = heads.count()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    printed = page.locator("table.printed")
    for llm_id in (GOOD, BAD):
        expect(printed.get_by_role("cell", name=llm_id)).to_be_visible()
    score = printed.get_by_role("row").filter(has_text=BAD).get_by_role("cell").nth(2)
    expect(score).to_have_text(re.compile(r"0\.667\d\.\d\d to \d\.\d\d60 tests"))
    expect(page.locator("#overview-leaderboard-grid")).to_be_hidden()
    expect(page.get_by_text("Loading: print again.")).to_be_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(printed).to_have_count(0)
    page.emulate_media(media="screen")
    chart = page.locator(".svg-container").first
    expect(chart).to_be_visible()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.get_by_text("Loading: print again.")).to_have_count(0)
    page.set_viewport_size({"width": 700, "height": 900})
    expect(chart.locator("svg").first).to_have_attribute("viewBox", re.compile("0 0 "))
    frame = page.locator(".card", has=chart).first
    assert chart.evaluate("each => each.offsetWidth") <= frame.evaluate("each => each.clientWidth")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.emulate_media(media="screen")
    expect(page.get_by_role("link", name=GOOD).first).to_be_visible()
    expect(heads).to_have_count(n_heads)  # heads that are drawn anew lose the focus
    _tab_into_table(page, "overview leaderboard")
    page.keyboard.press("ArrowRight")  # past the ticks
    expect(page.get_by_role("columnheader", name="Model").first).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    heading(page, "Model")
    expect(page.get_by_placeholder("Model")).to_have_value(BAD)
    expect(page.get_by_role("gridcell", name="sum_002", exact=True)).to_be_visible()
    _tab_into_table(page, "model results")
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    panel = page.get_by_role("complementary", name="Result")
    expect(panel.get_by_role("heading", name="sum_002")).to_be_visible()
    page.get_by_role("link", name="Overview", exact=True).click()
    heading(page, "Overview")
    _leads_down_to_one_answer(page)


def _tab_into_table(page: Page, name: str) -> None:
    until_answered(page)
    page.get_by_role("button", name=f"Download {name} as Parquet").focus()
    page.keyboard.press("Tab")
    expect(page.get_by_role("columnheader").first).to_be_focused()


def _leads_down_to_one_answer(page: Page) -> None:
    expect(page.get_by_text("120 trials")).to_be_visible()
    page.get_by_text("Views", exact=True).click()
    page.get_by_role("textbox", name="Name").fill("mine")
    save = page.get_by_role("button", name="Save view")
    place = save.bounding_box()
    save.click()
    expect(page.get_by_role("link", name="mine")).to_be_visible()
    assert save.bounding_box() == place  # nothing else comes below the mouse
    page.keyboard.press("Escape")
    page.get_by_role("group", name="Score by class").get_by_role("link", name="0.67").click()
    heading(page, "Model")
    passed = page.get_by_role("gridcell", name="sum_002", exact=True)
    expect(passed).to_be_visible()
    page.get_by_text("Not passed", exact=True).click()
    expect(passed).to_have_count(0)
    page.get_by_role("gridcell", name="sum_004", exact=True).click()
    panel = page.get_by_role("complementary", name="Result")
    expect(panel.get_by_role("heading", name="sum_004")).to_be_visible()
    expect(panel.get_by_text('"answer": 5').first).to_be_visible()


def test_an_empty_workspace_leads_to_the_first_run(
    workspace_files: WorkspaceFiles, serve: Serve, new_visitor: NewVisitor
) -> None:
    page = new_visitor(serve(workspace_files.write())).new_page()
    for path in ("/", "/model", "/compare", "/issues"):
        page.goto(path)
        page.get_by_role("link", name="Run tests").first.click()
        heading(page, "Run")


def test_a_broken_file_is_told_with_its_place_and_heals_when_mended(
    workspace_files: WorkspaceFiles, serve: Serve, new_visitor: NewVisitor
) -> None:
    folder = with_results(workspace_files)
    tests = folder / "tests.json"
    whole = tests.read_text()
    page = new_visitor(serve(folder)).new_page()
    page.goto("/")
    expect(page.get_by_text("120 trials")).to_be_visible()
    tests.write_text(whole.replace('"level": 2', '"level": "two"', 1))
    page.get_by_role("button", name=re.compile("^Refresh")).click()
    expect(page.locator(".problems")).to_contain_text("tests.json")
    tests.write_text(whole)
    page.get_by_role("button", name=re.compile("^Refresh")).click()
    expect(page.locator(".problems")).to_be_empty()
    expect(page.get_by_text("120 trials").first).to_be_visible()


def _store_and_await(
    page: Page, folder: Path, known: list[dict[str, Any]], news: dict[str, Any]
) -> None:
    """Store another model's answer to the open test, which the open panel then shows."""
    write_results(folder, {GOOD: known, BAD: [news]})
    listed = page.locator(".other-answer .line-answers", has_text=news["response"])
    expect(listed).to_be_visible()


def test_a_long_answer_opens_as_a_whole_and_a_rendered_one_shows_its_source(
    workspace_files: WorkspaceFiles, serve: Serve, new_visitor: NewVisitor
) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("good", ["4"])
    folder = workspace_files.write()
    long = "".join(f"line {number}\n" for number in range(30_000)) + "the end"
    markdown = f"# Sum\n\n$$\\frac{{1}}{{2}}$$\n\n{HOSTILE} \u202e"
    first, second = scored("sum_001", 1.0, long), scored("sum_002", 1.0, markdown)
    write_results(folder, {GOOD: [first, second]})
    page = new_visitor(serve(folder)).new_page()
    page.goto(f"/model?llm={GOOD}&test=sum_001")
    panel = page.get_by_role("complementary", name="Result")
    held: list[Route] = []
    page.route("**/result/text**", lambda route: held.insert(0, route))
    with page.expect_request("**/result/text**"):
        panel.get_by_role("button", name="more characters").click()
    _store_and_await(page, folder, [first, second], scored("sum_001", 1.0, "5"))
    held.pop().continue_()
    expect(panel.get_by_text("the end")).to_be_attached()
    panel.locator(".other-answer summary").click()
    _store_and_await(page, folder, [first, second], scored("sum_001", 1.0, "6"))
    expect(panel.locator(".other-answer[open]")).to_have_count(1)
    expect(panel.get_by_text("the end")).to_be_attached()
    expect(panel.get_by_role("button", name="more characters")).to_be_hidden()
    page.keyboard.press("j")
    expect(panel.get_by_role("heading", name="sum_002")).to_be_visible()
    expect(panel.get_by_text("the end")).to_have_count(0)
    expect(panel.locator("mfrac")).to_be_visible()
    expect(panel.locator("img")).to_have_count(0)
    panel.get_by_role("button", name="Show raw").click()
    expect(panel.get_by_text("# Sum")).to_be_visible()
    expect(panel.get_by_text("⟨U+202E⟩").last).to_be_visible()
    expect(panel.get_by_role("button", name="Show rendered")).to_be_focused()
