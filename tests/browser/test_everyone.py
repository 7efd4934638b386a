"""Pages for readers with a keyboard, a small or large screen, little contrast, or a printer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError
from playwright.sync_api import expect

from tests.browser.served import served
from tests.browser.watched import heading, until_answered
from tests.browser.workspaces import BAD, GOOD, with_every_page_filled
from tests.conftest import WorkspaceFiles
from tests.waiting import wait_for

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

NewVisitor = Callable[[str], "BrowserContext"]

PAGES = {
    "/": "Overview",
    f"/model?llm={BAD}&test=sum_001": f"sum_001 · {BAD} · Model",
    f"/compare?llm={GOOD}&llm={BAD}&test=sum_001": f"sum_001 · {GOOD}, {BAD} · Compare",
    f"/issues?llm={BAD}": f"{BAD} · Issues",
    "/tests?test=sum_001": "sum_001 · Tests",
    "/llms": "Models",
    "/run?redo=all": "Run",
    "/judge?case=bye": "bye · Judge",
    "/suites?case=by-every_other": "by-every_other · Suites",
    "/nowhere": "Not found",
}
"""Addresses to the titles that they show."""
WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
ZOOMED = {"width": 720, "height": 450}
"""What 1440 x 900 leaves to pages at 200 %."""
_FITS = "() => document.documentElement.scrollWidth <= document.documentElement.clientWidth"
_REDRAWN_MS = 60_000
"""Charts follow the width of the window a moment later, on a busy machine many seconds."""
_WIDEST = """() => {
    const edge = (element) => element.getBoundingClientRect().right;
    const all = [...document.querySelectorAll("body *")];
    const widest = all.sort((one, other) => edge(other) - edge(one)).slice(0, 3);
    return widest.map((each) => each.getAttribute("class"));
}"""
_CUT = """() => [...document.querySelectorAll(".ag-row .ag-cell *")].filter((element) => {
    const { bottom, height } = element.getBoundingClientRect();
    const row = element.closest(".ag-row").getBoundingClientRect();
    return height && element.textContent && !element.children.length && bottom > row.bottom + 1;
}).map((element) => element.textContent.slice(0, 50))"""
"""Lists the texts of a grid that its rows cut off below."""
_CROWDED = """() => [...document.querySelectorAll(".xaxislayer-above")].flatMap((axis) => {
    const all = [...axis.querySelectorAll("g.xtick text")];
    const shown = all.filter((each) => each.getBoundingClientRect().width);
    const ends = shown.map((each) => each.getBoundingClientRect().right).sort((a, b) => a - b);
    return ends.some((end, place) => end - ends[place - 1] < 13) ? [shown[0].textContent] : [];
}).concat([...document.querySelectorAll(".textpoint")].filter((name) => {
    const { left, right } = name.getBoundingClientRect();
    const chart = name.closest(".js-plotly-plot").getBoundingClientRect();
    return left < right && (left < chart.left - 1 || right > chart.right + 1);
}).map((name) => name.textContent))"""
"""Lists the charts whose axis has one label on another, and names that a chart cuts off."""
_ALONE = """() => [...document.querySelectorAll(".card .choosable > .dropdown")].filter((list) => {
    const head = list.closest(".card").querySelector(".card-head");
    const place = (one) => one.getBoundingClientRect();
    const middle = (one) => (place(one).top + place(one).bottom) / 2;
    const button = head.querySelector("button");
    const isBeside = button
        ? Math.abs(middle(list) - middle(button)) <= 1
        : middle(list) <= place(head).bottom;
    return list.checkVisibility() && !isBeside;
}).map((list) => list.dataset.list)"""
"""Lists the tables whose list of columns does not stand beside the other buttons of the card."""
_FOLLOW = """(path) => {
    document.querySelectorAll("[data-seen]").forEach((each) => delete each.dataset.seen);
    history.pushState({}, "", path);
    dispatchEvent(new CustomEvent("_dashprivate_pushstate"));
}"""
"""Goes to a page as a click on a link does: its scripts, and those of axe, are compiled already."""
_COLOURS = "color-contrast", "link-in-text-block"
"""Rules of axe that colours decide: the others say the same in light and dark."""
_LOOKS = """(texts) => {
    const unset = "rgba(0, 0, 0, 0)none1";
    const grounds = new Map(), levels = new Map();
    const ground = (element) => {
        if (!grounds.has(element)) {
            const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element);
            grounds.set(element, backgroundColor + backgroundImage + opacity);
        }
        return grounds.get(element);
    };
    const level = (parent) => {
        if (!levels.has(parent)) {
            const beside = [...new Set([...parent.children].map(ground))].sort().join();
            const here = ground(parent) === unset ? "" : ground(parent);
            levels.set(parent, `${level(parent.parentElement ?? null)} ${here}${beside}`);
        }
        return levels.get(parent);
    };
    levels.set(null, "");
    const looks = new Map();
    for (const text of texts) {
        const { color, fontSize, fontWeight, textShadow } = getComputedStyle(text);
        const kind = [text.tagName, text.className, color, fontSize, fontWeight, textShadow].join();
        const look = kind + ground(text) + level(text.parentElement);
        if (!looks.has(look)) looks.set(look, text);
    }
    return [...looks.values()];
}"""
"""Picks one of all texts that look the same, on the same ground, beside the same grounds.

Axe compares colours for 3 ms of each text, and grids have hundreds of cells.
"""
_TEXTS = """[...document.querySelectorAll("body *")].filter(
    (each) => each.checkVisibility({ visibilityProperty: true }) && (
        each.matches("input, select, textarea") ||
        [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim())))"""
_NOTE_SEEN = """() => document.querySelectorAll("body *").forEach((each) => {
    if (each.checkVisibility({ visibilityProperty: true })) each.dataset.seen = "";
})"""
_UNSEEN = f"{_TEXTS}.filter((each) => !('seen' in each.dataset))"
"""Finds what only a narrow window shows."""
_UNMARKED = """() => {
    const look = (element) => {
        const all = [element];
        while (all.length < 5 && all.at(-1).parentElement) all.push(all.at(-1).parentElement);
        return all.map((each) => {
            const { outline, boxShadow, border, background } = getComputedStyle(each);
            return [outline, boxShadow, border, background].join();
        }).join();
    };
    const controls = "a[href], button, input, select, textarea, summary, [tabindex='0']";
    const fields = "input:not([type=radio], [type=checkbox]), select, textarea";
    const hasRing = (element) => [element, element.closest(".mantine-Input-input")].some((each) => {
        const { outlineStyle, outlineWidth } = each ? getComputedStyle(each) : {};
        return outlineStyle === "solid" && parseFloat(outlineWidth) >= 2;
    });
    const unmarked = [];
    for (const element of document.querySelectorAll(controls)) {
        if (element.disabled || !element.checkVisibility({ visibilityProperty: true })) continue;
        document.activeElement.blur();
        const before = look(element);
        element.focus({ preventScroll: true });
        if (document.activeElement !== element) continue;
        if (look(element) === before || (element.matches(fields) && !hasRing(element))) {
            unmarked.push(element.outerHTML.slice(0, 200));
        }
    }
    document.activeElement.blur();
    return unmarked;
}"""
"""Lists the controls that look the same with and without the focus of the keyboard.

Fields for text have the ring of other controls: a border alone is 1 px wide.
"""


@pytest.fixture(scope="module")
def every_page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a dashboard that has something to show on each page."""
    files = WorkspaceFiles(tmp_path_factory.mktemp("every_page"))
    with served(with_every_page_filled(files)) as address:
        yield address


@pytest.mark.parametrize("half", [0, 1])
def test_every_page_suits_everyone(every_page: str, new_visitor: NewVisitor, half: int) -> None:
    page = new_visitor(every_page).new_page()
    page.add_init_script(path=_axe())
    page.on("dialog", lambda dialog: (_ for _ in ()).throw(AssertionError(dialog.message)))
    pages = list(PAGES.items())[half::2]
    faults = [fault for path, title in pages for fault in _faults_of(page, path, title)]
    assert faults == []


def _axe() -> Path:
    """Return the script of axe-core, which comes with a package."""
    import axe_playwright_python

    return Path(axe_playwright_python.__path__[0]) / "axe.min.js"


def _faults_of(page: Page, path: str, title: str) -> Iterator[str]:
    page.set_viewport_size(WIDE)
    if page.url == "about:blank":
        page.goto(path)
    else:
        page.evaluate(_FOLLOW, path)
    expect(page).to_have_title(f"{title} · poor_bench")
    heading(page, title.rpartition(" · ")[2])  # the title is there before the page is
    _draw_everything(page)
    yield from _what_a_model_says_runs(page, path)
    for size in (WIDE, ZOOMED, NARROW):
        page.set_viewport_size(size)
        if not _becomes(page, _FITS):
            yield f"{path}: scrolls sideways at {size['width']} px: {page.evaluate(_WIDEST)}"
        checks = {"cut": _CUT, "labels": _CROWDED}
        for fault, listed in (checks if size is NARROW else checks | {"columns": _ALONE}).items():
            found = _left_of(page, listed)
            yield from (f"{path}: {fault} at {size['width']} px: {each}" for each in found)
        if size is WIDE:
            yield from _violations(page, path, "light")
            page.evaluate(_NOTE_SEEN)
            yield from _violations(page, path, "dark", is_whole=False)
        if size is NARROW:
            yield from _violations(page, path, "light", _UNSEEN, is_whole=False)
            yield from _violations(page, path, "dark")
    page.keyboard.press("Tab")  # from here on the browser marks the focus
    yield from (f"{path}: focus cannot be seen: {each}" for each in page.evaluate(_UNMARKED))


def _what_a_model_says_runs(page: Page, path: str) -> Iterator[str]:
    if path.startswith(("/model", "/compare", "/issues")):
        expect(page.get_by_text("onerror=alert(1)").first).to_be_visible()
    if page.locator("img[src='x'], a[href^='javascript']").count():
        yield f"{path}: what a model says is part of the page"


def _becomes(page: Page, state: str) -> bool:
    try:
        page.wait_for_function(state, timeout=_REDRAWN_MS)
    except PlaywrightTimeoutError:
        return False
    return True


def _left_of(page: Page, listed: str) -> list[str]:
    """Return what a list still has once the page has had time to settle."""
    left: list[str] = [] if _becomes(page, f"() => !({listed})().length") else page.evaluate(listed)
    return left


def _draw_everything(page: Page) -> None:
    for late in page.locator("[data-seen-store]").all():
        late.scroll_into_view_if_needed()
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)


def _violations(
    page: Page, path: str, scheme: str, texts: str = _TEXTS, *, is_whole: bool = True
) -> Iterator[str]:
    """List what axe finds on texts, and on the whole page what colours do not decide."""
    page.evaluate(
        "name => document.documentElement.setAttribute('data-mantine-color-scheme', name)", scheme
    )
    found = page.evaluate(
        f"""async ([colours, isWhole]) => {{
            const run = async (include, options) => {{
                const resultTypes = ["violations"];
                return (await axe.run({{ include }}, {{ resultTypes, ...options }})).violations;
            }};
            const texts = ({_LOOKS})({texts});
            const found = texts.length ? await run(texts, {{ runOnly: colours }}) : [];
            if (!isWhole) return found;
            const rules = Object.fromEntries(colours.map((each) => [each, {{ enabled: false }}]));
            return found.concat(await run([document.body], {{ rules }}));
        }}""",
        [_COLOURS, is_whole],
    )
    width = page.viewport_size["width"] if page.viewport_size else 0
    for rule in found:
        for node in rule["nodes"]:
            yield f"{path}, {scheme}, {width} px: {rule['id']}: {node['html'][:300]}"


def test_keys_are_listed_and_never_taken_from_a_box(
    every_page: str, new_visitor: NewVisitor
) -> None:
    page = new_visitor(every_page).new_page()
    page.goto(f"/model?llm={BAD}&test=sum_001")
    panel = page.get_by_role("complementary", name="Result")
    expect(panel.get_by_role("heading", name="sum_001")).to_be_visible()
    keys = page.get_by_role("dialog", name="Keyboard shortcuts")
    page.get_by_label("Search").first.press("?")
    expect(keys).to_have_count(0)
    page.get_by_role("radio", name="Not passed").focus()  # nobody types there
    page.keyboard.press("?")
    expect(keys).to_be_visible()
    expect(keys.get_by_text("0 to 9", exact=True)).to_be_visible()
    page.keyboard.press("j")  # nothing moves behind a dialog
    keys.get_by_role("switch", name="Single-key shortcuts").click()
    page.keyboard.press("Escape")
    expect(keys).to_have_count(0)
    page.keyboard.press("?")
    expect(keys).to_have_count(0)
    expect(panel.get_by_role("heading", name="sum_001")).to_be_visible()
    for scheme in ("dark", "light", "dark"):
        page.get_by_role("button", name="Light or dark").click()
        page.wait_for_url(f"**theme={scheme}*")
        page.reload()
        expect(page.locator(f"html[data-mantine-color-scheme={scheme}]")).to_be_attached()
    page.get_by_role("button", name="Rate 1 (+)").click()
    expect(page.get_by_role("button", name="Rate 1 (+)")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="Rate 0 (-)")).to_have_attribute("aria-pressed", "false")
    page.goto("/tests")  # this address says nothing of the colours
    heading(page, "Tests")
    until_answered(page)
    expect(page.locator("html[data-mantine-color-scheme=dark]")).to_be_attached()


def test_what_is_longer_than_usual_keeps_to_its_place(
    every_page: str, new_visitor: NewVisitor
) -> None:
    page = new_visitor(every_page).new_page()
    page.goto("/")
    badge = page.locator(".ag-cell .trust-badge").first
    fits = """each => {
        each.textContent = "16 of 64 tests; not comparable";
        const edge = (element) => element.getBoundingClientRect().right;
        return edge(each) <= edge(each.closest(".ag-cell"));
    }"""
    wait_for(lambda: badge.evaluate(fits))  # columns get their width some frames after the rows
    page.goto(f"/model?llm={BAD}&test=sum_001")
    strip = page.locator(".model-strip .tiles")
    strip.locator(".tile").first.wait_for()
    tops = strip.evaluate("""each => {
        each.append(each.children[0].cloneNode(true), each.children[1].cloneNode(true));
        return [...each.children].map((tile) => tile.getBoundingClientRect().top);
    }""")
    assert len(set(tops)) == 1
    page.set_viewport_size(NARROW)
    page.goto(f"/compare?llm={GOOD}&llm={BAD}")
    figure = page.locator(".strip-pair", has=page.locator(".time-bar")).first.locator("span").first
    figure.evaluate("each => { each.textContent = '92.2 ms'; }")
    assert figure.evaluate("each => each.scrollWidth <= each.clientWidth")
