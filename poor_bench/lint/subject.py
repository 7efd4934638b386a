"""What the checks of tests look at (workspace, facts about evaluators) and what they say."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from poor_bench.config.document import Place, place_to_text
from poor_bench.config.load import TESTS_FILE, Workspace
from poor_bench.errors import PoorBenchError
from poor_bench.models.llm import LLM
from poor_bench.models.problem import Problem, Severity
from poor_bench.models.test import EvaluatorSpec, Test, TestClass, merge_specs
from poor_bench.prompts import build_messages, choose_template
from poor_bench.scoring.verdict import AnswerFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A change of one test that cannot make it worse."""

    test_id: str
    place: Place
    """Where within the entry of the test."""
    value: Any
    """What shall stand there."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that is wrong with a test or a class of tests."""

    problem: Problem
    find_fixes: Callable[[], Iterable[Fix]] = tuple
    """Compute the fix; most callers only need the problem."""

    @cached_property
    def fixes(self) -> tuple[Fix, ...]:
        """The fix, where one is safe."""
        return tuple(self.find_fixes())


@dataclass(frozen=True, slots=True)
class JudgeFault:
    """Why a judge or a rubric cannot be used."""

    message: str
    hint: str


class EvaluatorFacts(Protocol):
    """Answers questions about the evaluators of a workspace."""

    def wants(self, spec: EvaluatorSpec) -> AnswerFormat | None:
        """Format that the prompt should ask for; None where the evaluator is silent."""

    def reference(self, spec: EvaluatorSpec) -> str | None:
        """Response that scores 1.0; None where the evaluator cannot tell one."""

    def is_judged(self, spec: EvaluatorSpec) -> bool:
        """True if an LLM judges the responses, so that checking a score costs money."""

    def judge_faults(self, spec: EvaluatorSpec) -> Sequence[JudgeFault]:
        """Reasons why the judges and rubrics of an evaluator cannot be used; missing keys apart."""

    def code_digest(self, spec: EvaluatorSpec) -> str:
        """Hash of the evaluator's code; empty if it cannot be loaded."""

    def score(self, spec: EvaluatorSpec, response: str) -> float:
        """Score a response.

        Raises:
            RecordedError: If it could not be scored.
        """


@dataclass(frozen=True, slots=True)
class RenderedPrompt:
    """What LLMs are told for one test, system prompts included."""

    text: str
    llm_ids: tuple[str, ...]
    """The LLMs that get exactly this."""


@dataclass(frozen=True, slots=True)
class LintSubject:
    """One test under examination."""

    file: str
    index: int
    test: Test
    spec: EvaluatorSpec
    prompts: tuple[RenderedPrompt, ...]

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The evaluator's parameters, merged."""
        return self.spec.parameters

    @property
    def content(self) -> str:
        """The text or texts of the test as one text."""
        test = self.test
        return test.text if test.text is not None else "\n".join(test.texts or ())

    @property
    def labels(self) -> list[str]:
        """Labels of the choices that the parameters name; empty where they name none."""
        labels = [str(label) for label in self.parameters.get("labels") or ()]
        return labels or list(string.ascii_uppercase[: len(self.parameters.get("choices") or ())])

    def finding(
        self,
        code: str,
        place: Place,
        message: str,
        *,
        hint: str,
        severity: Severity = Severity.WARNING,
        fix: Fix | None = None,
    ) -> Finding:
        """Build a finding about this test.

        Args:
            code: Stable short name of the kind of fault.
            place: Where within the entry of the test.
            message: What is wrong, in one sentence.
            hint: What to do about it.
            severity: Error where the test cannot score what it should.
            fix: The fix, where one is safe; see `fix`.
        """
        problem = Problem(
            file=self.file,
            place=place_to_text(("tests", self.index, *place)),
            message=f"test `{self.test.test_id}`: {message}",
            hint=hint,
            severity=severity,
            code=code,
        )
        return Finding(problem=problem, find_fixes=lambda: () if fix is None else (fix,))

    def fix(self, place: Place, value: Any) -> Fix:
        """Build the fix that puts `value` at `place` within the entry of this test."""
        return Fix(test_id=self.test.test_id, place=place, value=value)


def find_right_answer(subject: LintSubject, facts: EvaluatorFacts) -> str | None:
    """Find a right answer; that of the evaluator comes first, as all of it counts."""
    try:
        return facts.reference(subject.spec) or subject.test.reference_response
    except PoorBenchError:
        return None


def list_subjects(workspace: Workspace) -> Iterator[LintSubject]:
    """Yield every test of a workspace, in the order of its file."""
    file = str(workspace.data_dir / TESTS_FILE)
    llms = workspace.enabled_llms or workspace.llms or (_NOBODY,)
    asked_alike: dict[str, list[list[LLM]]] = {}
    for index, test in enumerate(workspace.tests):
        test_class = workspace.test_classes[test.class_id]
        if test_class.id not in asked_alike:
            asked_alike[test_class.id] = _group_llms(llms, test_class)
        spec = merge_specs(test_class.evaluator, test.evaluator)
        prompts = _list_prompts(asked_alike[test_class.id], test_class, test)
        yield LintSubject(file, index, test, spec, prompts)


def _group_llms(llms: Iterable[LLM], test_class: TestClass) -> list[list[LLM]]:
    """Put together the models that get the same prompt of each test of a class."""
    groups: dict[tuple[str, str], list[LLM]] = {}
    for llm in llms:
        told = choose_template(test_class, llm), llm.base_system_prompt or ""
        groups.setdefault(told, []).append(llm)
    return list(groups.values())


def _list_prompts(
    asked_alike: Iterable[Sequence[LLM]], test_class: TestClass, test: Test
) -> tuple[RenderedPrompt, ...]:
    """Render the different prompts of a test, once for the models that are asked alike."""
    llm_ids: dict[str, list[str]] = {}
    for llms in asked_alike:
        messages = build_messages(llms[0], test_class, test)
        text = "\n\n".join(message.content for message in messages)
        llm_ids.setdefault(text, []).extend(llm.id for llm in llms)
    return tuple(RenderedPrompt(text, tuple(ids)) for text, ids in llm_ids.items())


_NOBODY = LLM(id="", provider="", name="")
"""Gets the default template, where there is no model."""
