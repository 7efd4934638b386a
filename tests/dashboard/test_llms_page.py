from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from poor_bench.config.edit_entries import LLMAction
from poor_bench.config.entries import describe_unknown_parameter
from poor_bench.dashboard.components.tables import still
from poor_bench.dashboard.pages.llms import callbacks
from poor_bench.dashboard.pages.llms.entry import (
    LLMField,
    fill_form,
    form_to_changes,
    form_to_entry,
)
from poor_bench.dashboard.pages.llms.layout import LLMsUrl
from poor_bench.dashboard.pages.llms.tables import PAGE_SIZE, build_found_models, build_llm_table
from poor_bench.errors import ConfigError
from poor_bench.models.llm import LLM, Prices
from poor_bench.ports import Reachability
from poor_bench.probe.finding import Setting, say_ignored
from poor_bench.probe.load_curve import LoadCurve, LoadLevel
from poor_bench.probe.report import ProbeReport, hash_settings
from poor_bench.probe.storage import save_probe
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import scored, services_of, write_results
from tests.dashboard.seen_text import text_of
from tests.waiting import wait_for


def test_llms_are_listed_at_once_and_whether_they_can_be_asked_follows(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_llm("a", ["4"])
    services = services_of(workspace_files.write())
    assert "scripted:a" in text_of(callbacks.show_listed(services, 0)[1])
    wait_for(lambda: callbacks.show_listed(services, 0)[2])
    shown = callbacks.show_listed(services, 0)
    assert shown[0] == "1 model, 1 enabled"
    assert "yes" in text_of(shown[1])


def test_hundreds_of_models_are_listed_page_by_page_in_the_chosen_order(
    workspace_files: WorkspaceFiles,
) -> None:
    for number in range(PAGE_SIZE + 2):
        workspace_files.add_llm(f"m{number:03}", ["4"])
    services = services_of(workspace_files.write())

    def list_shown(**state: Any) -> list[str]:
        shown = callbacks.show_listed(services, 0, LLMsUrl(**state).search)[1]
        return re.findall(r"scripted:(m\d+)", text_of(shown))

    names = [f"m{number:03}" for number in range(PAGE_SIZE + 2)]
    assert list_shown() == names[:PAGE_SIZE]
    assert list_shown(page=2) == list_shown(page=9) == names[PAGE_SIZE:]
    assert list_shown(page=2, tables=("models~-model",)) == names[1::-1]
    assert "51 to 52 of 52" in text_of(callbacks.show_listed(services, 0, "?page=2")[1])


def test_a_prompt_is_tried_and_its_answer_shown(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_llm("a", ["<b>42</b>"])
    services = services_of(workspace_files.write())
    shown = callbacks.ask(services, "scripted:a", "17 + 25?")
    assert "<b>42</b>" in text_of(shown)


def test_a_prompt_that_cannot_be_asked_says_why(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_llm("a", [{"failure": "auth", "message": "no key"}])
    services = services_of(workspace_files.write())
    assert "no key" in text_of(callbacks.ask(services, "scripted:a", "Hi"))
    assert "gone" in text_of(callbacks.ask(services, "gone", "Hi"))


def test_the_form_adds_an_llm(workspace_files: WorkspaceFiles) -> None:
    services = services_of(workspace_files.write())
    fields = ("ollama", " gemma3:1b ", "", "", 1, "temperature=0 think=false")
    assert callbacks.add(services, *fields).is_saved
    [llm] = services.files.config().load_llms()
    assert (llm.name, llm.size, dict(llm.parameters)) == (
        "gemma3:1b",
        1,
        {"temperature": 0, "think": False},
    )


def test_a_form_that_makes_no_sense_writes_nothing(workspace_files: WorkspaceFiles) -> None:
    folder = workspace_files.write()
    services = services_of(folder)
    before = (folder / "llms.json").read_bytes()
    answer = callbacks.add(services, "no-such-provider", "x", "", "", None, "")
    assert not answer.is_saved
    assert "no-such-provider" in answer.errors["provider"]
    assert list(callbacks.add(services, "ollama", " ", "", "", None, "").errors) == ["name"]
    assert (folder / "llms.json").read_bytes() == before


def test_a_parameter_needs_a_value() -> None:
    with pytest.raises(ConfigError, match="temperature"):
        form_to_entry("ollama", "x", "", "", None, "temperature")


def test_an_llm_is_switched_off_and_on(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_llm("a", ["4"])
    services = services_of(workspace_files.write())
    callbacks.switch(services, "scripted:a")
    assert not services.files.config().workspace.enabled_llms
    callbacks.switch(services, "scripted:a")
    assert services.files.config().workspace.enabled_llms


def test_a_form_that_nobody_touched_changes_nothing() -> None:
    llm = LLM(
        id="ollama:m",
        provider="ollama",
        name="m",
        label="M",
        size=0.5,
        prices=Prices(input=0.0),
        base_system_prompt="Be brief.\n",
        parameters={"temperature": 0, "stop": ["a", "b"]},
    )
    assert form_to_changes(llm, fill_form(llm)) == {}


def test_the_form_changes_what_was_written_in_it() -> None:
    llm = LLM(
        id="ollama:m", provider="ollama", name="m", label="M", prices=Prices(input=1.0, output=2.0)
    )
    values = {
        LLMField.LABEL: " ",
        LLMField.PRICE_OUTPUT: 0,
        LLMField.ENABLED: "no",
        LLMField.PARAMETERS: "temperature: 0.5\nthink: low",
    }
    assert form_to_changes(llm, values) == {
        "label": None,
        "prices": {"input": 1.0, "output": 0},
        "enabled": False,
        "parameters": {"temperature": 0.5, "think": "low"},
    }


def test_an_llm_is_changed_and_comments_stay(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_llm("a", ["4"], parameters={"_note": "keep me"})
    workspace_files.add_llm("b", ["4"])
    folder = workspace_files.write()
    services = services_of(folder)
    parameters = '{"responses": ["5"], "temperature": 1}'
    values = {LLMField.LABEL: "The first", LLMField.SIZE: 3, LLMField.PARAMETERS: parameters}
    assert callbacks.save(services, "scripted:a", values).is_saved
    first, second = json.loads((folder / "llms.json").read_text())["llms"]
    assert first["parameters"] == {"_note": "keep me", "responses": ["5"], "temperature": 1}
    assert (first["label"], first["size"]) == ("The first", 3)
    assert second == workspace_files.llms[1]
    assert callbacks.open_edit_form(services, "scripted:a")[0] == "The first"


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        (LLMField.CONCURRENCY, 0, "at least 1"),
        (LLMField.PRICE_INPUT, -1, "at least 0"),
        (LLMField.PARAMETERS, "{", "write"),
        (LLMField.PARAMETERS, "- a", "write"),
        (LLMField.PARAMETERS, '{"temperature": "hot"}', "temperature"),
        (LLMField.KEY, "not a name", ""),
    ],
)
def test_what_is_wrong_stands_beside_its_field(
    workspace_files: WorkspaceFiles, field: LLMField, value: object, told: str
) -> None:
    workspace_files.add_llm("a", ["4"])
    workspace_files.add_llm("b", ["4"])
    folder = workspace_files.write()
    before = (folder / "llms.json").read_bytes()
    answer = callbacks.save(services_of(folder), "scripted:b", {field: value})
    assert list(answer.errors) == [field]
    assert told in answer.errors[field]
    assert (folder / "llms.json").read_bytes() == before


def test_an_llm_that_is_gone_is_told(workspace_files: WorkspaceFiles) -> None:
    services = services_of(workspace_files.write())
    answer = callbacks.save(services, "scripted:gone", {LLMField.LABEL: "x"})
    assert not answer.errors
    assert "gone" in text_of(answer.shown)
    with pytest.raises(ConfigError, match="gone"):
        callbacks.open_edit_form(services, "scripted:gone")


def test_llms_become_a_file_that_carries_no_key(
    workspace_files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", "hidden")
    workspace_files.add_llm("a", ["4"], api_key_env="SOME_KEY")
    services = services_of(workspace_files.write())
    content = callbacks.llms_csv(services, 0).csv
    assert "scripted:a" in content
    assert "SOME_KEY" in content
    assert "hidden" not in content


def test_an_llm_without_its_key_is_not_ready(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_llm("a", ["4"])
    [llm] = services_of(workspace_files.write()).files.config().load_llms()
    check = Reachability(reachable=True, refused=True, message="there is no key")
    shown = build_llm_table([llm], {llm.id: check})
    assert "refused" in text_of(shown)
    assert "there is no key" in text_of(shown)


def test_a_found_model_tells_its_size_and_whether_it_is_local() -> None:
    entry = {"name": "a:1b", "size": 0.75163, "_quantization": "F16"}
    assert "0.752 B · F16" in text_of(build_found_models([entry]))
    assert "not local" not in text_of(build_found_models([entry]))
    far = text_of(build_found_models([entry | {"_remote": "https://ollama.com:443"}]))
    assert "runs at https://ollama.com:443" in far


KEYED = ("openai", "m", "http://127.0.0.1:9/v1", "OPENAI_API_KEY", None, "")


def entries(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "llms.json").read_text())["llms"]
    return found


def test_a_key_goes_to_no_server_that_nobody_agreed_to(workspace_files: WorkspaceFiles) -> None:
    folder = workspace_files.write()
    services = services_of(folder)
    answer = callbacks.add(services, *KEYED)
    assert not answer.is_saved
    consent = "Send the value of OPENAI_API_KEY to http://127.0.0.1:9/v1"
    assert consent in str(answer.shown)
    assert entries(folder) == []
    elsewhere = [["Send the value of OPENAI_API_KEY to http://127.0.0.1:8/v1"], None]
    assert not callbacks.add(services, *KEYED, ticked=elsewhere).is_saved
    assert callbacks.add(services, *KEYED, ticked=[[consent]]).is_saved
    assert callbacks.add(services, "openai", "other", *KEYED[2:]).is_saved


def test_a_variable_that_is_no_key_is_refused(workspace_files: WorkspaceFiles) -> None:
    folder = workspace_files.write()
    fields = ("openai", "m", "http://127.0.0.1:9/v1", "MY_OTHER_SECRET", None, "")
    ticked = [["Send the value of MY_OTHER_SECRET to http://127.0.0.1:9/v1"]]
    answer = callbacks.add(services_of(folder), *fields, ticked=ticked)
    assert "MY_OTHER_SECRET" in answer.errors["api_key_env"]
    assert entries(folder) == []


def test_a_variable_that_stands_in_the_file_may_be_used_again_after_asking(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_llm("a", ["4"], api_key_env="MY_OWN", endpoint="http://127.0.0.1:9/v1")
    services = services_of(workspace_files.write())
    answer = callbacks.add(services, "vllm", "m", "http://127.0.0.1:8/v1", "MY_OWN", None, "")
    assert "MY_OWN to http://127.0.0.1:8/v1" in str(answer.shown)
    same = callbacks.add(services, "vllm", "m", "http://127.0.0.1:9/v1/", "MY_OWN", None, "")
    assert same.is_saved


def test_another_server_of_an_entry_with_a_key_is_asked_about(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_llm("a", ["4"], api_key_env="MY_OWN", endpoint="http://127.0.0.1:9/v1")
    folder = workspace_files.write()
    services = services_of(folder)
    values = {LLMField.ENDPOINT: "http://127.0.0.1:8/v1"}
    assert not callbacks.save(services, "scripted:a", values).is_saved
    assert entries(folder)[0]["endpoint"] == "http://127.0.0.1:9/v1"
    assert callbacks.save(services, "scripted:a", {LLMField.LABEL: "A"}).is_saved
    consent = "Send the value of MY_OWN to http://127.0.0.1:8/v1"
    assert callbacks.save(services, "scripted:a", values, [[consent]]).is_saved
    assert entries(folder)[0]["endpoint"] == "http://127.0.0.1:8/v1"


def test_what_a_probe_found_stands_beside_the_model(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_llm("a", ["4"])
    folder = workspace_files.write()
    [llm] = services_of(folder).files.config().load_llms()
    report = ProbeReport(
        created="2026-01-02T00:00:00+00:00",
        settings=hash_settings(llm),
        findings=(say_ignored(Setting.SEED, "It is dropped."),),
    )
    save_probe(folder, llm.id, report)
    services = services_of(folder)
    assert services.llms.settings_notes() == {"scripted:a": ("seed ignored",)}
    shown = callbacks.show_listed(services, 0)[1]
    assert "seed ignored" in text_of(shown)
    assert "probed 2026-01-02" in text_of(shown)
    still(shown)  # raises for what the page cannot show without React


def test_the_load_curve_of_a_model_is_drawn_with_its_knee(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_llm("a", ["4"])
    folder = workspace_files.write()
    [llm] = services_of(folder).files.config().load_llms()
    levels = tuple(
        LoadLevel(concurrency=n, n_requests=8, n_failed=0, p95_ms=500.0, tokens_per_s=speed)
        for n, speed in ((1, 50.0), (2, 95.0), (4, 100.0))
    )
    report = ProbeReport(
        created="2026-01-02T00:00:00+00:00",
        settings=hash_settings(llm),
        load=LoadCurve(levels=levels, recommended=2),
    )
    save_probe(folder, llm.id, report)
    shown = callbacks.show_listed(services_of(folder), 0)[1]
    assert "recommended: 2" in text_of(shown)
    assert "not probed:  llms probe" in text_of(shown)  # its settings
    drawn = json.dumps(still(shown), default=str)
    assert "2: 95 tokens/s, p95 500 ms (recommended)" in drawn
    assert drawn.count("load-level is-knee") == 1


def test_unknown_parameters_are_refused_in_the_words_of_validate(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_llm("a", ["4"], parameters={"old_habit": 1})
    folder = workspace_files.write()
    services = services_of(folder)
    answer = callbacks.add(services, "ollama", "x", "", "", None, "temprature=0")
    said = "unknown parameter `temprature`, did you mean `temperature`?"
    assert answer.errors == {"parameters": said}
    values = {LLMField.PARAMETERS: '{"old_habit": 1, "responces": ["4"]}'}
    refused = callbacks.save(services, "scripted:a", values)
    assert refused.errors["parameters"].endswith("did you mean `responses`?")
    assert callbacks.save(
        services, "scripted:a", {LLMField.PARAMETERS: '{"old_habit": 2}'}
    ).is_saved
    message, hint = describe_unknown_parameter("ollama", "temprature")
    assert said == f"{message}, {hint}"


def test_deleting_a_model_says_that_its_results_stay(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("a", ["4"])
    workspace_files.add_llm("b", ["4"])
    folder = workspace_files.write()
    write_results(folder, {"scripted:a": [scored("sum_001", 1.0)]})
    services = services_of(folder)
    assert "1 result kept." in text_of(callbacks.ask_to_delete(services, "scripted:a"))
    assert "No results" in text_of(callbacks.ask_to_delete(services, "scripted:b"))
    callbacks.arrange(services, LLMAction.DELETE, "scripted:a")
    assert [entry["name"] for entry in entries(folder)] == ["b"]
    assert services.results.table().llm_ids == ("scripted:a",)
