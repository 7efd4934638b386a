from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.models.test import Test
from poor_bench.prompts import list_placeholders, render_prompt
from poor_bench.tuning.prompt.writer import (
    MOST_CHARACTERS,
    extract_proposal,
    is_usable,
    keep_placeholders,
)

REPLIES = [
    ("Sure!\n<new_prompt>\nDo {x}.\n</new_prompt>\nBye.", "Do {x}."),
    ("<new_prompt>first</new_prompt> no: <new_prompt>second</new_prompt>", "second"),
    ("<new_prompt>cut off in the mid", "cut off in the mid"),
    ("<prompt>Half a mark</prompt>", "Half a mark"),
    ("Try this:\n```\nDo {x}.\n```", "Do {x}."),
    ("  Just the text.  ", "Just the text."),
    ("<think>hm <new_prompt>no</new_prompt></think><new_prompt>yes</new_prompt>", "yes"),
    ("<new_prompt>  </new_prompt>", ""),
    ('{"new_prompt": "Do {x}."}', "Do {x}."),
    ('<new_prompt>Reply {"answer": 1}</new_prompt>', 'Reply {"answer": 1}'),
    ("", ""),
]


@pytest.mark.parametrize(("reply", "found"), REPLIES)
def test_the_proposal_is_found_in_a_reply(reply: str, found: str) -> None:
    assert extract_proposal(reply) == found


@given(st.text())
def test_any_reply_gives_plain_text_of_bounded_length(reply: str) -> None:
    found = extract_proposal(reply)
    assert len(found) <= MOST_CHARACTERS
    assert not {"Cc", "Cf", "Cs"} & {
        unicodedata.category(character) for character in found if character not in "\n\t"
    }


@given(st.text(alphabet="ab{} \n"), st.sets(st.sampled_from(["problem", "text"]), min_size=1))
def test_a_template_gets_exactly_its_placeholders(text: str, names: set[str]) -> None:
    template = keep_placeholders(text, sorted(names))
    assert set(list_placeholders(template)) == names


def test_a_name_in_braces_that_is_no_placeholder_becomes_literal() -> None:
    template = keep_placeholders("Write {answer} for {problem}.", ["problem"])
    test = Test(test_id="t", class_id="c", level=1, text="1 + 1")
    assert render_prompt(template, test) == "Write {answer} for 1 + 1."


def test_json_in_a_template_stays() -> None:
    text = 'Reply {"answer": 1} for {problem}'
    assert keep_placeholders(text, ["problem"]) == text


@pytest.mark.parametrize(
    ("proposed", "is_used"),
    [
        ("", False),
        ("Solve: {problem}", False),
        ("Solve it exactly: {problem}", True),
        ("Always be exact and careful.\n" * 40, False),
        ("\n".join(f'{n} + {n + 3}\n{{"answer": {2 * n + 3}}}' for n in range(40)), True),
    ],
)
def test_a_text_that_says_nothing_new_or_the_same_over_and_over_is_not_tried(
    proposed: str, is_used: bool
) -> None:
    assert is_usable(proposed, "Solve: {problem}\n") is is_used
