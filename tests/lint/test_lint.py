from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from poor_bench.errors import EvaluatorError, SandboxError
from poor_bench.lint.lint import list_problems
from poor_bench.models.failure import FailureKind
from poor_bench.models.problem import Severity
from poor_bench.models.test import EvaluatorSpec, Test
from tests.lint.workspaces import FakeFacts, codes, lint, make_llm, make_test, make_workspace


def test_a_reference_that_fails_is_an_error() -> None:
    (finding,) = lint(make_test(reference_response="wrong"))
    assert (finding.problem.code, finding.problem.severity) == ("reference-fails", Severity.ERROR)
    assert "scores 0" in finding.problem.message


def test_an_empty_response_that_passes_is_an_error() -> None:
    found = lint(make_test(reference_response=""), facts=FakeFacts(right=""))
    assert codes(found) == ["blank-passes"]
    assert found[0].problem.severity is Severity.ERROR


def test_an_evaluator_that_breaks_is_reported_for_the_test() -> None:
    class Broken(FakeFacts):
        def score(self, spec: EvaluatorSpec, response: str) -> float:
            raise EvaluatorError("it broke", kind=FailureKind.EVALUATOR)

    found = lint(make_test(), facts=Broken())
    assert codes(found) == ["reference-fails", "blank-passes"]
    assert [finding.problem.message.split("response ")[1] for finding in found] == [
        "cannot be scored: it broke"
    ] * 2
    assert {finding.problem.hint for finding in found} == {
        "correct the evaluator or its `parameters`: it must score any response"
    }


def test_a_sandbox_that_does_not_start_says_nothing_against_the_test() -> None:
    class Unlocked(FakeFacts):
        def score(self, spec: EvaluatorSpec, response: str) -> float:
            raise SandboxError("no processes", kind=FailureKind.SANDBOX)

    found = lint(make_test(), facts=Unlocked())
    assert {finding.problem.severity for finding in found} == {Severity.WARNING}
    assert found[0].problem.message.endswith("cannot be checked on this machine: no processes")
    assert "doctor" in found[0].problem.hint


def test_tests_without_reference_are_one_finding_with_fixes_that_hold() -> None:
    facts = FakeFacts(reference_of=lambda spec: spec.parameters.get("known"))
    found = lint(
        make_test("a", "A", reference_response=None, parameters={"known": "right"}),
        make_test("b", "B", reference_response=None, parameters={"known": "wrong"}),
        make_test("c", "C", reference_response=None),
        facts=facts,
    )
    assert codes(found) == ["no-reference"]
    assert [(fix.test_id, fix.place, fix.value) for fix in found[0].fixes] == [
        ("a", ("reference_response",), "right")
    ]


def test_levels_that_are_left_out_are_named() -> None:
    (finding,) = lint(make_test("a", "A", level=2), make_test("b", "B", level=5))
    assert finding.problem.code == "level-without-tests"
    assert "level 1, 3, 4" in finding.problem.message


def test_another_number_of_answers_than_texts_is_an_error() -> None:
    facts = FakeFacts(reference_of=lambda _spec: json.dumps(["x", "y"]))
    (finding,) = lint(make_test(text=None, texts=("a", "b", "c")), facts=facts)
    assert (finding.problem.code, finding.problem.severity) == ("length-mismatch", Severity.ERROR)


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"num_ctx": 100, "max_tokens": 50}, ["prompt-too-long"]),
        ({"num_ctx": 200, "max_tokens": 50}, []),
        ({"num_ctx": 300}, ["prompt-too-long"]),
        ({}, []),
    ],
)
def test_prompts_that_cannot_fit_the_context_are_found(
    parameters: dict[str, Any], expected: list[str]
) -> None:
    found = lint(make_test(text="word " * 100), llms=[make_llm(parameters=parameters)])
    assert codes(found) == expected


def test_the_same_question_twice_is_a_warning() -> None:
    (finding,) = lint(make_test("a", "What  is it?"), make_test("b", "what is it? "))
    assert (finding.problem.code, finding.problem.place) == ("duplicate-test", "tests[1]")
    assert "`a`" in finding.problem.message


def test_the_same_question_with_another_answer_is_an_error() -> None:
    (finding,) = lint(
        make_test("a", "What is it?", parameters={"expected": 1}),
        make_test("b", "What is it?", parameters={"expected": 2}),
    )
    assert finding.problem.code == "contradicting-tests"
    assert finding.problem.severity is Severity.ERROR


def test_spaces_at_signs_make_no_other_question() -> None:
    found = lint(make_test("a", "What is 2+2?"), make_test("b", "What is 2 + 2 ?"))
    assert codes(found) == ["duplicate-test"]
    assert lint(make_test("a", "no way"), make_test("b", "noway")) == []


def test_other_parameters_with_the_same_right_answer_contradict_nothing() -> None:
    facts = FakeFacts(reference_of=lambda _spec: "right")
    found = lint(
        make_test("a", "What is it?", parameters={"expected": "4"}),
        make_test("b", "What is it?", parameters={"expected": 4}),
        facts=facts,
    )
    assert codes(found) == ["duplicate-test"]


def code_test(**parameters: Any) -> Test:
    test = make_test(text="Write Python code")
    return replace(test, evaluator=EvaluatorSpec("python_evaluator", parameters))


@pytest.mark.parametrize(
    ("parameters", "severity"),
    [
        ({}, Severity.ERROR),
        ({"test_cases": []}, Severity.ERROR),
        ({"test_cases": [{"input": 1, "expected_output": None}]}, Severity.WARNING),
        ({"test_cases": [{"input": 1, "expected_python": "None"}]}, Severity.WARNING),
    ],
    ids=str,
)
def test_code_tests_that_try_nothing_are_found(parameters: Any, severity: Severity) -> None:
    (finding,) = lint(code_test(**parameters))
    assert (finding.problem.code, finding.problem.severity) == ("nothing-tried", severity)


@pytest.mark.parametrize(
    "parameters",
    [
        {"check_source": "def check(candidate): ..."},
        {"test_cases": [{"input": 1, "expected_output": 0}]},
        {"test_cases": [{"expected_output": None}, {"expected_python": "{1}"}]},
    ],
    ids=str,
)
def test_code_tests_that_try_something_are_fine(parameters: Any) -> None:
    assert lint(code_test(**parameters)) == []


def test_the_same_text_with_other_fields_is_another_question() -> None:
    template = "{text} in {language}"
    tests = [make_test(name, "Hello", fields={"language": name}) for name in ("French", "German")]
    assert lint(*tests, template=template) == []


STORY = (
    "Anna walks to the market with her basket and buys 12 apples and a loaf of bread for {}. "
    "How much does she pay in all?"
)


def test_long_texts_that_hardly_differ_are_found() -> None:
    (finding,) = lint(
        make_test("a", STORY.format("her mother")), make_test("b", STORY.format("her Mothers"))
    )
    assert (finding.problem.code, finding.problem.place) == ("near-duplicate", "tests[1]")


def test_long_texts_that_hardly_differ_may_share_a_group() -> None:
    texts = STORY.format("her mother"), STORY.format("her Mothers")
    assert lint(*(make_test(f"t{n}", text, group="g") for n, text in enumerate(texts))) == []


def test_texts_with_other_numbers_are_other_tests_of_one_group() -> None:
    texts = [STORY.format("her mother").replace("12", number) for number in ("12", "13", "14")]
    (finding,) = lint(*(make_test(f"t{n}", text) for n, text in enumerate(texts)))
    assert finding.problem.code == "shared-template"
    assert "the same `group`" in finding.problem.hint
    named = [make_test(f"t{n}", text, group="stall") for n, text in enumerate(texts)]
    assert lint(*named) == []


def test_short_texts_are_alike_by_nature() -> None:
    assert lint(make_test("a", "Is five odd?"), make_test("b", "Is nine odd?")) == []


class CountingFacts(FakeFacts):
    """Counts what is scored; its evaluator has a version."""

    version = "1"
    n_scored = 0

    def code_digest(self, spec: EvaluatorSpec) -> str:
        return CountingFacts.version

    def score(self, spec: EvaluatorSpec, response: str) -> float:
        CountingFacts.n_scored += 1
        return super().score(spec, response)


def checked_in(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[list[str], int]]:
    """Build a function that lists the problems of tests, and counts the responses scored for it."""
    monkeypatch.setattr(CountingFacts, "version", "1")

    def check(*tests: Test, facts: CountingFacts | None = None) -> tuple[list[str], int]:
        monkeypatch.setattr(CountingFacts, "n_scored", 0)
        workspace = replace(make_workspace(tests), data_dir=folder)
        problems = list_problems(workspace, facts or CountingFacts())
        return [problem.code for problem in problems], CountingFacts.n_scored

    return check


def test_what_was_found_is_kept_until_a_test_or_an_evaluator_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check, wrong = checked_in(tmp_path, monkeypatch), make_test(reference_response="wrong")
    assert check(wrong) == (["reference-fails"], 2)
    assert check(wrong) == (["reference-fails"], 0)
    assert check(make_test()) == ([], 2)
    monkeypatch.setattr(CountingFacts, "version", "2")
    assert check(make_test()) == ([], 2)
    assert check(make_test()) == ([], 0)


def test_what_was_kept_is_checked_anew_where_the_file_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = checked_in(tmp_path, monkeypatch)
    check(make_test())
    [file] = (tmp_path / "index").iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    assert check(make_test()) == ([], 2)


def test_a_response_without_a_score_and_judged_tests_are_checked_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(CountingFacts):
        def score(self, spec: EvaluatorSpec, response: str) -> float:
            raise SandboxError("no sandbox")

    class Judged(CountingFacts):
        def is_judged(self, spec: EvaluatorSpec) -> bool:
            return True

    check = checked_in(tmp_path, monkeypatch)
    for facts in (Broken(), Judged()):
        check(make_test(), facts=facts)
        assert not (tmp_path / "index").exists()
