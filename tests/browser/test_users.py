"""The three kinds of user: from the question to its answer in at most twelve steps."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.watched import heading
from tests.browser.workspaces import BAD, to_run, with_results
from tests.conftest import WorkspaceFiles

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Locator, Page

Serve = Callable[[Path], str]
NewVisitor = Callable[[str], "BrowserContext"]
MOST_STEPS = 12


class Journey:
    """A user who counts what has to be opened, clicked, typed and pressed."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.n_steps = 0

    def _take_step(self) -> None:
        self.n_steps += 1
        assert self.n_steps <= MOST_STEPS

    def open(self, address: str) -> None:
        self._take_step()
        self.page.goto(address)

    def click(self, what: Locator) -> None:
        self._take_step()
        what.click()

    def press(self, key: str) -> None:
        self._take_step()
        self.page.keyboard.press(key)

    def fill(self, field: Locator, text: str) -> None:
        self._take_step()
        field.fill(text)


def test_who_chooses_a_model_learns_which_is_better_and_why(
    results_shown: str, new_visitor: NewVisitor
) -> None:
    page = new_visitor(results_shown).new_page()
    user = Journey(page)
    user.open("/")
    expect(page.get_by_text("120 trials")).to_be_visible()
    ticks = page.get_by_role("region", name="Model comparison").get_by_role("checkbox")
    for tick in (ticks.nth(0), ticks.nth(1)):
        user.click(tick)
    user.click(page.get_by_role("link", name="Compare (2)"))
    heading(page, "Compare")
    expect(page.get_by_role("group", name="Overall").get_by_text("worse")).to_be_visible()
    expect(page.get_by_text("1 to 25 of 60")).to_be_visible()
    user.click(page.get_by_role("link", name="Regressions 20"))
    expect(page.get_by_role("listitem").filter(has_text="sum_")).to_have_count(20)
    user.click(page.get_by_role("link", name="sum_004", exact=True))
    panel = page.get_by_role("complementary", name="Test")
    expect(panel.get_by_role("heading", name="sum_004")).to_be_in_viewport()
    expect(panel.get_by_text("1 different field, 0 equal fields")).to_be_visible()
    user.press("j")
    expect(panel.get_by_role("heading", name="sum_007")).to_be_visible()
    answer = panel.get_by_role("region", name=BAD)
    user.click(answer.get_by_role("link", name="Rate"))
    expect(panel.get_by_role("group", name="Rating")).to_be_in_viewport()
    user.click(answer.get_by_role("link", name=BAD))
    heading(page, "Model")
    result = page.get_by_role("complementary", name="Result")
    expect(result.get_by_role("heading", name="sum_007")).to_be_in_viewport()


def test_who_changes_a_prompt_learns_that_nothing_got_worse(
    workspace_files: WorkspaceFiles, serve: Serve, new_visitor: NewVisitor
) -> None:
    folder = to_run(workspace_files, n_tests=6)
    visitor = new_visitor(serve(folder))
    watching, page = visitor.new_page(), visitor.new_page()
    watching.goto("/")
    expect(watching.get_by_text("No results yet").first).to_be_visible()
    finished = page.get_by_role("heading", name="Finished", level=2)
    user = Journey(page)
    user.open("/run")
    user.click(
        page.get_by_role("region", name="Plan").get_by_role("button", name="Start", exact=True)
    )
    expect(finished).to_be_visible()
    expect(page.get_by_text("6 of 6 trials")).to_be_visible()
    expect(watching.get_by_text("6 trials · 1 model")).to_be_visible()
    classes = folder / "test_classes.yaml"
    classes.write_text(classes.read_text().replace("Solve:", "Solve this:"))
    user.open("/")
    expect(page.get_by_text("6 stale").first).to_be_visible()
    user.click(page.get_by_role("link", name="Re-run these").first)
    heading(page, "Run")
    user.click(
        page.get_by_role("region", name="Plan").get_by_role("button", name="Start", exact=True)
    )
    expect(finished).to_be_visible()
    user.click(page.get_by_role("link", name="Compare", exact=True))
    user.click(page.get_by_role("link", name="Last 2 runs"))
    compared = page.get_by_role("group", name="Overall").get_by_role("row")
    expect(compared).to_have_count(4)
    expect(page.get_by_role("link", name="Regressions")).to_have_count(0)


def test_who_builds_a_benchmark_mends_a_test_and_sees_its_results(
    workspace_files: WorkspaceFiles, serve: Serve, new_visitor: NewVisitor
) -> None:
    folder = with_results(workspace_files, n_tests=3)
    page = new_visitor(serve(folder)).new_page()
    user = Journey(page)
    user.open("/tests")
    user.click(page.get_by_role("link", name="sum_002").first)
    panel = page.get_by_role("complementary", name="Test")
    level = panel.get_by_label("Level")
    user.fill(level, "5000")
    user.click(panel.get_by_role("button", name="Save test"))
    expect(panel.get_by_text("Not saved")).to_be_visible()
    expect(level).to_have_attribute("aria-invalid", "true")
    user.fill(level, "3")
    user.fill(panel.get_by_label("Text"), "7 + 7")
    user.click(panel.get_by_role("button", name="Save test"))
    expect(panel.get_by_text("Saved in tests.json.")).to_be_visible()
    expect(page.get_by_role("region", name="Tests").get_by_text("7 + 7")).to_be_visible()
    expect(panel.get_by_text("Solve: 7 + 7")).to_be_visible()
    stored = json.loads((folder / "tests.json").read_text())["tests"]
    assert stored[1] == workspace_files.tests[1] | {"level": 3, "text": "7 + 7"}
    row = page.get_by_role("region", name="Tests").get_by_role("row").filter(has_text="sum_002")
    user.click(row.get_by_role("link", name="n=2"))
    heading(page, "Compare")
    expect(panel.get_by_role("heading", name="sum_002")).to_be_in_viewport()
