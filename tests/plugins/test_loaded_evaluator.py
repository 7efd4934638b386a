from __future__ import annotations

import pytest

from poor_bench.errors import EvaluatorError, PluginError, SandboxError
from poor_bench.models.failure import FailureKind
from poor_bench.plugins import load_evaluators
from poor_bench.scoring import Verdict
from poor_bench.scoring.judging import JudgeAnswer, JudgeQuestion
from poor_bench.scoring.verdict import AnswerFormat

COMPLETE = '''"""Says yes to the right word.

More about it.
"""
from __future__ import annotations
from pydantic import BaseModel, ConfigDict, Field

class Parameters(BaseModel):
    model_config = ConfigDict(extra="forbid")
    word: str = Field(description="The right word.")
    times: int = Field(default=1, ge=1)

def evaluate(response, parameters):
    return (1.0 if response == parameters["word"] else 0.0), "compared"

def wants(parameters):
    return "text"

def reference(parameters):
    return parameters["word"]
'''
BOTH = '''"""Both of two."""
from poor_bench.scoring.judging import Part

def evaluate(response, parameters, *, context):
    scores = [context.evaluate_by_name(n, response, {"word": w}).score for n, w in parameters["of"]]
    return min(scores), "both"

def parts(parameters):
    return {f"of[{i}]": Part(name=n, parameters={"word": w})
            for i, (n, w) in enumerate(parameters["of"])}
'''


def load(write, name, source):
    return load_evaluators([write(name, source)]).get(name)


def test_plain_pair_becomes_a_verdict(write):
    evaluator = load(write, "word", COMPLETE)
    verdict = evaluator.evaluate("yes", {"word": "yes"})
    assert isinstance(verdict, Verdict)
    assert verdict == (1.0, "compared")


RETURNED = ["None", "0.5", "(0.5,)", "(2, 'x')", "(True, 'x')", "(float('nan'), 'x')", "(1, 2)"]


@pytest.mark.parametrize("returned", RETURNED)
def test_illegal_return_is_a_failure_of_ours(write, returned):
    evaluator = load(write, "bad", f"def evaluate(response, parameters):\n    return {returned}")
    with pytest.raises(EvaluatorError, match="'bad'") as caught:
        evaluator.evaluate("", {})
    assert caught.value.kind is FailureKind.EVALUATOR


def test_exception_is_a_failure_of_ours_and_names_itself(write):
    evaluator = load(write, "bad", "def evaluate(response, parameters):\n    return {}['k']")
    with pytest.raises(EvaluatorError, match=r"'bad' failed: KeyError: 'k'"):
        evaluator.evaluate("", {})


def test_leaving_the_program_is_a_failure_of_ours(write):
    source = "import sys\ndef evaluate(response, parameters):\n    sys.exit('no key')"
    with pytest.raises(EvaluatorError, match=r"'bad' failed: SystemExit: no key"):
        load(write, "bad", source).evaluate("", {})
    source += "\ndef wants(parameters):\n    sys.exit(2)"
    with pytest.raises(PluginError, match=r"bad.py: wants failed: SystemExit"):
        load(write, "bad", source).wants({})


def test_error_of_ours_passes_unchanged(write):
    source = (
        "from poor_bench.errors import SandboxError\n"
        "from poor_bench.models.failure import FailureKind\n"
        "def evaluate(response, parameters):\n"
        "    raise SandboxError('no fork', kind=FailureKind.SANDBOX)"
    )
    with pytest.raises(SandboxError, match="no fork"):
        load(write, "bad", source).evaluate("", {})


def test_wrong_parameters_are_all_found_with_place_and_nearest_name(write):
    evaluator = load(write, "word", COMPLETE)
    problems = evaluator.check_parameters({"wrod": "yes", "times": 0})
    assert {problem.place for problem in problems} == {"word", "wrod", "times"}
    (unknown,) = (problem for problem in problems if problem.place == "wrod")
    assert unknown.message == "unknown parameter"
    assert "`word`" in unknown.hint


def test_right_parameters_have_no_problems(write):
    assert load(write, "word", COMPLETE).check_parameters({"word": "yes"}) == []


def test_evaluator_without_model_takes_any_parameters(write):
    evaluator = load(write, "any", "def evaluate(response, parameters):\n    return 1.0, ''")
    assert evaluator.check_parameters({"whatever": 1}) == []
    assert evaluator.parameters_schema() == {}
    assert evaluator.description == ""
    assert evaluator.wants({}) is None
    assert evaluator.reference({}) is None


def test_evaluator_describes_itself(write):
    evaluator = load(write, "word", COMPLETE)
    assert evaluator.description == "Says yes to the right word."
    schema = evaluator.parameters_schema()
    assert schema["properties"]["word"]["description"] == "The right word."
    assert evaluator.wants({}) is AnswerFormat.TEXT
    assert evaluator.reference({"word": "yes"}) == "yes"


@pytest.mark.parametrize("function", ["wants", "reference", "parts"])
def test_optional_function_that_breaks_is_reported_by_file(write, function):
    source = f"def evaluate(r, p):\n    return 1.0, ''\ndef {function}(p):\n    return p['no']"
    evaluator = load(write, "bad", source)
    with pytest.raises(PluginError, match=rf"bad.py: {function} failed: KeyError"):
        evaluator.code_digest_for({}) if function == "parts" else getattr(evaluator, function)({})


def test_unknown_format_is_reported_by_file(write):
    source = "def evaluate(r, p):\n    return 1.0, ''\ndef wants(p):\n    return 'poem'"
    with pytest.raises(PluginError, match=r"bad.py: wants failed: ValueError: 'poem'"):
        load(write, "bad", source).wants({})


def test_evaluator_reaches_others_by_name(write):
    write("word", COMPLETE)
    both = load(write, "both", BOTH)
    assert both.evaluate("yes", {"of": [("word", "yes"), ("word", "yes")]}).score == 1.0
    assert both.evaluate("yes", {"of": [("word", "yes"), ("word", "no")]}).score == 0.0


def test_parameters_of_parts_are_checked_too(write):
    write("word", COMPLETE)
    both = load(write, "both", BOTH)
    problems = both.check_parameters({"of": [("word", 3), ("wrod", "x")]})
    assert [problem.place for problem in problems] == ["of[0].parameters.word", "of[1].name"]
    assert "`word`" in problems[1].hint


def test_code_digest_changes_with_the_file(write):
    before = load(write, "word", COMPLETE).code_digest
    assert load(write, "word", COMPLETE).code_digest == before
    assert load(write, "word", COMPLETE + "\n# changed").code_digest != before


def test_code_digest_of_an_evaluator_without_parts_is_its_own(write):
    evaluator = load(write, "word", COMPLETE)
    assert evaluator.code_digest_for({"word": "yes"}) == evaluator.code_digest


def test_code_digest_for_parameters_changes_with_a_parts_file(write):
    parameters = {"of": [("word", "yes")]}
    write("word", COMPLETE)
    before = load(write, "both", BOTH).code_digest_for(parameters)
    write("word", COMPLETE + "\n# changed")
    assert load(write, "both", BOTH).code_digest_for(parameters) != before


JUDGED = '''"""Asks a judge."""
from poor_bench.scoring.judging import JudgeQuestion

def question(parameters):
    return JudgeQuestion(criteria=[parameters["word"]], judge="ollama:j")

def evaluate(response, parameters, *, judge):
    return judge(response, question(parameters)).overall_score / 10, "judged"
'''


def give_seven(response, question):
    return JudgeAnswer(overall_score=7.0, scores={})


def test_a_judge_is_handed_in_where_it_is_asked_for(write):
    judged = load(write, "judged", JUDGED)
    assert judged.evaluate("x", {"word": "kind"}, give_seven).score == pytest.approx(0.7)
    assert judged.questions({"word": "kind"}) == (
        JudgeQuestion(criteria=("kind",), judge="ollama:j"),
    )
    assert load(write, "word", COMPLETE).questions({"word": "yes"}) == ()


def test_parts_ask_the_judge_too(write):
    write("judged", JUDGED)
    both = load(write, "both", BOTH)
    parameters = {"of": [("judged", "kind"), ("judged", "short")]}
    assert both.evaluate("x", parameters, give_seven).score == pytest.approx(0.7)
    assert [question.criteria for question in both.questions(parameters)] == [
        ("kind",),
        ("short",),
    ]


def test_without_a_judge_there_is_a_failure_of_its_own_kind(write):
    with pytest.raises(EvaluatorError, match="needs a judge") as caught:
        load(write, "judged", JUDGED).evaluate("x", {"word": "kind"})
    assert caught.value.kind is FailureKind.JUDGE


def test_an_evaluator_that_does_not_say_its_question_asks_the_usual_one(write):
    source = "def evaluate(r, p, *, judge):\n    return 1.0, ''"
    assert load(write, "silent", source).questions({}) == (JudgeQuestion(),)


def test_a_question_that_is_none_is_reported_by_file(write):
    source = JUDGED.replace("return JudgeQuestion(", "return dict(")
    with pytest.raises(PluginError, match=r"bad.py: question failed: TypeError: expected a Judge"):
        load(write, "bad", source).questions({"word": "x"})
