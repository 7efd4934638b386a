from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from poor_bench.models.test import Test
from poor_bench.prompts import list_placeholders, render_prompt
from poor_bench.tuning.prompt.cases import Solved
from poor_bench.tuning.prompt.edits import add_example, move_input_last, shorten_prompt, state_form

SUM = Solved("sum", "1 + 1", '{"answer": 2}')
TEMPLATE = "Add.\nProblem: {problem}\nReply with JSON."


def test_an_example_looks_like_the_input_and_stands_before_it() -> None:
    assert add_example(TEMPLATE, SUM, ["problem"]) == (
        'Add.\nProblem: 1 + 1\n{"answer": 2}\n\nProblem: {problem}\nReply with JSON.'
    )


def test_a_second_example_follows_the_first() -> None:
    once = add_example("{problem}", SUM, ["problem"])
    twice = add_example(once, Solved("other", "2 + 2", "4"), ["problem"])
    assert twice == '1 + 1\n{"answer": 2}\n\n2 + 2\n4\n\n{problem}'


def test_a_prompt_without_place_for_the_input_gets_its_example_in_words() -> None:
    assert add_example("Be exact.", SUM, []) == (
        'Example: 1 + 1\nAnswer: {"answer": 2}\n\nBe exact.'
    )


@given(st.text(alphabet="ab{} \n"), st.text(alphabet="ab{}problem \n"))
def test_what_an_example_holds_is_never_filled_in(said: str, answer: str) -> None:
    solved = Solved("x", said, answer)
    test = Test(test_id="t", class_id="c", level=1, text="INPUT")
    for edited in (
        add_example("Do: {problem}", solved, ["problem"]),
        state_form("Do: {problem}", solved, ["problem"]),
    ):
        assert list_placeholders(edited) == ("problem",)
        assert render_prompt(edited, test).count("INPUT") == 1


def test_the_form_of_an_answer_stands_at_the_beginning() -> None:
    assert state_form("{problem}", SUM, ["problem"]) == (
        'Answer in this form: {"answer": 2}\n\n{problem}'
    )


def test_the_input_moves_to_the_end() -> None:
    assert move_input_last(TEMPLATE, ["problem"]) == (
        "Add.\nReply with JSON.\n\nProblem: {problem}"
    )
    assert move_input_last("{problem}", ["problem"]) == "{problem}"
    assert move_input_last("{a} and {b}", ["a", "b"]) == "{a} and {b}"


def test_each_line_but_that_of_the_input_can_be_left_out() -> None:
    assert shorten_prompt(TEMPLATE, ["problem"]) == [
        "Problem: {problem}\nReply with JSON.",
        "Add.\nProblem: {problem}",
    ]
    assert shorten_prompt("Be exact.", []) == []
