"""Workspaces in memory, and evaluators that say what a test wants them to say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from poor_bench.config.load import Workspace
from poor_bench.lint.lint import lint_workspace
from poor_bench.lint.subject import Finding, JudgeFault
from poor_bench.models.llm import LLM
from poor_bench.models.test import EvaluatorSpec, Test, TestClass
from poor_bench.scoring.verdict import AnswerFormat


@dataclass(frozen=True)
class FakeFacts:
    """Evaluators that give full score to their reference response, `right`, and to no other."""

    format: AnswerFormat | None = None
    reference_of: Callable[[EvaluatorSpec], str | None] = field(default=lambda _spec: None)
    right: str = "right"

    def is_judged(self, spec: EvaluatorSpec) -> bool:
        return False

    def wants(self, spec: EvaluatorSpec) -> AnswerFormat | None:
        return self.format

    def judge_faults(self, spec: EvaluatorSpec) -> list[JudgeFault]:
        return []

    def reference(self, spec: EvaluatorSpec) -> str | None:
        return self.reference_of(spec)

    def score(self, spec: EvaluatorSpec, response: str) -> float:
        return float(response == self.right)


def make_test(test_id: str = "t1", text: str | None = "Say it", **more: Any) -> Test:
    parameters = more.pop("parameters", {})
    defaults = {"class_id": "c", "level": 1, "reference_response": "right"}
    spec = EvaluatorSpec("checker", parameters)
    return Test(test_id=test_id, text=text, evaluator=spec, **{**defaults, **more})


def make_llm(name: str = "a", **more: Any) -> LLM:
    return LLM(id=f"scripted:{name}", provider="scripted", name=name, **more)


def make_workspace(
    tests: Sequence[Test],
    *,
    template: str = "{text}",
    overrides: Mapping[str, str] | None = None,
    llms: Sequence[LLM] = (),
    system_prompt: str = "",
) -> Workspace:
    test_class = TestClass(
        id="c",
        templates={"default": template},
        overrides=overrides or {},
        system_prompt=system_prompt,
        evaluator=EvaluatorSpec("checker"),
    )
    llms = llms or (make_llm(),)
    return Workspace(
        data_dir=Path("bench"),
        test_classes={"c": test_class},
        tests=tuple(tests),
        tests_by_id={test.test_id: test for test in tests},
        llms=tuple(llms),
        llms_by_id={llm.id: llm for llm in llms},
    )


def lint(*tests: Test, facts: FakeFacts | None = None, **workspace: Any) -> list[Finding]:
    return lint_workspace(make_workspace(tests, **workspace), facts or FakeFacts())


def codes(findings: Sequence[Finding]) -> list[str]:
    return [finding.problem.code for finding in findings]
