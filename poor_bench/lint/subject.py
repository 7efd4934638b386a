"""A test as the checks look at it: with its evaluator, its place and its rendered prompts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from poor_bench.config.files import TESTS_FILE
from poor_bench.config.report import Place, place_to_text
from poor_bench.config.workspace import Workspace
from poor_bench.lint.finding import Finding, Fix
from poor_bench.models.evaluator_spec import EvaluatorSpec, merge_specs
from poor_bench.models.llm import LLM
from poor_bench.models.problem import Problem, Severity
from poor_bench.models.test import Test
from poor_bench.prompts.messages import build_messages


@dataclass(frozen=True, slots=True)
class RenderedPrompt:
    """What LLMs are told for one test, system prompts included."""

    text: str
    llm_ids: tuple[str, ...]
    """The LLMs that get exactly this."""


@dataclass(frozen=True, slots=True)
class Subject:
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
        """Return a finding about this test.

        Args:
            code: Stable short name of the kind of fault.
            place: Where within the entry of the test.
            message: What is wrong, in one sentence.
            hint: How to mend it.
            severity: Error where the test cannot score what it should.
            fix: How to mend it, where that is safe; see `fix`.
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
        """Return the fix that puts `value` at `place` within the entry of this test."""
        return Fix(test_id=self.test.test_id, place=place, value=value)


def subjects_of(workspace: Workspace) -> Iterator[Subject]:
    """Yield every test of a workspace, in the order of its file."""
    file = str(workspace.data_dir / TESTS_FILE)
    for index, test in enumerate(workspace.tests):
        test_class = workspace.test_classes[test.class_id]
        spec = merge_specs(test_class.evaluator, test.evaluator)
        yield Subject(file, index, test, spec, _prompts(workspace, test))


def _prompts(workspace: Workspace, test: Test) -> tuple[RenderedPrompt, ...]:
    """Return the different prompts of a test; without any LLM, the one of the default template."""
    test_class = workspace.test_classes[test.class_id]
    llms = workspace.enabled_llms or workspace.llms or (_NOBODY,)
    llm_ids: dict[str, list[str]] = {}
    for llm in llms:
        messages = build_messages(llm, test_class, test)
        text = "\n\n".join(message.content for message in messages)
        llm_ids.setdefault(text, []).append(llm.id)
    return tuple(RenderedPrompt(text, tuple(ids)) for text, ids in llm_ids.items())


_NOBODY = LLM(id="", provider="", name="")
