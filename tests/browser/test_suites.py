from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.watched import heading, holding, until_held
from tests.browser.workspaces import suite_run
from tests.conftest import WorkspaceFiles

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page


def _open_suites(
    workspace_files: WorkspaceFiles,
    serve: Callable[[Path], str],
    new_visitor: Callable[[str], BrowserContext],
) -> tuple[Path, Page]:
    """Open the page over a run with a case that passed and one that failed."""
    folder = workspace_files.write()
    suite_run(folder, "echo", "every_other")
    page = new_visitor(serve(folder)).new_page()
    page.goto("/suites")
    heading(page, "Suites")
    return folder, page


def test_a_failed_case_is_replayed_and_a_new_run_appears_by_itself(
    workspace_files: WorkspaceFiles,
    serve: Callable[[Path], str],
    new_visitor: Callable[[str], BrowserContext],
) -> None:
    folder, page = _open_suites(workspace_files, serve, new_visitor)
    replay = page.get_by_role("region", name="by-every_other")
    expect(replay.get_by_text("trial 2: must_succeed")).to_be_visible()
    replay.get_by_role("link", name="1 passed").click()
    page.wait_for_url("**trial=1**")
    page.get_by_role("link", name="by-echo").click()
    picture = page.get_by_role("img", name="Page, step 1")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1
    chosen = page.get_by_role("region", name="by-echo")
    expect(chosen).to_be_focused()
    expect(chosen).to_be_in_viewport()
    page.keyboard.press("End")
    expect(chosen.locator(".suite-step").last).to_have_attribute("aria-current", "step")
    page.keyboard.press("Home")
    expect(chosen.locator(".suite-step").first).to_have_attribute("aria-current", "step")
    expect(page.get_by_role("region", name="Runs").get_by_role("row")).to_have_count(2)
    suite_run(folder, "echo")
    expect(page.get_by_role("region", name="Runs").get_by_role("row")).to_have_count(3)


_ANSWER_ABOUT = """name => window.dash_clientside.set_props("suites-replay-body", {
  children: {
    namespace: "poor_bench",
    type: "Still",
    props: {
      trees: [["section", { className: "suite-replay", "aria-label": name, tabIndex: -1 }, "old"]],
      search: "",
    },
  },
})"""


def test_a_chosen_case_takes_the_focus_though_an_answer_about_another_one_comes_first(
    workspace_files: WorkspaceFiles,
    serve: Callable[[Path], str],
    new_visitor: Callable[[str], BrowserContext],
) -> None:
    _, page = _open_suites(workspace_files, serve, new_visitor)
    expect(page.get_by_role("region", name="by-every_other")).to_be_visible()
    with holding(page, "suites-replay-body") as held:
        page.get_by_role("link", name="by-echo").click()
        page.wait_for_url("**case=by-echo**")
        page.evaluate(_ANSWER_ABOUT, "by-every_other")
        expect(page.get_by_role("region", name="by-every_other")).to_have_text("old")
        expect(page.get_by_role("region", name="by-every_other")).not_to_be_focused()
        until_held(page, held)
    expect(page.get_by_role("region", name="by-echo")).to_be_focused()
    page.get_by_role("link", name="by-every_other").focus()
    page.get_by_role("link", name="by-echo").click()  # shown already, its second trial is not
    expect(page.get_by_role("region", name="by-echo")).to_be_focused()
