from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from poor_bench.judge.storage import JudgementStore, PairwiseStore
from poor_bench.labels.storage import read_labels
from tests.browser.watched import holding
from tests.browser.workspaces import HOSTILE, judge_run, with_results
from tests.conftest import WorkspaceFiles
from tests.judge.agent_workspace import VERDICT, write_workspace
from tests.judge.run_builders import conversation_of, header_of

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext


def test_runs_are_read_compared_and_scored_by_a_person(
    workspace_files: WorkspaceFiles,
    serve: Callable[[Path], str],
    new_visitor: Callable[[str], BrowserContext],
) -> None:
    folder = with_results(workspace_files, n_tests=3)
    judge_run(folder, 20, 4.0, 4.2)
    judge_run(folder, 21, 4.1, 4.3)
    page = new_visitor(serve(folder)).new_page()
    page.goto("/judge")
    expect(page.get_by_text(HOSTILE)).to_be_visible()
    page.get_by_role("region", name="Cases").get_by_role("link", name="bye").click()
    expect(page.get_by_text("So long")).to_be_visible()
    page.get_by_role("region", name="History").get_by_role("link", name="set as baseline").click()
    page.wait_for_url("**base=*")
    expect(page.get_by_text("within noise").first).to_be_visible()
    form = page.get_by_role("region", name="Your score")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_text("score must be 0 to 10")).to_be_visible()
    form.get_by_label("Score (0 to 10)").fill("6.5")
    form.get_by_label("Your name").fill("Ann")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_text("Saved: bye.")).to_be_visible()
    expect(
        page.get_by_role("region", name="Agreement with people").get_by_text("only 1 labelled")
    ).to_be_visible()
    assert [(label.case_id, label.score) for label in read_labels(folder)] == [("bye", 6.5)]


def test_an_agent_is_judged_from_the_page(
    workspace_files: WorkspaceFiles,
    serve: Callable[[Path], str],
    new_visitor: Callable[[str], BrowserContext],
) -> None:
    folder = with_results(workspace_files, n_tests=3)
    write_workspace(folder, judge=json.dumps(VERDICT), seller=f"10 euros {HOSTILE}")
    page = new_visitor(serve(folder)).new_page()
    page.goto("/judge")
    form = page.get_by_role("region", name="Judge agent", exact=True)
    start = form.get_by_role("button", name="Start")
    expect(start).to_be_disabled()
    form.get_by_label("Agent", exact=True).click()
    page.get_by_role("option", name="bikes").click()
    form.get_by_label("Judges").click()
    page.get_by_role("option", name="scripted:judge").click()
    page.keyboard.press("Escape")
    expect(form.get_by_text("by scripted:judge")).to_be_visible()
    start.click()
    run = page.get_by_role("region", name="Progress: Judge agent")
    expect(run.get_by_text("Finished")).to_be_visible()
    expect(run.get_by_text("of 10")).to_be_visible()
    expect(
        page.get_by_role("region", name="Cases").get_by_role("link", name="price")
    ).to_be_visible()
    [kept] = JudgementStore(folder).runs()
    assert kept.is_complete


def test_what_was_agreed_to_is_judged_whatever_is_chosen_before_the_question_comes(
    workspace_files: WorkspaceFiles,
    serve: Callable[[Path], str],
    new_visitor: Callable[[str], BrowserContext],
) -> None:
    folder = write_workspace(workspace_files.write())
    llms = json.loads((folder / "llms.json").read_text())["llms"]
    priced = [each | {"prices": {"input": 1, "output": 1}} for each in llms]
    (folder / "llms.json").write_text(json.dumps({"llms": priced}))
    page = new_visitor(serve(folder)).new_page()
    page.goto("/judge")
    form = page.get_by_role("region", name="Judge agent", exact=True)
    for label, option in (("Agent", "bikes"), ("Judges", "scripted:judge")):
        form.get_by_label(label, exact=True).click()
        page.get_by_role("option", name=option).click()
    page.keyboard.press("Escape")
    expect(form.get_by_text("by scripted:judge")).to_be_visible()
    is_click = '"changedPropIds":["judge-start-button.n_clicks"]'
    with holding(page, is_click):
        with page.expect_request(lambda each: is_click in (each.post_data or "")):
            form.get_by_role("button", name="Start").click()
        form.get_by_label("Combine by").click()
        page.get_by_role("option", name="median").click()
    page.get_by_role("dialog").get_by_role("button", name="Start run").click()
    run = page.get_by_role("region", name="Progress: Judge agent")
    expect(run.get_by_text("Finished")).to_be_visible()
    [kept] = JudgementStore(folder).runs()
    assert kept.header.decision == "mean"


def test_two_runs_are_compared_from_the_page_and_a_comparison_is_cancelled(
    workspace_files: WorkspaceFiles,
    serve: Callable[[Path], str],
    new_visitor: Callable[[str], BrowserContext],
) -> None:
    folder = with_results(workspace_files, n_tests=3)
    prefers_polite = {f"/Agent {place}[^#]*polite/": f'{{"winner": "{place}"}}' for place in (1, 2)}
    waits = {"price?": {"text": "", "latency_ms": 600_000}}
    write_workspace(folder, judge=prefers_polite, slow=waits | prefers_polite)
    judged_conversations(folder, 20, "a rude reply")
    judged_conversations(folder, 21, "a polite reply")
    page = new_visitor(serve(folder)).new_page()
    page.goto("/judge")
    form = page.get_by_role("region", name="Compare runs", exact=True)
    run = page.get_by_role("region", name="Progress: Compare runs")

    def choose(label: str, option: str) -> None:
        form.get_by_label(label, exact=True).click()
        page.get_by_role("option", name=option).click()

    choose("Run A", "2026-11-20 01:00")
    choose("Run B", "2026-11-21 01:00")
    choose("Judges", "scripted:judge")
    page.keyboard.press("Escape")
    expect(form.get_by_text("2 pairs, in both orders")).to_be_visible()
    form.get_by_role("button", name="Start").click()
    expect(run.get_by_role("heading", name="Finished")).to_be_visible()
    stored = page.get_by_role("region", name="Pairwise comparisons").get_by_role("row")
    expect(stored.filter(has_text="scripted:judge")).to_contain_text("2 of 2")
    form.get_by_label("Judges", exact=True).press("Backspace")
    choose("Judges", "scripted:slow")
    page.keyboard.press("Escape")
    form.get_by_role("button", name="Start").click()
    expect(run.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "50")
    expect(run.get_by_text("1 of 2")).to_be_visible()
    run.get_by_role("button", name="Cancel").click()
    expect(run.get_by_role("heading", name="Cancelled")).to_be_visible()
    kept = PairwiseStore(folder).runs()
    assert sorted(len(each.comparisons) for each in kept) == [1, 2]


def judged_conversations(folder: Path, day: int, reply: str) -> None:
    """Store a run of two conversations, without judgements."""
    header = header_of(
        f"202611{day}T010000-aa", agent_id="bikes", started=f"2026-11-{day}T01:00:00Z"
    )
    with JudgementStore(folder).writing(header) as writer:
        for case_id in ("hello", "price"):
            writer.add_conversation(conversation_of(case_id, f"{case_id}?", reply))
