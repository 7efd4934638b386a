from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from poor_bench.labels.storage import read_labels
from tests.browser.watched import holding, until_answered, until_held
from tests.browser.workspaces import with_results
from tests.conftest import WorkspaceFiles
from tests.waiting import wait_for

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page


_HOLD_NEXT_LOOK = """() => {
  const ask = window.fetch;
  window.fetch = (url, options) => {
    const isLook = String(options?.body ?? "").includes('"output":"..rating-read-store.data...');
    if (!isLook || window.release) return ask(url, options);
    const gate = new Promise((go) => { window.release = () => go(); });
    return ask(url, options).then((answer) => gate.then(() => answer));
  };
}"""


# In the page, as a handler of this process would not run while it waits for a file.
_HEAR_OF_NOTHING = """() => {
  const ask = window.fetch;
  window.fetch = (url, options) => {
    const isClock = String(options?.body ?? "").includes('"output":"..shell-version-store.data');
    if (!isClock) return ask(url, options);
    window.isDeaf = true;
    return Promise.resolve(new Response(null, { status: 204 }));
  };
}"""


def test_answers_are_rated_by_keyboard_and_two_tabs_keep_what_the_other_says(
    workspace_files: WorkspaceFiles,
    serve: Callable[[Path], str],
    new_visitor: Callable[[str], BrowserContext],
) -> None:
    folder = with_results(workspace_files, n_tests=3)

    def last() -> tuple[float | None, str, tuple[str, ...]] | None:
        labels = read_labels(folder)
        return (labels[-1].score, labels[-1].note, labels[-1].tags) if labels else None

    context = new_visitor(serve(folder))
    page = context.new_page()
    page.goto("/model")
    page.get_by_role("gridcell", name="sum_001", exact=True).click()
    bar = page.get_by_role("group", name="Rating")
    expect(bar).to_be_visible()
    page.keyboard.press("7")
    page.keyboard.press("c")  # before the server answers: the score goes along
    page.keyboard.type("+ 5 is missing")
    page.keyboard.press("Enter")
    page.keyboard.press("T")  # as it is listed
    page.keyboard.type("key, tone")
    page.keyboard.press("Escape")
    wait_for(lambda: last() == (7.0, "+ 5 is missing", ("key", "tone")))
    page.reload()
    expect(bar.get_by_label("Comment")).to_have_value("+ 5 is missing")
    assert last() == (7.0, "+ 5 is missing", ("key", "tone"))
    page.keyboard.press("Backspace")
    wait_for(lambda: last() == (None, "", ()))
    _two_tabs_keep_what_the_other_says(page, context.new_page(), folder)


def _two_tabs_keep_what_the_other_says(first: Page, second: Page, folder: Path) -> None:
    second.goto("/model")
    second.get_by_role("gridcell", name="sum_001", exact=True).click()
    for tab in (first, second):
        expect(tab.get_by_role("group", name="Rating")).to_be_visible()
        expect(tab.get_by_label("Comment")).to_have_value("")
    second.evaluate(_HEAR_OF_NOTHING)
    wait_for(lambda: second.evaluate("window.isDeaf"))
    first.keyboard.press("7")
    first.keyboard.press("c")
    first.keyboard.type("5 is missing")
    first.keyboard.press("Enter")
    wait_for(
        lambda: (
            [(each.score, each.note) for each in read_labels(folder)][-1:]
            == [(7.0, "5 is missing")]
        )
    )
    second.keyboard.press("t")
    second.keyboard.type("key")
    second.keyboard.press("Enter")
    wait_for(lambda: read_labels(folder)[-1].tags == ("key",))
    last = read_labels(folder)[-1]
    assert (last.score, last.note) == (7.0, "5 is missing")
    for tab in (first, second):  # the first by its clock, the second by its own save
        bar = tab.get_by_role("group", name="Rating")
        expect(bar.get_by_label("Tags")).to_have_value("key")
        expect(bar.get_by_label("Comment")).to_have_value("5 is missing")
        expect(bar.get_by_label("Your score (0 to 1)")).to_have_value("0.7")
    _what_is_stored_does_not_overwrite_the_other_tab(first, second, folder)
    _an_answer_that_comes_late_leaves_what_is_typed(first, second, folder)


def _comment(tab: Page, text: str) -> None:
    tab.get_by_label("Comment").fill(text)
    tab.keyboard.press("Enter")


def _what_is_stored_does_not_overwrite_the_other_tab(
    first: Page, second: Page, folder: Path
) -> None:
    first.evaluate(_HOLD_NEXT_LOOK)
    _comment(first, "stored")
    wait_for(lambda: read_labels(folder)[-1].note == "stored")
    wait_for(lambda: first.evaluate("window.release !== undefined"))
    _comment(second, "newer")
    wait_for(lambda: read_labels(folder)[-1].note == "newer")
    first.keyboard.press("5")  # the boxes still hold what was sent before
    wait_for(lambda: read_labels(folder)[-1].score == 5.0)
    assert read_labels(folder)[-1].note == "newer"
    first.evaluate("window.release()")
    expect(first.get_by_label("Comment")).to_have_value("newer")
    first.evaluate("window.release = undefined")


def _an_answer_that_comes_late_leaves_what_is_typed(
    first: Page, second: Page, folder: Path
) -> None:
    first.evaluate(_HOLD_NEXT_LOOK)
    _comment(second, "theirs")
    wait_for(lambda: first.evaluate("window.release !== undefined"))
    first.keyboard.press("c")
    first.keyboard.press("Control+a")
    first.keyboard.type("mine")
    first.evaluate("window.release()")
    shown = "window.dash_component_api.getLayout('rating-shown-store').props.data"
    wait_for(lambda: first.evaluate(shown)[1][1] == "theirs")
    expect(first.get_by_label("Comment")).to_have_value("mine")
    first.keyboard.press("Enter")
    wait_for(lambda: read_labels(folder)[-1].note == "mine")


def test_a_rating_is_never_given_to_the_answer_that_was_open_before(
    workspace_files: WorkspaceFiles,
    serve: Callable[[Path], str],
    new_visitor: Callable[[str], BrowserContext],
) -> None:
    folder = with_results(workspace_files, n_tests=3)
    page = new_visitor(serve(folder)).new_page()
    page.goto("/model")
    page.get_by_role("gridcell", name="sum_001", exact=True).click()
    liked = page.get_by_role("button", name="Rate 1 (+)")
    expect(liked).to_be_visible()
    panel = page.get_by_role("complementary", name="Result")
    rate: dict[str, Callable[[], None]] = {
        "sum_002": lambda: page.keyboard.press("+"),
        "sum_003": liked.click,
    }
    for test_id, give in rate.items():
        with holding(page, '"output":"..rating-read-store.data...') as held:
            page.keyboard.press("j")
            expect(panel.get_by_role("heading", name=test_id)).to_be_visible()
            give()
            until_held(page, held)
        wait_for(lambda: {each.test_id for each in read_labels(folder)} >= {test_id})  # noqa: B023
        expect(liked).to_have_attribute("aria-pressed", "true")
    assert [(each.test_id, each.score) for each in read_labels(folder)] == [
        ("sum_002", 10.0),
        ("sum_003", 10.0),
    ]


def test_boxes_follow_a_rating_of_another_tab_and_keep_what_is_edited(
    results_shown: str, new_visitor: Callable[[str], BrowserContext]
) -> None:
    page = new_visitor(results_shown).new_page()
    page.goto("/model")
    shown = page.evaluate(
        """(cases) => {
          const { rating, no_update } = window.dash_clientside;
          const name = (value) => (value === no_update ? "kept" : value);
          return cases.map((each) => rating.chooseShown(...each).map(name));
        }""",
        [
            [
                *[(0.7, "theirs", ""), ("", "", "key"), None],
                *[(None, "mine", "key"), ("", "mine", "key")],
            ],
            [(0.7, "mine", ""), (0.7, "mine", ""), None, (0.7, "mine", ""), ("0.7", "mine", "")],
            [("", "", ""), (0, "", ""), None, (0, "", ""), ("0", "", "")],
            [("", "new", "a"), ("", "", "b, c"), None, ("", "", "c; b"), ("", "ty", "c; b")],
            [("", "new", "a"), ("", "", "b, c"), None, ("", "", "b;c,b"), ("", "", "b;c,b")],
            [
                ("", "theirs", ""),
                ("", "", ""),
                ("", "mine", "a"),
                ("", "mine", "a"),
                ("", "mine", "b"),
            ],
        ],
    )
    assert shown == [
        [0.7, "kept", ""],
        ["kept"] * 3,
        ["", "kept", "kept"],
        ["kept", "kept", "kept"],
        ["kept", "new", "a"],
        ["kept", "theirs", "kept"],
    ]


def test_a_number_that_a_field_does_not_take_is_told_with_the_range(
    results_shown: str, new_visitor: Callable[[str], BrowserContext]
) -> None:
    page = new_visitor(results_shown).new_page()
    page.goto("/tests?min-mean=0.5")
    least = page.get_by_label("Mean score: from")
    told = page.locator(".mantine-NumberInput-root[data-fault]")
    expect(least).to_have_value("0.5")
    until_answered(page)
    for typed, said in (("7", "0 to 1"), ("x", "0 to 1"), ("-", "0 to 1"), ("0.7", "")):
        least.fill(typed)
        if not said:
            expect(told).to_have_count(0)
            expect(least).not_to_have_attribute("aria-invalid", "true")
            continue
        expect(told).to_have_attribute("data-fault", said)
        expect(told).to_have_css("position", "relative")
        expect(least).to_have_attribute("aria-invalid", "true")
        expect(least).to_have_attribute("aria-description", said)
    least.fill("7")
    least.blur()  # Mantine puts it into the range
    expect(least).to_have_value("1")
    expect(told).to_have_attribute("data-fault", "0 to 1")
    page.goto("/model?test=sum_001")
    expect(page.get_by_label("Your score (0 to 1)")).to_be_visible()
    until_answered(page)
    page.get_by_label("Your score (0 to 1)").fill("7")
    expect(told).to_have_attribute("data-fault", "0 to 1")
