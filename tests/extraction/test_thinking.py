from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.extraction.thinking import split_thinking, without_thinking

MARKERS = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<THINK>", "</THINK>"),
    ('<think duration="3">', "</think>"),
    ("<seed:think>", "</seed:think>"),
    ("<thinking>", "</think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>\n\n<|begin_of_solution|>"),
    ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    ("<|THINK_START|>", "<|THINK_END|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<|channel>thought\n", "<channel|>"),
    ("<unused94>thought\n", "<unused95>"),
    (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    ),
    (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final <|constrain|>JSON<|message|>",
    ),
    ("<longcat_think>", "</longcat_think>"),
    ("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"),
    ("analysis", "assistantfinal"),
    ("Here is my thought process:", "Here is my response:"),
]
IDS = [opening for opening, _ in MARKERS]


@pytest.mark.parametrize(("opening", "closing"), MARKERS, ids=IDS)
def test_thinking_is_kept_apart(opening, closing):
    split = split_thinking(f"{opening}Two and two make 5, no, 4.{closing}\n\nIt is 4.\n")
    assert split.answer == "It is 4."
    assert split.thinking == "Two and two make 5, no, 4."
    assert not split.is_unclosed


@pytest.mark.parametrize(("opening", "_closing"), MARKERS, ids=IDS)
def test_thinking_that_never_ended_leaves_no_answer(opening, _closing):
    split = split_thinking(f"{opening}Maybe it is 4, or")
    assert split.answer == ""
    assert split.thinking == "Maybe it is 4, or"
    assert split.is_unclosed


WORDED = {"analysis", "Here is my thought process:", "Here are my reasoning steps:"}


@pytest.mark.parametrize(
    "end", ["<|im_end|>", "<|eot_id|>\n", "<end_of_turn>", "[END FINAL RESPONSE]"]
)
@pytest.mark.parametrize("thinking", ["", "<think>2 + 2</think>"])
def test_the_end_of_a_turn_is_no_part_of_the_answer(thinking, end):
    assert without_thinking(f"{thinking}4{end}") == "4"


ALONE = [pair for pair in MARKERS if pair[0] not in WORDED]


@pytest.mark.parametrize(("_opening", "closing"), ALONE, ids=[pair[0] for pair in ALONE])
def test_opening_marker_eaten_by_the_chat_template(_opening, closing):
    split = split_thinking(f"Two and two.{closing}4")
    assert (split.answer, split.thinking) == ("4", "Two and two.")


def test_several_blocks_are_all_taken_out():
    split = split_thinking("<think>a</think>One.<thinking>b</thinking> Two.<think>c")
    assert split.answer == "One. Two."
    assert split.thinking == "a\n\nb\n\nc"
    assert split.is_unclosed


def test_block_that_mentions_its_own_marker_is_thinking_to_its_last_end():
    split = split_thinking("<think>I <think> so</think> more</think>4")
    assert split.answer == "4"


def test_empty_block_is_no_thinking():
    split = split_thinking("<think>\n\n</think>\n\n4")
    assert (split.answer, split.thinking, split.is_unclosed) == ("4", "", False)


def test_stray_closing_marker_at_the_end_keeps_the_answer():
    assert split_thinking("<think>a</think>\n4\n</think>\n").answer == "4"


def test_eaten_opening_marker_and_nothing_after_is_no_answer():
    split = split_thinking("Hmm, 4.\n</think>\n")
    assert (split.answer, split.thinking) == ("", "Hmm, 4.")


def test_fence_inside_thinking_does_not_hide_its_end():
    split = split_thinking("<think>```py\nx = 1</think>\n```py\nx = 2\n```")
    assert split.answer == "```py\nx = 2\n```"


@pytest.mark.parametrize(
    "text",
    [
        "Write `<think>` and then `</think>`.",
        '{"tag": "<think>"}',
        "```html\n<think>\nhm\n</think>\n```",
        "A [think] piece, then [/think].",
        "Analysis shows 4. Here is my response: 4",
        "  4\n",
        "",
    ],
)
def test_text_without_markers_is_left_as_it_is(text):
    split = split_thinking(text)
    assert (split.answer, split.thinking, split.is_unclosed) == (text, "", False)


PIECES = ["<think>", "</think>", "[THINK]", "```", "\n", "`", "x", "<|end|>", "analysis", "\ud800"]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text())
def test_splitting_loses_nothing_that_was_said(text):
    split = split_thinking(text)
    assert (split.answer + split.thinking).count("x") == text.count("x")


@given(st.text(alphabet="abc \n`"), st.text(alphabet="abc \n"))
def test_answer_after_thinking_is_the_answer(thinking, answer):
    assert without_thinking(f"<think>{thinking}</think>{answer}") == answer.strip()
