from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.lint.mutations import (
    Mutation,
    build_mutants,
    count_survivors,
    score_mutants,
)
from poor_bench.lint.subject import LintSubject
from poor_bench.models.test import EvaluatorSpec, Test


class Facts:
    """Scores with a function; the right answer is that of the test."""

    def __init__(self, score):
        self._score = score

    def reference(self, _spec):
        return None

    def is_judged(self, _spec):
        return False

    def score(self, _spec, response):
        return float(self._score(response))


def subject(reference, name="t1", **parameters):
    test = Test(
        test_id=name, class_id="c", level=1, text="?", reference_response=reference
    )  # fmt: skip
    return LintSubject("tests.json", 0, test, EvaluatorSpec("e", parameters), ())


def mutants(reference, others=(), **parameters):
    built = build_mutants(subject(reference, **parameters), reference, others, random.Random(1))
    return {mutant.mutation: mutant.text for mutant in built}


def survivors(score, *references):
    subjects = [subject(text, f"t{place}") for place, text in enumerate(references)]
    counted = count_survivors(score_mutants(subjects, Facts(score)))
    return {each.mutation: len(each.survivors) for each in counted}


@pytest.mark.parametrize(
    ("right", "mutation", "wrong"),
    [
        ("18", Mutation.NUMBER, "19"),
        ("1.25", Mutation.NUMBER, "1.26"),
        ("-3", Mutation.SIGN, "3"),
        ('["a", "b"]', Mutation.ORDER, '["b", "a"]'),
        ('{"n": 3}', Mutation.VALUE, '{"n": 4}'),
        ("founded in 1905", Mutation.NUMBER, "founded in 1906"),
    ],
)
def test_a_right_answer_is_slightly_broken(right, mutation, wrong):
    assert mutants(right)[mutation] == wrong


def test_only_a_changed_line_of_a_diff_is_broken():
    head = "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n Hello, world!\n-1 test\n+"
    broken = mutants(f"{head}2 tests\n")
    assert broken[Mutation.NUMBER] == f"{head}3 tests"
    assert broken[Mutation.WORD] == f"{head}2 zebra"


def test_another_label_is_drawn_of_the_choices():
    assert mutants("B", choices=["x", "y"])[Mutation.LABEL] == "A"


def test_one_operator_of_code_is_changed_and_it_stays_code():
    code = "def add(a, b):\n    return a + b\n"
    changed = mutants(f"```python\n{code}```")[Mutation.CODE]
    assert changed.startswith("```python\n")
    assert "a + b" not in changed


def test_the_order_of_a_set_is_no_mutation():
    assert Mutation.ORDER not in mutants('["a", "b"]', compare="set")


def test_an_evaluator_that_compares_kills_every_mutant():
    found = survivors(lambda text: text in {"18", "25"}, "18", "25")
    assert Mutation.NUMBER in found
    assert Mutation.OTHER in found
    # "25" is the right answer of the other test, and this evaluator does not know which is asked
    assert {name for name, count in found.items() if count} == {Mutation.OTHER}


def test_an_evaluator_that_looks_for_digits_lets_them_live():
    found = survivors(lambda text: any(map(str.isdigit, text)), "18")
    assert found[Mutation.NUMBER] == found[Mutation.SIGN] == 1


def test_an_evaluator_that_looks_for_the_answer_anywhere_is_talked_round():
    found = survivors(lambda text: "Paris" in text, "Paris")
    assert found[Mutation.WORD] == 0
    assert found[Mutation.ANNOUNCED] == 0
    assert found[Mutation.DENIED] == 1


def test_tests_without_a_right_answer_are_left_out():
    assert list(score_mutants([subject(None)], Facts(lambda _: 1.0))) == []


json_values = st.dictionaries(
    st.text(min_size=1, max_size=5), st.integers() | st.text(), min_size=1
)


@given(st.integers().map(str) | json_values.map(json.dumps) | st.text(max_size=40))
def test_no_mutant_is_the_right_answer(right):
    built = build_mutants(subject(right), right, [], random.Random(0))
    assert all(mutant.text.strip() != right.strip() for mutant in built)
