from __future__ import annotations

import pytest

from poor_bench.lint.cheats import Cheat, CheatScore, build_answers, build_floor, find_weaknesses
from poor_bench.lint.subject import LintSubject, RenderedPrompt
from poor_bench.models.test import EvaluatorSpec, Test
from poor_bench.scoring.verdict import AnswerFormat


class Facts:
    """An evaluator that wants a number, and a judge nowhere."""

    def wants(self, _spec):
        return AnswerFormat.NUMBER


def subject(text="How much is 3 and 4?", **parameters):
    test = Test(test_id="t1", class_id="c", level=1, text=text)
    spec = EvaluatorSpec("number_match", parameters)
    return LintSubject("tests.json", 0, test, spec, (RenderedPrompt(f"Solve: {text}", ()),))


def scores(cheat, values):
    return [CheatScore(f"t{place}", cheat, value) for place, value in enumerate(values)]


def weak(*groups):
    found = find_weaknesses([item for group in groups for item in group], dict.fromkeys(IDS, "c"))
    return [(item.cheat, item.of_class) for item in found]


IDS = [f"t{place}" for place in range(40)]


def test_cheats_answer_without_understanding():
    answers = build_answers(subject(), ["8", "9", "8"], Facts())
    assert answers[Cheat.FREQUENT] == ("8",)
    assert answers[Cheat.HEDGE] == ("8 or 9",)
    assert answers[Cheat.ECHO] == ("Solve: How much is 3 and 4?",)
    assert answers[Cheat.PROMPT_NUMBER] == ("4",)
    assert answers[Cheat.CONSTANT] == ("1",)
    assert set(answers[Cheat.RANDOM]) <= {"8", "9"}


def test_choices_are_cheated_by_label():
    answers = build_answers(subject(choices=["a", "far longer", "b"]), [], Facts())
    assert answers[Cheat.LONGEST] == ("B",)
    assert answers[Cheat.HEDGE] == ("A or B or C",)
    assert answers[Cheat.CONSTANT] == ("A",)


def test_all_options_of_lists_are_one_list():
    answers = build_answers(subject(), ['["a", "b"]', '["b", "c"]'], Facts())
    assert answers[Cheat.HEDGE] == ('["a", "b", "c"]',)


def test_random_answers_are_the_same_for_the_same_seed():
    one, same, other = (
        build_answers(subject(), [str(n) for n in range(50)], Facts(), seed=seed)[Cheat.RANDOM]
        for seed in (1, 1, 2)
    )
    assert one == same != other


def test_a_class_with_one_answer_is_weak():
    chance = scores(Cheat.RANDOM, [0.9] * 20)
    assert (Cheat.RANDOM, True) in weak(chance)
    assert weak(scores(Cheat.RANDOM, [0.0] * 20), scores(Cheat.CONSTANT, [1.0] * 20)) == [
        (Cheat.CONSTANT, True)
    ]


@pytest.mark.parametrize("cheat", [Cheat.CONSTANT, Cheat.FREQUENT, Cheat.LONGEST])
def test_what_chance_gives_is_no_weakness(cheat):
    halves = [0.0, 1.0] * 20
    assert weak(scores(Cheat.RANDOM, [0.5] * 40), scores(cheat, halves)) == []


@pytest.mark.parametrize("cheat", [Cheat.ECHO, Cheat.REFUSAL])
def test_a_single_test_that_rewards_an_echo_or_a_refusal_is_weak(cheat):
    found = weak(scores(Cheat.RANDOM, [0.0] * 20), scores(cheat, [1.0] + [0.0] * 19))
    assert found == [(cheat, False)]


def test_a_test_without_an_answer_of_a_cheat_counts_as_zero_in_the_floor():
    found = build_floor(
        [*scores(Cheat.ECHO, [1.0, 0.0]), CheatScore("t0", Cheat.HEDGE, 1.0)], {"t0", "t1"}
    )
    assert [(row.name, row.score, row.n_tests) for row in found] == [
        ("echo of the prompt", 0.5, 2), ("all options at once", 0.5, 2),
    ]  # fmt: skip
    assert build_floor(scores(Cheat.ECHO, [1.0, 0.0]), {"t1"})[0].score == 0.0
