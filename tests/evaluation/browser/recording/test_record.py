from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from poor_bench.errors import ConfigError
from poor_bench.evaluation.agent import Step
from poor_bench.evaluation.browser.playbook_file import read_playbook
from poor_bench.evaluation.recording import record_playbook

BUTTON = {"role": "button", "name": "Cancel order 1002"}


def step(error: str = "", part: Any = "agent", **action: Any) -> Step:
    return Step(number=1, part=part, action=action, text="the step", error=error)


def recorded(*steps: Step, **params: Any) -> list[dict[str, Any]]:
    text = record_playbook(steps, name="x", description="Do it.", params=params)
    written: list[dict[str, Any]] = yaml.safe_load(text)["steps"]
    return written


def test_every_action_has_its_step() -> None:
    assert recorded(
        step(action="open", url="http://127.0.0.1:8000/orders"),
        step(action="click", ref="e1", target=BUTTON),
        step(action="type", ref="e2", text="1002", submit=True, target={"label": "Order"}),
        step(action="type", ref="e2", text="", credential="PIN", target={"label": "PIN"}),
        step(action="select", ref="e3", option="late", target={"label": "Reason"}),
        step(action="press", key="Enter"),
        step(action="scroll", direction="down"),
        step(action="back"),
        step(action="wait", seconds=2.0),
        step(action="wait", text="Cancelled", seconds=1.0),
        step(action="extract", key="status", ref="e4", target={"css": "#s"}),
        step(action="extract", key="page"),
        step(action="done", summary="1002 is cancelled", found={"a.b": {"css": "#t"}}),
        order="1002",
        server="http://127.0.0.1:8000",
    ) == [
        {"open": "{server}/orders"},
        {"click": {"role": "button", "name": "Cancel order {order}"}},
        {"type": {"label": "Order", "value": "{order}", "submit": True}},
        {"type": {"label": "PIN", "credential": "PIN"}},
        {"select": {"label": "Reason", "option": "late"}},
        {"press": "Enter"},
        {"scroll": "down"},
        {"back": True},
        {"wait": {"seconds": 2.0}},
        {"wait": {"text": "Cancelled", "exact": False, "nth": 1}},
        {"extract": {"css": "#s", "key": "status"}},
        {"extract": {"key": "page"}},
        {"extract": {"key": "a.b", "css": "#t"}},
        {"done": {"summary": "{order} is cancelled"}},
    ]


def test_parameters_do_not_stand_in_names() -> None:
    target = {"role": "button", "name": "button", "frame": "#button"}
    assert recorded(
        step(action="extract", key="button", target=target),
        step(action="type", credential="button", target={"css": "#button"}),
        kind="button",
    ) == [
        {"extract": {"role": "button", "name": "{kind}", "frame": "#button", "key": "button"}},
        {"type": {"css": "#button", "credential": "button"}},
    ]


def test_steps_that_failed_and_turns_without_an_action_are_left_out() -> None:
    steps = (step(action="click", ref="e1", error="no"), step(), step(action="press", key="a"))
    assert recorded(*steps) == [{"press": "a"}]


def test_a_playbook_that_handed_off_goes_first_as_it_was_done() -> None:
    assert recorded(
        step(part="playbook", action="open", value="http://a.example/"),
        step(part="playbook", action="click", role="link", name="Orders"),
        step(part="playbook", action="capture", pattern="(?P<x>.)"),
        step(part="playbook", action="expect", error="it is not", text="x"),
        step(action="click", ref="e1", target=BUTTON),
    ) == [
        {"open": "http://a.example/"},
        {"click": {"role": "link", "name": "Orders"}},
        {"click": BUTTON},
    ]


def test_a_step_that_cannot_be_found_again_is_told() -> None:
    with pytest.raises(ConfigError, match="step 1 cannot be recorded: the step"):
        recorded(step(action="click", ref="f1e2"))


def test_a_trial_without_steps_cannot_be_recorded() -> None:
    with pytest.raises(ConfigError, match="nothing to record"):
        recorded(step(action="click", ref="e1", error="no"))


def test_what_is_recorded_can_be_loaded(tmp_path: Path) -> None:
    path = tmp_path / "recorded.yaml"
    steps = (step(action="click", ref="e1", target=BUTTON), step(action="done", summary="ok"))
    params = {"order": 1002, "server": "http://127.0.0.1:1"}
    path.write_text(record_playbook(steps, name="x", description="", params=params))
    playbook, problems = read_playbook(path)
    assert problems == []
    assert playbook is not None
    assert playbook.params == {"order": "1002"}
