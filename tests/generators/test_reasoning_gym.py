from __future__ import annotations

import random
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from poor_bench.errors import ConfigError, MissingExtraError
from poor_bench.generators.families import find_generator
from poor_bench.generators.generator import generate
from poor_bench.generators.reasoning_gym import list_family_names, make_reasoning_gym_generator


class FakeCurriculum:
    level = 0

    def set_global_level(self, level: int) -> None:
        self.level = level

    def generate_configuration(self, settings: dict[str, int]) -> SimpleNamespace:
        return SimpleNamespace(level=self.level, **settings)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Stands in for the library; the family `gcd` has levels, `lcm` has none."""
    answers = ["42"]

    def make(settings: SimpleNamespace) -> list[dict[str, str]]:
        question = f" level {settings.level}, seed {settings.seed} "
        return [{"question": question, "answer": answers[0]}]

    def create_dataset(name: str, seed: int, size: int) -> list[dict[str, str]]:
        return make(SimpleNamespace(level="none", seed=seed))

    factory: Any = ModuleType("reasoning_gym.factory")
    factory.DATASETS = {"gcd": (make, None)}
    factory.has_curriculum = lambda name: name == "gcd"
    factory.create_curriculum = lambda name: FakeCurriculum()
    factory.create_dataset = create_dataset
    monkeypatch.setitem(sys.modules, "reasoning_gym", ModuleType("reasoning_gym"))
    monkeypatch.setitem(sys.modules, "reasoning_gym.factory", factory)
    return answers


def test_levels_count_from_the_first_of_the_library(answers: list[str]) -> None:
    generator = find_generator("reasoning_gym.gcd")
    test = generator.make(random.Random(1), 3)
    assert test["text"].startswith("level 2, seed")
    assert test["reference_response"] == "42"


def test_families_without_levels_ignore_them(answers: list[str]) -> None:
    test = find_generator("reasoning_gym.lcm").make(random.Random(1), 3)
    assert test["text"].startswith("level none")


def test_the_same_seed_gives_the_same_tests(answers: list[str]) -> None:
    generator = find_generator("reasoning_gym.gcd")
    first, second = (list(generate(generator, "c", [1, 2], 4, 7)) for _ in range(2))
    assert first == second
    assert len({test["text"] for test in first}) == 4


@pytest.mark.parametrize(
    ("answer", "evaluator", "expected"),
    [
        ("42", "number_match", "42"),
        ("-0.5", "number_match", "-0.5"),
        ("['-9.4', '3']", "list_match", ["-9.4", "3"]),
        ("True", "exact_match", "True"),
        ("Monday", "exact_match", "Monday"),
        ("0 1\n1 0", "exact_match", "0 1\n1 0"),
        ("[]", "exact_match", "[]"),
    ],
)
def test_answers_are_compared_by_their_kind(
    answers: list[str], answer: str, evaluator: str, expected: Any
) -> None:
    answers[0] = answer
    test = find_generator("reasoning_gym.gcd").make(random.Random(1), 1)
    assert test["evaluation_module"] == {"name": evaluator, "parameters": {"expected": expected}}


def test_without_the_library_the_way_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "reasoning_gym", None)
    with pytest.raises(MissingExtraError) as caught:
        make_reasoning_gym_generator("reasoning_gym.gcd")
    assert "pip install reasoning-gym" in caught.value.hint


def test_there_are_a_hundred_families() -> None:
    names = list_family_names()
    assert len(names) == len(set(names)) == 100


def test_unknown_families_are_told_apart() -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        find_generator("reasoning_gym.composite")


class FakePuzzles:
    """Puzzles of level 1 and 2 only; the library proves the answer "ABBA"."""

    def __init__(self, level: int = 0) -> None:
        self._level = level

    def __getitem__(self, _index: int) -> dict[str, Any]:
        if self._level > 1:
            raise AssertionError("no such size")
        metadata = {"example_correct_answer": "ABBA", "moves": (1, 2)}
        return {"question": f"level {self._level}", "answer": None, "metadata": metadata}

    def score_answer(self, answer: str, entry: dict[str, Any]) -> float:
        return float(answer == "ABBA" and entry["metadata"]["moves"] == [1, 2])


@pytest.fixture
def puzzles(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    factory: Any = ModuleType("reasoning_gym.factory")
    factory.DATASETS = {"rubiks_cube": (lambda settings: FakePuzzles(settings.level), None)}
    factory.has_curriculum = lambda name: True
    factory.create_curriculum = lambda name: FakeCurriculum()
    factory.create_dataset = lambda name, seed, size: FakePuzzles()
    monkeypatch.setitem(sys.modules, "reasoning_gym", ModuleType("reasoning_gym"))
    monkeypatch.setitem(sys.modules, "reasoning_gym.factory", factory)
    return factory


def test_puzzles_are_scored_by_the_library(puzzles: ModuleType) -> None:
    test = find_generator("reasoning_gym.rubiks_cube").make(random.Random(1), 1)
    assert test["reference_response"] == "ABBA"
    scorer = test["evaluation_module"]
    assert scorer["name"] == "reasoning_gym_scorer"
    assert scorer["parameters"]["family"] == "rubiks_cube"
    assert scorer["parameters"]["metadata"]["moves"] == [1, 2]


def test_levels_beyond_the_library_are_made_at_its_hardest(puzzles: ModuleType) -> None:
    test = find_generator("reasoning_gym.rubiks_cube").make(random.Random(1), 5)
    assert test["text"] == "level 1"


def test_a_puzzle_whose_answer_is_not_proven_is_refused(
    puzzles: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakePuzzles, "score_answer", lambda *_: 0.5)
    with pytest.raises(ConfigError, match="no sound `rubiks_cube`"):
        find_generator("reasoning_gym.rubiks_cube").make(random.Random(1), 3)
