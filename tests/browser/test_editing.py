from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.watched import heading, holding, until_answered, until_held
from tests.browser.workspaces import GOOD, with_results
from tests.conftest import WorkspaceFiles
from tests.providers.servers import ollama_format
from tests.providers.servers.fake_server import serving

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Dialog, Page

Serve = Callable[[Path], str]
NewVisitor = Callable[[str], "BrowserContext"]


def entries(folder: Path, name: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads((folder / f"{name}.json").read_text())[name]
    return found


def test_unsaved_edits_ask_before_they_vanish(
    workspace_files: WorkspaceFiles, serve: Serve, new_visitor: NewVisitor
) -> None:
    page = new_visitor(serve(with_results(workspace_files, n_tests=3))).new_page()
    asked: list[str] = []
    is_sure = False

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.message)
        (dialog.accept if is_sure else dialog.dismiss)()

    page.on("dialog", answer)
    page.goto("/tests?test=sum_001")
    text = page.get_by_role("complementary", name="Test").get_by_label("Text")
    expect(text).to_have_value("1 + 1")
    other, overview = (
        page.get_by_role("link", name=name).first for name in ("sum_002", "Overview")
    )
    other.click()
    expect(text).to_have_value("2 + 2")
    assert asked == []  # nothing was edited
    text.fill("8 + 8")
    for leave in (overview, page.get_by_role("link", name="sum_001").first):
        leave.click()
        expect(text).to_have_value("8 + 8")
    page.keyboard.press("Escape")
    page.go_back()
    expect(text).to_have_value("8 + 8")
    assert asked == ["Discard unsaved changes to sum_002?"] * 4
    is_sure = True
    overview.click()
    heading(page, "Overview")
    page.goto(f"/model?llm={GOOD}&test=sum_002")
    panel = page.get_by_role("complementary", name="Result")
    expect(panel.get_by_role("heading", name="sum_002")).to_be_visible()
    # Its box is filled with what was reported before.
    expect(panel.locator("[data-form='report of sum_002']")).to_be_attached()
    panel.get_by_text("Wrong score?").click()
    panel.get_by_label("Reason").fill("the key is wrong")
    asked.clear()
    is_sure = False
    page.get_by_role("gridcell", name="sum_001").click()
    panel.get_by_role("button", name="Next (J)").click()
    assert asked == ["Discard unsaved changes to report of sum_002?"] * 2
    panel.get_by_role("button", name="Report test").click()
    until_answered(page)
    assert entries(workspace_files.folder, "tests")[1]["reported"] == "the key is wrong"
    panel.get_by_role("button", name="Next (J)").click()
    expect(panel.get_by_role("heading", name="sum_003")).to_be_visible()
    expect(panel.get_by_label("Reason")).to_have_value("")
    assert len(asked) == 2


def test_a_saved_edit_shows_in_other_tabs_without_their_clocks(
    workspace_files: WorkspaceFiles, serve: Serve, new_visitor: NewVisitor
) -> None:
    visitor = new_visitor(serve(with_results(workspace_files, n_tests=3)))
    visitor.add_init_script("window.setInterval = () => 0;")
    page, other = visitor.new_page(), visitor.new_page()
    for each in (page, other):
        each.goto("/tests?test=sum_001")
        expect(each.get_by_text("Solve: 1 + 1")).to_be_visible()
        until_answered(each)
    panel = page.get_by_role("complementary", name="Test")
    panel.get_by_label("Text").fill("7 + 7")
    panel.get_by_role("button", name="Save test").click()
    expect(other.get_by_text("Solve: 7 + 7")).to_be_visible()


def test_what_is_edited_while_an_earlier_edit_is_saved_is_asked_about(
    workspace_files: WorkspaceFiles, serve: Serve, new_visitor: NewVisitor
) -> None:
    page = new_visitor(serve(with_results(workspace_files, n_tests=3))).new_page()
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", stay)
    page.goto("/tests?test=sum_001")
    panel = page.get_by_role("complementary", name="Test")
    text, save = panel.get_by_label("Text"), panel.get_by_role("button", name="Save test")
    text.fill("7 + 7")
    with holding(page, "tests-form-save-button"):
        with page.expect_request(lambda each: "tests-form-save-button" in (each.post_data or "")):
            save.click()
        text.fill("8 + 8")
    expect(panel.get_by_text("Saved in tests.json.")).to_be_visible()
    overview = page.get_by_role("link", name="Overview", exact=True)
    overview.click()
    expect(text).to_have_value("8 + 8")
    assert asked == ["Discard unsaved changes to sum_001?"]
    save.click()
    expect(panel.get_by_text("Solve: 8 + 8")).to_be_visible()
    overview.click()
    heading(page, "Overview")
    assert len(asked) == 1


def test_a_button_that_moves_away_while_it_is_pressed_is_pressed_unless_the_pointer_moves(
    workspace_files: WorkspaceFiles, serve: Serve, new_visitor: NewVisitor
) -> None:
    workspace_files.add_llm("first", ["4"])
    page = new_visitor(serve(workspace_files.write())).new_page()
    page.goto("/llms")
    dialog = page.get_by_role("dialog")
    edit = page.get_by_role("button", name="Edit scripted:first")
    edit.hover()
    until_answered(page)
    page.mouse.down()
    page.mouse.move(5, 5)
    page.mouse.up()
    page.get_by_role("button", name="Duplicate scripted:first").hover()
    page.mouse.down()
    page.evaluate("document.querySelector('[data-page]').style.marginTop = '200px'")
    page.mouse.up()
    expect(page.get_by_role("button", name="Edit scripted:first:copy1")).to_be_visible()
    expect(dialog).to_have_count(0)


def test_a_model_is_added_changed_and_switched_off_and_one_of_ollama_found(
    workspace_files: WorkspaceFiles, serve: Serve, new_visitor: NewVisitor
) -> None:
    workspace_files.add_llm("first", ["4"])
    folder = workspace_files.write()
    page = new_visitor(serve(folder)).new_page()
    page.goto("/llms")
    adding = page.get_by_role("region", name="Add model")
    adding.get_by_label("Model").fill("x")
    adding.get_by_label("Parameters").fill("temperature")
    adding.get_by_role("button", name="Add").click()
    expect(adding.get_by_text("write temperature=0")).to_be_visible()
    adding.get_by_label("Parameters").fill("temperature=0")
    adding.get_by_role("button", name="Add").click()
    expect(adding.get_by_text("Added: ollama:x.")).to_be_visible()
    page.get_by_role("button", name="Edit scripted:first").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Display name").fill("The first")
    page.mouse.click(5, 5)  # beside the dialog: nothing is lost
    form.get_by_label("Concurrent requests").fill("5000")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_text("Not saved")).to_be_visible()
    form.get_by_label("Concurrent requests").fill("2")
    form.get_by_role("button", name="Save").click()
    expect(form).to_have_count(0)
    page.get_by_role("button", name="Disable scripted:first").click()
    listed = page.get_by_role("group", name="Configured")
    expect(listed.get_by_role("button", name="Enable scripted:first")).to_be_visible()
    first, added = entries(folder, "llms")
    changed = {"label": "The first", "concurrency": 2, "enabled": False}
    assert first == workspace_files.llms[0] | changed
    assert added == {"provider": "ollama", "name": "x", "parameters": {"temperature": 0}}
    _a_model_of_a_local_ollama_is_found_and_added_by_one_click(page, folder)


def test_the_late_answer_of_a_save_leaves_the_form_that_was_opened_since(
    workspace_files: WorkspaceFiles, serve: Serve, new_visitor: NewVisitor
) -> None:
    workspace_files.add_llm("first", ["4"])
    workspace_files.add_llm("second", ["4"])
    folder = workspace_files.write()
    page = new_visitor(serve(folder)).new_page()
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto("/llms")
    form = page.get_by_role("dialog")
    name, save = form.get_by_label("Display name"), form.get_by_role("button", name="Save")
    with holding(page, "llms-edit-save-button") as held:
        page.get_by_role("button", name="Edit scripted:first").click()
        name.fill("The first")
        save.click()
        until_held(page, held)
        page.keyboard.press("Escape")
        expect(form).to_have_count(0)
        page.get_by_role("button", name="Edit scripted:second").click()
        name.fill("The second")
    until_answered(page)
    expect(page.get_by_text("The first").first).to_be_visible()
    expect(name).to_have_value("The second")
    save.click()
    expect(form).to_have_count(0)
    assert [each.get("label") for each in entries(folder, "llms")] == ["The first", "The second"]


def _a_model_of_a_local_ollama_is_found_and_added_by_one_click(page: Page, folder: Path) -> None:
    with serving(ollama_format.ollama(ollama_format.reply())) as ollama:
        page.get_by_role("region", name="Ollama models").get_by_label("Server").fill(ollama.url)
        page.get_by_role("button", name="List models").click()
        page.get_by_role("button", name="Add qwen3:1.7b").click()
        row = page.get_by_role("group", name="Configured").get_by_role("row")
        expect(row.filter(has_text="ollama:qwen3:1.7b").get_by_text("yes")).to_be_visible()
    added = entries(folder, "llms")[-1]
    assert (added["name"], added["endpoint"], added["size"]) == ("qwen3:1.7b", ollama.url, 2.0)


def test_ticks_that_follow_each_other_faster_than_the_server_answers_all_count(
    results_shown: str, new_visitor: NewVisitor
) -> None:
    page = new_visitor(results_shown).new_page()
    page.goto("/tests")
    expect(page.get_by_text("All 60 shown tests:")).to_be_visible()
    with holding(page, "") as held:
        for number, address in ((1, "sum_001"), (2, "sum_001&tick=sum_002")):
            page.get_by_role("checkbox", name=f"Select sum_00{number}").click()
            page.wait_for_url(f"**?tick={address}")
        until_held(page, held)
    expect(page.get_by_text("2 ticked tests:")).to_be_visible()
    _a_page_may_be_left_before_its_button_is_answered(page)


def _a_page_may_be_left_before_its_button_is_answered(page: Page) -> None:
    save = page.get_by_role("button", name="Download tests as CSV")
    with holding(page, f'"id":"{save.get_attribute("id")}"') as held:
        save.click()
        expect(save).to_have_text("computing ...")
        page.get_by_role("link", name="Models", exact=True).click()
        expect(page.get_by_role("group", name="Configured").get_by_text(GOOD).first).to_be_visible()
    for route in held:
        answer = route.request.response()
        assert answer is not None
        answer.finished()
    page.evaluate("new Promise(window.requestAnimationFrame)")  # Dash has read the answer


def test_a_refused_move_leads_to_its_tests_and_one_that_works_is_undone_in_another_window(
    workspace_files: WorkspaceFiles, serve: Serve, new_visitor: NewVisitor
) -> None:
    base = workspace_files.classes[0]
    strict = {"evaluation_module": {"name": "number_match", "parameters": {}}}
    workspace_files.classes += [base | {"id": "strict"} | strict, base | {"id": "twins"}]
    visitor = new_visitor(serve(with_results(workspace_files, n_tests=3)))
    page, other = visitor.new_page(), visitor.new_page()
    page.goto("/tests")
    other.goto("/tests")
    _change(page, "strict")
    told = page.get_by_role("status").filter(has_text="Not changed")
    expect(told.get_by_role("listitem")).to_contain_text("expected: field required")
    told.get_by_role("link", name="sum_002").click()
    panel = page.get_by_role("complementary", name="Test")
    expect(panel.get_by_label("Text")).to_have_value("2 + 2")
    expect(told).to_be_visible()
    _change(page, "twins")
    for window in (page, other):
        expect(window.get_by_text("Moved 3 tests to class `twins`.", exact=True)).to_be_visible()
    other.get_by_role("button", name="Undo").click()
    for window in (page, other):
        expect(window.get_by_text("Undone: Moved 3 tests")).to_be_visible()
        expect(window.get_by_role("button", name="Undo")).to_be_disabled()
    assert {test["class_id"] for test in entries(workspace_files.folder, "tests")} == {"sums"}
    _ticks_stay_for_the_next_edit(page)


def _ticks_stay_for_the_next_edit(page: Page) -> None:
    page.get_by_role("checkbox", name="Select sum_001").click()
    scope = page.get_by_text("1 ticked test:")
    expect(scope).to_be_visible()
    _change(page, "Disable")
    expect(page.get_by_text("Disabled 1 test.", exact=True)).to_be_visible()
    expect(page.locator(".tests-sheet .is-off")).to_have_count(1)  # it is drawn anew
    until_answered(page)
    expect(scope).to_be_visible()


def _change(page: Page, name: str) -> None:
    bar = page.get_by_role("group", name="Change tests")
    bar.get_by_role("textbox", name="Change tests").click()
    page.get_by_role("option", name=name, exact=True).click()
    bar.get_by_role("button", name="Apply").click()
