from __future__ import annotations

from typing import Any

import pytest

from poor_bench.errors import EvaluatorError
from poor_bench.models.failure import FailureKind
from poor_bench.plugins import LoadedEvaluator, find_project_evaluators, load_evaluators
from poor_bench.scoring.judging import JudgeAnswer, JudgeQuestion


class FakeJudge:
    def __init__(self, **more: Any) -> None:
        scores = {"rhyme": 8.0, "length": 6.0}
        self.answer = JudgeAnswer(
            **{"overall_score": 7.0, "scores": scores, "judge": "ollama:j"} | more
        )
        self.asked: list[tuple[str, JudgeQuestion]] = []

    def __call__(self, response: str, question: JudgeQuestion) -> JudgeAnswer:
        self.asked.append((response, question))
        return self.answer


@pytest.fixture
def evaluator() -> LoadedEvaluator:
    return load_evaluators([find_project_evaluators()]).get("llm_judge_evaluator")


def test_the_score_is_the_judges_as_a_share_of_ten(evaluator: LoadedEvaluator) -> None:
    verdict = evaluator.evaluate("a poem", {}, FakeJudge())
    assert verdict.score == pytest.approx(0.7)
    assert "ollama:j gives 7.0 of 10" in verdict.details
    assert "rhyme: 8.0" in verdict.details


def test_the_judge_is_asked_what_the_parameters_say(evaluator: LoadedEvaluator) -> None:
    parameters = {
        "judge": "ollama:j",
        "rubric": "### 1. RHYME (100%)",
        "criteria": "is short",
        "expected_behavior": "rhymes",
        "samples": 3,
    }
    judge = FakeJudge()
    evaluator.evaluate("a poem", parameters, judge)
    ((response, question),) = judge.asked
    assert response == "a poem"
    assert question == JudgeQuestion(
        judge="ollama:j",
        rubric="### 1. RHYME (100%)",
        criteria=("is short",),
        expected_behavior="rhymes",
        samples=3,
    )
    assert evaluator.questions(parameters) == (question,)


@pytest.mark.parametrize(("threshold", "word"), [(7, ", approved"), (7.5, "not approved")])
def test_the_threshold_is_told_and_does_not_move_the_score(
    evaluator: LoadedEvaluator, threshold: float, word: str
) -> None:
    verdict = evaluator.evaluate("a poem", {"threshold": threshold}, FakeJudge())
    assert verdict.score == pytest.approx(0.7)
    assert word in verdict.details


def test_what_speaks_against_the_judgement_is_told(evaluator: LoadedEvaluator) -> None:
    judge = FakeJudge(spread=3.0, is_self_judged=True, warnings=("clamped",), feedback=("nice", ""))
    details = evaluator.evaluate("a poem", {}, judge).details
    for text in ("spread over the samples: 3.0", "self-judging", "note: clamped", "- nice"):
        assert text in details


def test_without_a_judge_there_is_a_failure_and_no_score(evaluator: LoadedEvaluator) -> None:
    with pytest.raises(EvaluatorError) as caught:
        evaluator.evaluate("a poem", {})
    assert caught.value.kind is FailureKind.JUDGE


@pytest.mark.parametrize(
    "parameters",
    [{"samples": 0}, {"threshold": 11}, {"rubrik": "x"}, {"criteria": 3}],
)
def test_wrong_parameters_are_found_before_a_run(
    evaluator: LoadedEvaluator, parameters: dict[str, Any]
) -> None:
    assert evaluator.check_parameters(parameters)
