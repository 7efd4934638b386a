from __future__ import annotations

import json
from pathlib import Path

import pytest

from poor_bench.evaluation.agent import AgentTask
from poor_bench.evaluation.browser.actions import Click, Done, Type
from poor_bench.evaluation.browser.llm_forms import (
    BadReplyError,
    BriefForm,
    FullForm,
    choose_form,
)
from poor_bench.evaluation.browser.observation import PageView
from poor_bench.models.llm import LLM

TREE = """\
- heading "Shop" [level=1] [ref=e1]
- textbox "Search" [ref=e2]
- button "Buy" [ref=e3] [cursor=pointer]
- button "Buy" [ref=e4]
- 'link "Tab #1" [ref=e5]':
  - /url: "#1"
- generic [ref=e6]: Nothing"""
SEEN = PageView(url="http://a.example/", title="T", tree=TREE, text="Shop\nNothing")
EMPTY = PageView(url="", title="", tree="", text="")


def form(*, may_be_done: bool = True) -> BriefForm:
    return BriefForm(directive="Buy it.", history=["- click: clicked"] if may_be_done else [])


def phrases(seen: PageView = SEEN, *, may_be_done: bool = False) -> list[str]:
    return [choice.phrase for choice in form(may_be_done=may_be_done).find_choices(seen)]


def test_choices_are_what_can_be_done_to_elements_in_words() -> None:
    assert phrases() == [
        'click textbox "Search"',
        'type into textbox "Search"',
        'click button "Buy" 1',
        'click button "Buy" 2',
        'click link "Tab #1"',
    ]


def test_being_done_is_a_choice_only_after_a_step_or_where_there_is_no_other() -> None:
    assert phrases(may_be_done=True)[-1] == "done"
    assert phrases(EMPTY) == ["done"]


@pytest.mark.slow(reason="a long search")
def test_long_names_and_many_elements_stay_short() -> None:
    tree = "\n".join(f'- button "{n} {"x" * 500}" [ref=e{n}]' for n in range(500))
    found = phrases(PageView(url="", title="", tree=tree, text=""))
    assert len(found) == 60
    assert max(map(len, found)) <= 86


def test_schema_holds_every_choice_and_a_text_only_where_one_is_typed() -> None:
    clicks, typing = form().schema(SEEN)["anyOf"]
    assert clicks["properties"]["choice"]["enum"][0] == 'click textbox "Search"'
    assert clicks["required"] == ["choice"]
    assert typing["properties"]["choice"]["enum"] == ['type into textbox "Search"']
    assert typing["required"] == ["choice", "text"]
    assert "anyOf" not in form().schema(EMPTY)


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        ({"choice": 'click button "Buy" 2'}, Click(action="click", ref="e4")),
        (
            {"choice": 'type into textbox "Search"', "text": "pot"},
            Type(action="type", ref="e2", text="pot"),
        ),
        ({"choice": "done"}, Done(action="done", summary="Chose to be done.")),
    ],
)
def test_a_choice_becomes_an_action(reply: dict[str, str], action: object) -> None:
    assert form().parse(json.dumps(reply), SEEN).action == action


@pytest.mark.parametrize("text", ["", "click", '{"choice": "click e9"}', "[1]", '{"choice": {}}'])
def test_anything_else_is_no_reply(text: str) -> None:
    with pytest.raises(BadReplyError, match="not one of the choices"):
        form().parse(text, SEEN)


def test_the_message_holds_page_choices_steps_and_task() -> None:
    (message,) = form().messages(SEEN, 5, "", 100)
    told = message.content
    for part in ("Nothing", '- click button "Buy" 1', "- click: clicked", "Task: Buy it."):
        assert part in told


@pytest.mark.parametrize(
    ("size", "is_local", "expected"),
    [
        (0.135, True, BriefForm),
        (0.135, False, FullForm),
        (7, True, FullForm),
        (None, True, FullForm),
    ],
)
def test_only_very_small_llms_that_run_here_are_asked_briefly(
    size: float | None, is_local: bool, expected: type
) -> None:
    llm = LLM(id="x", provider="embedded", name="x", size=size)
    task = AgentTask(case_id="one", trial=1, directive="x", folder=Path())
    assert isinstance(choose_form(llm, task, (), is_local=is_local), expected)
