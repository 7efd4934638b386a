"""The result panel: what it shows of a result, and what can be done with it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from dash import Dash, dcc, html

from poor_bench.dashboard.components.tables import still
from poor_bench.dashboard.page import ShellIds
from poor_bench.dashboard.result_panel import frame
from poor_bench.dashboard.result_panel.addresses import read_text, text_address
from poor_bench.dashboard.result_panel.frame import PanelIds
from poor_bench.dashboard.result_panel.panel import build_panel
from poor_bench.dashboard.services.panel_results import TextPart
from poor_bench.dashboard.services.services import Services
from poor_bench.errors import ConfigError
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.results.table import TrialKey
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import scored, services_of, write_results
from tests.dashboard.seen_text import of_type, text_of

ONE, KEY = "scripted:one", TrialKey("sum_001", 1, is_failure=False)
OPEN = [ONE, *KEY]


def stored(files: WorkspaceFiles, *others: Result, **fields: Any) -> tuple[Services, Path]:
    files.add_tests(2)
    files.add_llm("one", ["4"])
    folder = files.write()
    write_results(folder, {ONE: [scored("sum_001", 0.5, **fields)]})
    services = services_of(folder)
    if others:
        services.files.config().store.add(others, "20260301T000000-b", {})
    return services, folder


def shown(services: Services, key: TrialKey = KEY) -> str:
    panel = services.panel.read(ONE, key)
    assert panel is not None
    json.dumps(still(build_panel(panel)))
    return text_of(build_panel(panel))


def test_a_prompt_that_changed_since_says_so_and_shows_what_was_sent(
    workspace_files: WorkspaceFiles,
) -> None:
    services, _ = stored(workspace_files, prompt="What was asked", system_prompt="Be brief")
    seen = shown(services)
    assert seen.index("changed since") < seen.index("Be brief") < seen.index("What was asked")
    assert "Changes" in seen


def test_a_prompt_as_of_today_says_where_it_comes_from(workspace_files: WorkspaceFiles) -> None:
    services, _ = stored(workspace_files)
    panel = services.panel.read(ONE, KEY)
    assert panel is not None
    assert panel.prompt.changed_to is None
    assert "not stored" in shown(services)
    assert "Template of sums: default" in shown(services)


def test_the_override_of_a_model_is_named(workspace_files: WorkspaceFiles) -> None:
    _, folder = stored(workspace_files)
    path = folder / "test_classes.yaml"
    classes = yaml.safe_load(path.read_text())
    for each in classes["test_classes"]:
        each["work_prompt_template"]["overrides"] = {ONE: "Only for one: {problem}"}
    path.write_text(yaml.safe_dump(classes))
    services = services_of(folder)
    assert f"override for {ONE}" in shown(services)


def test_other_models_and_trials_are_listed_best_first(workspace_files: WorkspaceFiles) -> None:
    services, _ = stored(
        workspace_files,
        Result(llm_id="b:worse", test_id="sum_001", score=0.0, response="three"),
        Result(llm_id="b:best", test_id="sum_001", score=1.0, response="<think>x</think>four"),
        Result(llm_id=ONE, test_id="sum_001", score=0.0, response="two", trial=2),
    )
    seen = shown(services)
    assert "(2 models)" in seen
    assert seen.index("trial 2") < seen.index("b:best") < seen.index("b:worse")
    panel = services.panel.read(ONE, KEY)
    assert panel is not None
    assert [each.excerpt for each in panel.others] == ["four", "three"]


def test_earlier_answers_come_from_the_runs_newest_first(workspace_files: WorkspaceFiles) -> None:
    services, _ = stored(
        workspace_files, Result(llm_id=ONE, test_id="sum_001", score=1.0, response="newest")
    )
    store = services.files.config().store
    store.add([Result(llm_id=ONE, test_id="sum_002", score=1.0)], "20260401T000000-c", {})
    store.add([Result(llm_id="b:x", test_id="sum_001", score=1.0)], "20260402T000000-d", {})
    again = Result(llm_id=ONE, test_id="sum_001", score=0.0, response="again", timestamp="2026-05")
    store.add([again], "20260501T000000-e", {})
    found = services.panel.earlier(ONE, "sum_001")
    assert [each.response for each in found] == ["again", "newest"]
    seen = text_of(frame.show_earlier(services, OPEN))
    assert "newest" in seen
    assert "again" not in seen.partition("newest")[0]


def test_trials_that_count_today_are_not_earlier_answers(workspace_files: WorkspaceFiles) -> None:
    old = Result(llm_id=ONE, test_id="sum_001", score=0.0, trial=2, timestamp="2026-05-01")
    services, _ = stored(workspace_files, replace(old, response="replaced"))
    now = replace(old, response="the second trial", timestamp="2026-06-01")
    services.files.config().store.add([now], "20260601T000000-c", {})
    assert "the second trial" in shown(services)
    seen = text_of(frame.show_earlier(services, OPEN))
    assert "replaced" in seen
    assert "the second trial" not in seen


@pytest.mark.parametrize(
    ("earlier", "seen"),
    [
        ("Prices rose by a third of what they were before", "no diff. Prices rose by a third"),
        ("the cat sat on a mat", "only earlier only now the cat cow sat on a mat"),
    ],
)
def test_an_earlier_answer_can_be_read_however_much_it_differs(
    workspace_files: WorkspaceFiles, earlier: str, seen: str
) -> None:
    old = Result(llm_id=ONE, test_id="sum_001", score=0.0, response=earlier, timestamp="2026-05")
    services, _ = stored(workspace_files, old)
    now = replace(old, response="the cow sat on a mat", timestamp="2026-06")
    services.files.config().store.add([now], "20260601T000000-c", {})
    listed = " ".join(text_of(frame.show_earlier(services, OPEN)).split())
    assert seen in listed


def test_an_answer_that_was_scored_again_with_the_same_score_is_listed_once(
    workspace_files: WorkspaceFiles,
) -> None:
    old = Result(llm_id=ONE, test_id="sum_001", score=1.0, response="old", timestamp="2026-05")
    services, _ = stored(workspace_files, old)
    store = services.files.config().store
    store.add([old], "20260401T000000-c", {})
    store.add([replace(old, score=0.5)], "20260501T000000-d", {})
    store.add([replace(old, timestamp="2026-06", response="now")], "20260601T000000-e", {})
    seen = text_of(frame.show_earlier(services, OPEN))
    assert seen.count("2026-05") == 2


def test_an_answer_without_its_judge_waits_and_has_not_failed(
    workspace_files: WorkspaceFiles,
) -> None:
    waits = Failure(kind=FailureKind.JUDGE, message="the response waits for its judge")
    other = Result(llm_id="a:b", test_id="sum_001", response="mine", failure=waits)
    services, _ = stored(workspace_files, other)
    assert "judge pending" in shown(services)
    panel = services.panel.read("a:b", TrialKey("sum_001", 1, is_failure=True))
    assert panel is not None
    seen = text_of(build_panel(panel))
    assert "Judge pending" in seen
    assert "failed" not in seen.lower()


def test_a_long_answer_is_there_as_a_whole(workspace_files: WorkspaceFiles) -> None:
    answer = "".join(f"line {number}\n" for number in range(20_000))
    services, _ = stored(workspace_files, response=answer)
    panel = services.panel.read(ONE, KEY)
    assert panel is not None
    buttons = [each for each in of_type(build_panel(panel), "Button") if "more" in each.children]
    [props] = [each.to_plotly_json()["props"] for each in buttons]
    assert props["data-load-rest"] == text_address(panel.details.result, TextPart.ANSWER)
    query = {"llm": ONE, "test": "sum_001", "part": "answer", "start": props["data-rest-start"]}
    [pre] = [each for each in of_type(build_panel(panel), "Pre") if "line 0" in text_of(each)]
    assert text_of(pre).rstrip(" ") + read_text(services.panel, query) == answer


@pytest.mark.parametrize(
    "query", [{}, {"llm": ONE}, {"llm": ONE, "test": "no", "part": "answer"},
              {"llm": ONE, "test": "sum_001", "part": "key"},
              {"llm": ONE, "test": "sum_001", "part": "answer", "start": "x"}],
)  # fmt: skip
def test_an_address_of_nothing_is_told(
    workspace_files: WorkspaceFiles, query: dict[str, str]
) -> None:
    services, _ = stored(workspace_files)
    with pytest.raises((KeyError, ValueError)):
        read_text(services.panel, query)


def test_an_answer_is_scored_anew(workspace_files: WorkspaceFiles) -> None:
    services, folder = stored(workspace_files, response="4")
    told = frame.rescore(services, OPEN)
    assert told["message"] == "0.50 to 1.00"
    [result] = WorkspaceFolder(folder).store.results()
    assert (result.score, result.response) == (1.0, "4")
    with pytest.raises(ConfigError):
        frame.rescore(services, None)


def test_a_reported_test_is_noted_in_its_file_and_found_by_lint(
    workspace_files: WorkspaceFiles,
) -> None:
    services, folder = stored(workspace_files)
    frame.report(services, OPEN, " the key is <b>5</b> ")
    tests = json.loads((folder / "tests.json").read_text())["tests"]
    assert [test.get("reported") for test in tests] == ["the key is <b>5</b>", None]
    assert "the key is <b>5</b>" in shown(services)
    codes = [finding.problem.code for finding in WorkspaceFolder(folder).lint()]
    assert codes.count("reported") == 1
    frame.report(services, OPEN, "")
    assert "reported" not in (folder / "tests.json").read_text()


@pytest.mark.parametrize("opened", [None, [], [1, 2, 3, 4], ["a", "b"], "x"])
def test_nonsense_from_the_browser_opens_nothing(opened: Any) -> None:
    assert frame.read_open(opened) is None


def test_earlier_answers_are_listed_again_when_results_change(
    workspace_files: WorkspaceFiles,
) -> None:
    app = Dash()
    frame.register_panel(app, services_of(workspace_files.write()))
    heard = app.callback_map[f"{PanelIds.EARLIER}.trees"]["inputs"]
    assert {"id": ShellIds.VERSION, "property": "data"} in heard


@pytest.mark.parametrize("button", [PanelIds.REPORT, PanelIds.RESCORE])
def test_what_a_button_changed_is_shown_at_once(
    workspace_files: WorkspaceFiles, button: PanelIds
) -> None:
    services, _ = stored(workspace_files)
    app = Dash()
    app.layout = html.Div([dcc.Store(id=ShellIds.VERSION)])
    frame.register_panel(app, services)
    client = app.server.test_client()
    [wired] = [
        each
        for each in client.get("/_dash-dependencies").get_json()
        if each["output"] == f"{button}.loading"
    ]
    values = {f"{PanelIds.OPEN}.data": OPEN, f"{button}.n_clicks": 1}
    state, inputs = (
        [{**each, "value": values.get(f"{each['id']}.{each['property']}")} for each in wired[kind]]
        for kind in ("state", "inputs")
    )
    body = {
        "output": wired["output"], "outputs": {"id": button, "property": "loading"},
        "inputs": inputs, "state": state, "changedPropIds": [f"{button}.n_clicks"],
    }  # fmt: skip
    answer = client.post("/_dash-update-component", json=body).get_json()
    assert answer["sideUpdate"][ShellIds.VERSION]["data"] == services.version()


def test_a_failed_judgement_is_no_zero_among_the_parts(workspace_files: WorkspaceFiles) -> None:
    failed = {"scores": {"tone": 0.0}, "is_fallback": True, "error": "judge is gone"}
    given = [{"scores": {"tone": score, "odd": "?"}, "judge": "a:b"} for score in (8, 7.0)]
    judgement = {"judge": "a:b", "samples": [failed, *given]}
    services, _ = stored(workspace_files, judgement=judgement)
    panel = services.panel.read(ONE, KEY)
    assert panel is not None
    shown = text_of(build_panel(panel))
    assert "Judged by a:b, mean of 2 judgements, 1 failed." in shown
    assert "tone 7.50 of 10" in shown
    assert "odd" not in shown
