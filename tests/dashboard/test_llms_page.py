from __future__ import annotations

import pytest

from poor_bench.dashboard.pages.llms import callbacks
from poor_bench.dashboard.pages.llms.entry import form_to_entry
from poor_bench.dashboard.services.llm_service import LLMService
from poor_bench.errors import ConfigError
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import services_of
from tests.dashboard.seen_text import text_of


def test_llms_are_listed_at_once_and_whether_they_can_be_asked_follows(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_llm("a", ["4"])
    services = services_of(workspace_files.write())
    llms = LLMService(services)
    while not (shown := callbacks.show_listed(services, llms, 0))[2]:
        assert "scripted:a" in text_of(shown[1])
    assert shown[0] == "1 LLM, 1 switched on"
    assert "yes" in text_of(shown[1])


def test_a_prompt_is_tried_and_its_answer_shown(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_llm("a", ["<b>42</b>"])
    services = services_of(workspace_files.write())
    shown = callbacks.ask(LLMService(services), "scripted:a", "17 + 25?")
    assert "<b>42</b>" in text_of(shown)


def test_a_prompt_that_cannot_be_asked_says_why(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_llm("a", [{"failure": "auth", "message": "no key"}])
    services = services_of(workspace_files.write())
    assert "no key" in text_of(callbacks.ask(LLMService(services), "scripted:a", "Hi"))
    assert "gone" in text_of(callbacks.ask(LLMService(services), "gone", "Hi"))


def test_the_form_adds_an_llm(workspace_files: WorkspaceFiles) -> None:
    services = services_of(workspace_files.write())
    fields = ("ollama", " gemma3:1b ", "", "", 1, "temperature=0 think=false")
    _, is_added = callbacks.add(services, *fields)
    assert is_added
    [llm] = services.config().load_llms()
    assert (llm.name, llm.size, dict(llm.parameters)) == (
        "gemma3:1b",
        1,
        {"temperature": 0, "think": False},
    )


def test_a_form_that_makes_no_sense_writes_nothing(workspace_files: WorkspaceFiles) -> None:
    folder = workspace_files.write()
    services = services_of(folder)
    before = (folder / "llms.json").read_bytes()
    shown, is_added = callbacks.add(services, "no-such-provider", "x", "", "", None, "")
    assert not is_added
    assert "no-such-provider" in text_of(shown)
    assert (folder / "llms.json").read_bytes() == before


def test_a_parameter_needs_a_value() -> None:
    with pytest.raises(ConfigError, match="temperature"):
        form_to_entry("ollama", "x", "", "", None, "temperature")


def test_an_llm_is_switched_off_and_on(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_llm("a", ["4"])
    services = services_of(workspace_files.write())
    callbacks.switch(services, "scripted:a")
    assert not services.config().workspace.enabled_llms
    callbacks.switch(services, "scripted:a")
    assert services.config().workspace.enabled_llms
