from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from poor_bench.labels.storage import read_labels
from tests.browser.workspaces import with_results
from tests.conftest import WorkspaceFiles
from tests.waiting import wait_for

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext


def test_answers_are_rated_by_keyboard(
    workspace_files: WorkspaceFiles,
    serve: Callable[[Path], str],
    new_visitor: Callable[[str], BrowserContext],
) -> None:
    folder = with_results(workspace_files, n_tests=3)

    def last() -> tuple[float | None, str, tuple[str, ...]] | None:
        labels = read_labels(folder)
        return (labels[-1].score, labels[-1].note, labels[-1].tags) if labels else None

    page = new_visitor(serve(folder)).new_page()
    page.goto("/model")
    page.get_by_role("gridcell", name="sum_001", exact=True).click()
    bar = page.get_by_role("group", name="Your rating")
    expect(bar).to_be_visible()
    page.keyboard.press("7")
    page.keyboard.press("c")  # before the server answers: the score goes along
    page.keyboard.type("+ 5 is missing")
    page.keyboard.press("Enter")
    page.keyboard.press("t")
    page.keyboard.type("key, tone")
    page.keyboard.press("Escape")
    wait_for(lambda: last() == (7.0, "+ 5 is missing", ("key", "tone")))
    page.reload()
    expect(bar.get_by_label("Your comment")).to_have_value("+ 5 is missing")
    assert last() == (7.0, "+ 5 is missing", ("key", "tone"))
    page.keyboard.press("Backspace")
    wait_for(lambda: last() == (None, "", ()))
