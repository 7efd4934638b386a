"""The LLM agent in a real Chromium."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from poor_bench.errors import ProviderError
from poor_bench.models.llm import LLM
from tests.evaluation.browser.conftest import Trials, scripted
from tests.evaluation.browser.sites import Answer, Site

pytestmark = pytest.mark.browser
Serve = Callable[[Mapping[str, str | Answer]], Site]

PAGE = """<title>Shop</title><h1>Shop</h1>
<label for="q">Search</label><input id="q">
<button onclick="n.textContent = 'Bought ' + q.value">Buy</button><p id="n">Nothing</p>"""
TYPE = {"action": "type", "ref": "e3", "text": "teapot"}
CLICK = {"action": "click", "ref": "e4"}
DONE = {"action": "done", "summary": "Bought it.", "data": {"bought": "Bought teapot"}}


def test_it_acts_step_by_step_and_tells_each(trials: Trials, serve: Serve) -> None:
    llm = scripted(
        {"thought": "first the name", "action": TYPE},
        {"thought": "then buy", "action": CLICK},
        {"action": "extract", "key": "page"},
        DONE,
    )
    outcome = trials.run(start_url=serve({"/": PAGE}).address, llm=llm)
    assert (outcome.success, outcome.summary, outcome.actions) == (True, "Bought it.", 2)
    assert outcome.data["bought"] == "Bought teapot"
    assert "Bought teapot" in outcome.data["page"]
    assert "Bought teapot" in outcome.extracted_text
    first, second, _third, last = trials.steps
    assert (first.text, first.thought) == ("type textbox \"Search\": 'teapot'", "first the name")
    assert first.action["target"] == {"role": "textbox", "name": "Search", "exact": True}
    assert second.text == 'click button "Buy"'
    assert last.action["found"] == {"bought": {"css": "#n"}}
    assert [step.screenshot for step in trials.steps] == [f"step-00{n}.jpg" for n in (1, 2, 3, 4)]


def test_bad_replies_and_bad_references_are_told_to_the_llm(trials: Trials, serve: Serve) -> None:
    by_complaint: dict[str, Any] = {
        "does not contain a JSON object": '{"action": {"action": "click", "ref": "e99"}}',
        "element e99 does not exist": '{"action": {"action": "done", "summary": "ok"}}',
    }
    llm = LLM(
        id="s",
        provider="scripted",
        name="s",
        parameters={"responses": by_complaint, "default": "I would rather not."},
    )
    outcome = trials.run(start_url=serve({"/": PAGE}).address, llm=llm)
    assert outcome.success
    assert [step.error for step in trials.steps] == ["element e99 does not exist on the page", ""]


def test_an_llm_that_never_chooses_an_action_fails(trials: Trials, serve: Serve) -> None:
    outcome = trials.run(start_url=serve({"/": PAGE}).address, llm=scripted("no"))
    assert not outcome.success
    assert "no valid action" in outcome.error
    assert len(trials.steps) == 3


def test_going_in_circles_is_noticed(trials: Trials, serve: Serve) -> None:
    outcome = trials.run(
        start_url=serve({"/": PAGE}).address, llm=scripted({"action": "click", "ref": "e3"})
    )
    assert outcome.error == 'repeated the same action: click textbox "Search"'
    assert len(trials.steps) == 4


@pytest.mark.parametrize(
    ("budget", "error"),
    [({"max_steps": 2}, "not done after 2 steps"), ({"token_limit": 100}, "the token limit")],
)
def test_budgets_end_it(trials: Trials, serve: Serve, budget: dict[str, int], error: str) -> None:
    reply = {"text": '{"action": "scroll"}', "prompt_tokens": 50, "completion_tokens": 5}
    llm = LLM(id="s", provider="scripted", name="s", parameters={"responses": [reply]})
    outcome = trials.run(start_url=serve({"/": PAGE}).address, llm=llm, **budget)
    assert not outcome.success
    assert error in outcome.error
    assert (outcome.actions, outcome.input_tokens, outcome.output_tokens) == (2, 100, 10)


def test_data_must_keep_the_schema_and_the_llm_gets_another_chance(
    trials: Trials, serve: Serve
) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    llm = scripted(
        {"action": "done", "summary": "x", "data": {"n": "three"}},
        {"action": "done", "summary": "x", "data": {"n": 3}},
    )
    outcome = trials.run(start_url=serve({"/": PAGE}).address, llm=llm, output_schema=schema)
    assert outcome.success
    assert "violate the schema" in trials.steps[0].error


def test_an_agent_that_gives_up_has_failed(trials: Trials, serve: Serve) -> None:
    llm = scripted({"action": "done", "success": False, "summary": "there is no teapot"})
    outcome = trials.run(start_url=serve({"/": PAGE}).address, llm=llm)
    assert (outcome.success, outcome.summary) == (False, "there is no teapot")
    assert outcome.error == "the agent gave up: there is no teapot"


def test_an_llm_that_cannot_be_asked_is_a_failure_of_ours(trials: Trials, serve: Serve) -> None:
    llm = LLM(
        id="s", provider="scripted", name="s", parameters={"responses": [{"failure": "auth"}]}
    )
    with pytest.raises(ProviderError):
        trials.run(start_url=serve({"/": PAGE}).address, llm=llm)


def test_the_time_limit_also_ends_an_llm_that_thinks_too_long(trials: Trials, serve: Serve) -> None:
    slow = {"responses": "{}", "latency_ms": 60_000}
    llm = LLM(id="s", provider="scripted", name="s", parameters=slow)
    outcome = trials.run(start_url=serve({"/": PAGE}).address, llm=llm, time_limit_s=3)
    assert (outcome.success, outcome.error) == (False, "the time limit is reached")


def test_it_goes_on_from_the_state_that_a_failing_playbook_reached(
    trials: Trials, serve: Serve, tmp_path: Path
) -> None:
    playbook = tmp_path / "brittle.yaml"
    playbook.write_text(
        "name: x\nsteps:\n  - type: {label: Search, value: kettle}\n"
        "  - extract: {key: heading, role: heading}\n  - expect: {text: Not there}\n"
    )
    outcome = trials.run(
        start_url=serve({"/": PAGE}).address,
        playbook=playbook,
        llm=scripted(CLICK, {"action": "extract", "key": "n", "ref": "e5"}, DONE),
    )
    assert (outcome.success, outcome.mode, outcome.actions) == (True, "handoff", 2)
    assert (outcome.data["heading"], outcome.data["n"]) == ("Shop", "Bought kettle")
    assert [step.part for step in trials.steps] == ["playbook"] * 3 + ["agent"] * 3
    assert [step.number for step in trials.steps] == [1, 2, 3, 4, 5, 6]


def test_a_page_that_tells_the_agent_to_go_elsewhere_does_not_get_it_there(
    trials: Trials, serve: Serve
) -> None:
    """Even an LLM that obeys a page is held back by the browser's walls."""
    llm = scripted(
        {"action": "open", "url": "http://169.254.169.254/latest/meta-data/"},
        {"action": "open", "url": "file:///etc/passwd"},
        {"action": "done", "summary": "tried"},
    )
    trials.run(start_url=None, llm=llm, allow_private_networks=False)
    assert "metadata address of a cloud" in trials.steps[0].error
    assert "scheme 'file'" in trials.steps[1].error
