from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.watched import heading, holding
from tests.browser.workspaces import to_run_until_cancelled
from tests.conftest import WorkspaceFiles
from tests.forked import PROJECT
from tests.providers.servers.batch_format import BatchServer
from tests.providers.servers.fake_server import serving
from tests.tuning.prompt_searches import BETTER, write_workspace

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

_ANSWER_LATE = """
const ask = window.fetch, late = () => new Promise((go) => setTimeout(go, 800));
const bodyLate = (answer) => new ReadableStream({ start: async (body) => {
  await late();
  body.enqueue(new Uint8Array(await answer.arrayBuffer()));
  body.close();
} });
const delay = ([answer]) => answer.status === 200 ? new Response(bodyLate(answer), answer) : answer;
window.fetch = (...request) => Promise.all([ask(...request), late()]).then(delay);
"""
"""Answers take longer than the pages of these tests wait between two questions: 300 ms.

So do their bodies, after their heads.
"""
Serve = Callable[[Path], str]
NewVisitor = Callable[[str], "BrowserContext"]


def start(page: Page) -> None:
    page.goto("/run")
    page.get_by_role("region", name="Plan").get_by_role("button", name="Start", exact=True).click()


def start_with_consent(page: Page) -> None:
    start(page)
    page.get_by_role("button", name="Start run").click()


def phase(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", name=name, level=2)).to_be_visible()


def test_a_batch_is_submitted_and_collected_and_asked_about_by_its_name(
    workspace_files: WorkspaceFiles,
    serve: Serve,
    new_visitor: NewVisitor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workspace_files.add_tests(4)
    prices = {"input": 1000, "output": 1000}
    workspace_files.llms.append({"provider": "openai", "name": "m", "prices": prices})
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    batches = BatchServer()
    with serving(batches) as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        page = new_visitor(serve(workspace_files.write())).new_page()
        page.goto("/run")
        page.get_by_role("button", name="Submit batch").click()
        question = page.get_by_role("dialog", name="Submit batch?")
        question.get_by_role("button", name="Submit batch").click()
        plan = page.get_by_role("region", name="Plan")
        expect(plan.get_by_text("4 trials in a batch")).to_be_visible()
        assert [len(batch.requests) for batch in batches.batches] == [4]
        batches.finish()
        page.get_by_role("button", name="Collect answers").click()
        expect(page.get_by_text("4 of 4 trials")).to_be_visible()


def test_a_run_is_found_again_paused_and_cancelled_and_what_is_finished_is_kept(
    workspace_files: WorkspaceFiles, serve: Serve, new_visitor: NewVisitor
) -> None:
    folder = to_run_until_cancelled(workspace_files)
    page = new_visitor(serve(folder)).new_page()
    page.set_viewport_size({"width": 1440, "height": 320})  # as low as a long plan makes it
    start(page)
    expect(page.get_by_role("button", name="Start run")).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Start run").click()
    page.set_viewport_size({"width": 1440, "height": 900})
    phase(page, "Running")
    expect(page.get_by_text("3 of 400 trials")).to_be_visible()
    page.reload()
    phase(page, "Running")
    page.get_by_role("button", name="Pause").click()
    phase(page, "Paused")
    page.reload()
    page.get_by_role("button", name="Resume").click()
    phase(page, "Running")
    page.get_by_role("button", name="Cancel").click()
    phase(page, "Cancelled")
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("button", name="Start run").click()
    phase(page, "Running")
    expect(page.get_by_text("of 397 trials")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    phase(page, "Cancelled")
    page.get_by_role("link", name="Overview").click()
    heading(page, "Overview")
    expect(page.get_by_role("link", name="scripted:steady").first).to_be_visible()


def test_two_browsers_of_a_server_slower_than_their_clocks_share_one_run_and_nothing_else(
    workspace_files: WorkspaceFiles, serve: Serve, new_visitor: NewVisitor
) -> None:
    address = serve(to_run_until_cancelled(workspace_files))
    visitors = [new_visitor(address) for _ in range(2)]
    for visitor in visitors:
        visitor.add_init_script(_ANSWER_LATE)
    first, second = (visitor.new_page() for visitor in visitors)
    second.goto("/run?class=sums&level=2")
    start_with_consent(first)
    phase(first, "Running")
    phase(second, "Running")
    expect(
        second.get_by_role("region", name="Plan").get_by_role("button", name="Start")
    ).to_be_disabled()
    assert "level=2" in second.url
    assert "level" not in first.url
    second.get_by_role("button", name="Cancel").click()
    for page in (first, second):
        phase(page, "Cancelled")


def test_what_was_agreed_to_is_run_whatever_is_chosen_before_the_question_comes(
    workspace_files: WorkspaceFiles, serve: Serve, new_visitor: NewVisitor
) -> None:
    page = new_visitor(serve(to_run_until_cancelled(workspace_files))).new_page()
    page.goto("/run")
    start_button = page.get_by_role("region", name="Plan").get_by_role(
        "button", name="Start", exact=True
    )
    expect(start_button).to_be_enabled()
    is_click = '"changedPropIds":["run-start-button.n_clicks"]'
    with holding(page, is_click):
        with page.expect_request(lambda each: is_click in (each.post_data or "")):
            start_button.click()
        page.get_by_role("textbox", name="Tests").fill("sum_001")
        page.wait_for_url("**sum_001**")
    page.get_by_role("button", name="Start run").click()
    expect(page.get_by_text("of 400 trials")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    phase(page, "Cancelled")


@pytest.mark.embedded
def test_the_embedded_model_runs_from_the_browser(
    workspace_files: WorkspaceFiles, serve: Serve, new_visitor: NewVisitor
) -> None:
    from tests.providers.embedded_file import real_model

    real_model()
    workspace_files.add_tests(2)
    model = {"provider": "embedded", "name": "smollm2-135m", "parameters": {"max_tokens": 8}}
    workspace_files.llms.append(model)
    page = new_visitor(serve(workspace_files.write())).new_page()
    start(page)
    phase(page, "Finished")
    page.get_by_role("link", name="embedded:smollm2-135m").first.click()
    heading(page, "Model")
    page.get_by_role("gridcell", name="sum_001", exact=True).click()
    answer = page.get_by_role("complementary", name="Result").get_by_role("heading", name="Answer")
    expect(answer.first).to_be_visible()


def test_the_result_of_a_search_is_shown_and_asked_about_before_it_is_written(
    workspace_files: WorkspaceFiles, serve: Serve, new_visitor: NewVisitor
) -> None:
    folder = write_workspace(workspace_files)
    models = ["--llm", "scripted:small", "--reflection-llm", "scripted:writer"]
    command = [sys.executable, "main.py", "--data", str(folder), "tune", "prompt", "sums", *models]
    subprocess.run(command, cwd=PROJECT, check=True, capture_output=True)
    page = new_visitor(serve(folder)).new_page()
    page.goto("/run")
    card = page.get_by_role("region", name="Result", exact=True)
    card.get_by_role("textbox", name="Search").click()
    page.get_by_role("option", name="class sums").click()
    expect(card.get_by_text(f"+{BETTER}")).to_be_visible()
    card.get_by_role("button", name="Accept").click()
    assert BETTER not in (folder / "test_classes.yaml").read_text()
    page.get_by_role("dialog").get_by_role("button", name="Accept").click()
    expect(page.locator("#accept-frame")).to_be_hidden()
    assert BETTER in (folder / "test_classes.yaml").read_text()
