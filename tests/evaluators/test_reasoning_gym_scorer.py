from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from evaluators import reasoning_gym_scorer
from evaluators.reasoning_gym_scorer import evaluate, reference
from poor_bench.generators.families import find_generator
from poor_bench.sandbox import CaseEnd, CaseOutcome, LoadEnd, LoadOutcome, ProgramOutcome

PARAMETERS = {"family": "coin_flip", "example": "0.5", "metadata": {"num_trials": 1}}
Answer = Callable[[CaseOutcome | LoadOutcome], list[Any]]


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Answer:
    """Stands in for the sandbox with the library in it; returns what it was asked."""
    monkeypatch.setattr(reasoning_gym_scorer, "find_spec", lambda _name: object())

    def answering(outcome: CaseOutcome | LoadOutcome) -> list[Any]:
        asked: list[Any] = []
        is_case = isinstance(outcome, CaseOutcome)
        load = LoadOutcome(end=LoadEnd.LOADED) if is_case else outcome
        cases = (outcome,) if is_case else ()

        def run(_program: object, inputs: list[Any]) -> ProgramOutcome:
            asked.extend(inputs)
            return ProgramOutcome(load=load, cases=cases)

        monkeypatch.setattr(reasoning_gym_scorer, "run_cases", run)
        return asked

    return answering


def returned(value: object) -> CaseOutcome:
    return CaseOutcome(end=CaseEnd.RETURNED, value=value)


def test_the_known_answer_needs_no_library(library: Answer) -> None:
    asked = library(returned(0.0))
    assert evaluate("<think>hm</think> 0.5 ", PARAMETERS).score == 1.0
    assert not asked


def test_the_score_is_that_of_the_library(library: Answer) -> None:
    asked = library(returned(0.25))
    assert evaluate("1/2", PARAMETERS).score == 0.25
    entry = {"question": "", "answer": None, "metadata": {"num_trials": 1}}
    assert asked == [["coin_flip", "1/2", entry]]


@pytest.mark.parametrize(
    ("given", "score"),
    [
        (1.5, 1.0),
        (-1.0, 0.0),
        (0.01, 0.0),
        (0.05, 0.0),
        (0.1, 0.1),
        (float("nan"), 0.0),
        (True, 0.0),
        ("1", 0.0),
    ],
)
def test_scores_stay_within_bounds_whatever_comes_back(
    library: Answer, given: object, score: float
) -> None:
    library(returned(given))
    assert evaluate("1/2", PARAMETERS).score == score


def test_a_fenced_answer_breaks_the_format_only(library: Answer) -> None:
    asked = library(returned(1.0))
    verdict = evaluate("```\n1/2\n```", PARAMETERS)
    assert (verdict.score, verdict.strict_score) == (1.0, 0.0)
    assert asked[0][1] == "1/2"


@pytest.mark.parametrize("end", [CaseEnd.TIMED_OUT, CaseEnd.DIED, CaseEnd.RAISED])
def test_an_answer_that_the_rules_cannot_read_is_wrong(library: Answer, end: CaseEnd) -> None:
    library(CaseOutcome(end=end))
    verdict = evaluate("9**9", PARAMETERS)
    assert verdict.score == 0.0
    assert "cannot read" in verdict.details


def test_a_library_that_does_not_load_is_a_failure_of_ours(library: Answer) -> None:
    library(LoadOutcome(end=LoadEnd.DIED, cause="out of memory"))
    with pytest.raises(RuntimeError, match="cannot be loaded: out of memory"):
        evaluate("1/2", PARAMETERS)


@pytest.mark.parametrize(
    ("family", "answer"),
    [
        ("countdown", "(1).__class__"),
        ("puzzle24", "__import__('os').getpid()"),
        ("simple_integration", "open('x')"),
        ("n_queens", "[exit()]"),
    ],
)
def test_answers_that_the_library_would_run_never_reach_it(
    library: Answer, family: str, answer: str
) -> None:
    asked = library(returned(1.0))
    verdict = evaluate(answer, {**PARAMETERS, "family": family})
    assert verdict.score == 0.0
    assert not asked


def test_expressions_reach_it_in_safe_notation(library: Answer) -> None:
    asked = library(returned(1.0))
    evaluate(r"2 \times (3+4)", {**PARAMETERS, "family": "countdown"})
    assert asked[0][1] == "2*(3+4)"


def test_numbers_that_are_given_must_be_used(library: Answer) -> None:
    library(returned(1.0))
    given = {**PARAMETERS, "family": "puzzle24", "metadata": {"numbers": [3, 3, 3, 6]}}
    assert evaluate("6+6+6+6", given).score == 0.0
    assert evaluate("3*3*3-3", given).score == 0.0
    assert evaluate("6*(3/3+3)", given).score == 1.0


def test_without_the_library_the_parameters_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reasoning_gym_scorer, "find_spec", lambda _name: None)
    with pytest.raises(ValidationError, match="pip install reasoning-gym"):
        reference(PARAMETERS)


@pytest.mark.skipif(
    importlib.util.find_spec("reasoning_gym") is None,
    reason="reasoning-gym is not installed (extra `generators`; it needs a C compiler)",
)
@pytest.mark.parametrize("family", ["countdown", "graph_color", "n_queens", "tower_of_hanoi"])
def test_the_real_library_scores_its_own_entries(family: str) -> None:
    test = find_generator(f"reasoning_gym.{family}").make(random.Random(9), 2)
    parameters = test["evaluation_module"]["parameters"]
    unknown = {**parameters, "example": "-"}
    assert evaluate(test["reference_response"], unknown).score == 1.0
    assert evaluate("zzz 17", unknown).score == 0.0
