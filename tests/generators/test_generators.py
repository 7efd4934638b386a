from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.errors import ConfigError
from poor_bench.generators.families import GENERATORS, find_generator
from poor_bench.generators.generator import LEVELS, Generator, generate
from poor_bench.generators.lists import apply_steps, draw_steps
from poor_bench.plugins import find_project_evaluators, load_evaluators

ALL = sorted(GENERATORS)


def drawn(name: str, n_tests: int = 25, seed: int = 0) -> list[dict[str, Any]]:
    return list(generate(find_generator(name), name, LEVELS, n_tests, seed))


def score(name: str, test: dict[str, Any], response: str) -> float:
    module = find_generator(name).class_entry["evaluation_module"]
    evaluator = load_evaluators([find_project_evaluators()]).get(module["name"])
    parameters = {**module["parameters"], **test["evaluation_module"]["parameters"]}
    assert evaluator.check_parameters(parameters) == []
    return evaluator.evaluate(response, parameters).score


@pytest.mark.slow(reason="takes over a quarter of a second")
@pytest.mark.parametrize("name", ALL)
def test_every_test_passes_by_its_reference_and_not_by_silence(name: str) -> None:
    for test in drawn(name):
        assert score(name, test, test["reference_response"]) == 1.0, test["text"]
        assert score(name, test, "") == 0.0, test["text"]


@pytest.mark.parametrize("name", ALL)
def test_the_same_seed_gives_the_same_tests_and_more_of_them(name: str) -> None:
    assert drawn(name, 10) == drawn(name, 10)
    few, many = drawn(name, 10), drawn(name, 20)
    assert all(test in many for test in few)


@pytest.mark.parametrize("name", ALL)
def test_another_seed_gives_other_tests(name: str) -> None:
    first = {test["text"] for test in drawn(name, seed=1)}
    second = {test["text"] for test in drawn(name, seed=2)}
    assert len(first & second) < len(first) / 2


@pytest.mark.parametrize("name", ALL)
def test_all_tests_and_ids_differ(name: str) -> None:
    tests = drawn(name, 100)
    assert len({test["text"] for test in tests}) == 100
    assert len({test["test_id"] for test in tests}) == 100


def test_tests_are_spread_evenly_over_the_levels() -> None:
    tests = list(generate(find_generator("lists"), "mine", [2, 4], 7, 0))
    assert [test["level"] for test in tests] == [2, 2, 2, 2, 4, 4, 4]
    assert {test["class_id"] for test in tests} == {"mine"}


def test_a_generator_that_runs_dry_yields_what_it_has() -> None:
    def toss(randomness: random.Random, _level: int) -> dict[str, Any]:
        return {"text": randomness.choice(["heads", "tails"])}

    coin = Generator(name="coin", description="", class_entry={}, make=toss)
    assert {test["text"] for test in generate(coin, "coin", [1], 10, 0)} == {"heads", "tails"}


@given(st.integers(min_value=0), st.sampled_from(list(LEVELS)))
def test_an_expression_has_the_value_that_python_gives_it(seed: int, level: int) -> None:
    test = find_generator("arithmetic").make(random.Random(seed), level)
    value = eval(test["text"], {"__builtins__": {}})
    assert value == test["evaluation_module"]["parameters"]["expected_answer"]
    assert json.loads(test["reference_response"]) == {"answer": value}


@given(st.integers(min_value=0), st.lists(st.integers(-20, 20), max_size=8))
def test_the_source_of_steps_does_what_the_steps_do(seed: int, numbers: list[int]) -> None:
    steps = draw_steps(random.Random(seed), 5)
    names: dict[str, Any] = {"numbers": list(numbers)}
    exec("\n".join(step.source for step in steps), names)
    assert names["numbers"] == apply_steps(steps, numbers)


def test_an_unknown_generator_is_named_with_the_nearest() -> None:
    with pytest.raises(ConfigError) as caught:
        find_generator("list")
    assert "`lists`" in caught.value.hint


def test_tests_of_one_template_share_a_group() -> None:
    groups = {test["text"]: test["group"] for test in drawn("strings", n_tests=60)}
    backwards = {
        group for text, group in groups.items() if text.endswith("order:\n1. write it backwards")
    }
    assert len(backwards) == 1
    assert 10 < len(set(groups.values())) < 60
