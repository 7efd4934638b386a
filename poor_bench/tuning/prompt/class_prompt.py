"""The prompt of a test class as a subject: its tests are the cases, its evaluator the feedback."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from poor_bench.config.load import Workspace
from poor_bench.errors import ConfigError, RecordedError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.models.test import EvaluatorSpec, Test, TestClass
from poor_bench.plugins.registry import LoadedEvaluator
from poor_bench.prompts.render import placeholders_of
from poor_bench.prompts.request import template_for
from poor_bench.runner.scorer import spec_of
from poor_bench.scoring.fingerprint import llm_fingerprint
from poor_bench.scoring.verdict import MAX_DETAILS
from poor_bench.tuning.assembly import Assembly
from poor_bench.tuning.prompt.cases import Attempt, Case, CaseFailedError, Solved
from poor_bench.tuning.result_cost import result_cost_usd
from poor_bench.workspace_folder import WorkspaceFolder

_LONGEST_ANSWER = 1000
"""Characters of an answer that is shown as an example."""


class ClassPart(StrEnum):
    """Which text of a class is tuned."""

    TEMPLATE = "template"
    SYSTEM_PROMPT = "system_prompt"


class ClassPrompt:
    """See `poor_bench.tuning.prompt.cases.Subject`."""

    def __init__(
        self,
        config: WorkspaceFolder,
        manager: LLMManager,
        llm: LLM,
        class_id: str,
        part: ClassPart = ClassPart.TEMPLATE,
    ) -> None:
        """Choose the text of a class and its model.

        Raises:
            ConfigError: If the class has no such text, or another text is in force for the LLM.
        """
        self._config = config
        self._manager = manager
        self._llm = llm
        self._part = part
        self._class = config.workspace.test_classes[class_id]
        self.base_text = _text_of(self._class, part, llm)
        is_template = part is ClassPart.TEMPLATE
        self.what = "prompt template" if is_template else "system prompt"
        self.name = f"{self.what} of class {class_id}"
        self.reference: Mapping[str, str] = {
            "kind": "class",
            "class_id": class_id,
            "part": part.value,
        }
        self.placeholders = placeholders_of(self.base_text) if is_template else ()
        self._tests = {
            test.test_id: test for test in config.workspace.tests if test.class_id == class_id
        }
        self.cases: Sequence[Case] = [
            Case(test.test_id, test.level) for test in self._tests.values()
        ]
        scorer = self._parts(self.base_text).scorer
        judged = [test for test in self._tests.values() if scorer.is_judged(test)]
        judges = {judge.id: judge for judge in map(scorer.judge_of, judged)}
        self.llms: Sequence[LLM] = [llm, *judges.values()]
        self.n_calls_per_case = 2 if judged else 1

    @property
    def fingerprint(self) -> str:
        """Changes with everything but the text that is tuned."""
        fingerprints = self._parts("").fingerprints
        facts = [
            (test_id, fingerprints.of_request(self._llm, test), fingerprints.of_evaluator(test))
            for test_id, test in self._tests.items()
        ]
        given = [_given(test) for test in self._tests.values()]
        text = json.dumps([llm_fingerprint(self._llm), facts, given])
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def estimated_cost_usd(self) -> float:
        """Estimate the cost of an attempt with its judge; 0 without prices."""
        tests = list(self._tests.values())
        return self._parts(self.base_text).cost_per_test_usd(self._llm, tests)

    def solved(self, case_id: str, answers: Sequence[str]) -> Solved | None:
        """Find an answer with full score and correct format.

        Returns:
            The first of `answers`, of the test's own reference response and of the evaluator's
            that is right; None where there is none, or an LLM would have to judge it.
        """
        test = self._tests[case_id]
        spec = spec_of(self._config.workspace, test)
        evaluator = self._config.evaluators.get(spec.name)
        if evaluator.questions(spec.parameters):
            return None
        known = (*answers, test.reference_response, evaluator.reference(spec.parameters))
        for answer in filter(None, known):
            if len(answer) <= _LONGEST_ANSWER and _is_right(evaluator, spec, answer):
                return Solved(case_id, _given(test), answer.strip())
        return None

    def attempt(self, text: str, case_id: str, cancelled: Callable[[], bool]) -> Attempt:
        """Ask the LLM with a text, and score what it answers.

        Raises:
            CaseFailedError: If it could not be asked or scored.
            RunCancelledError: If `cancelled()` turned true.
        """
        test = self._tests[case_id]
        result = self._parts(text).try_once(self._llm, test, cancelled)
        if result.failure is not None:
            raise CaseFailedError(case_id, result.failure)
        assert result.score is not None
        is_template = self._part is ClassPart.TEMPLATE
        return Attempt(
            case_id=case_id,
            score=result.score,
            given=_given(test) if is_template else result.prompt,
            answer=result.response,
            feedback=_feedback(result),
            cost_usd=result_cost_usd(result),
            time_ms=result.execution_time_ms,
        )

    def _parts(self, text: str) -> Assembly:
        return Assembly(self._config, self._manager, self._workspace_with(text))

    def _workspace_with(self, text: str) -> Workspace:
        if self._part is ClassPart.TEMPLATE:
            changed = replace(self._class, templates={**self._class.templates, "default": text})
        else:
            changed = replace(self._class, system_prompt=text)
        workspace = self._config.workspace
        classes = {**workspace.test_classes, changed.id: changed}
        return replace(workspace, test_classes=classes)


def _text_of(test_class: TestClass, part: ClassPart, llm: LLM) -> str:
    default = test_class.templates["default"]
    if part is ClassPart.SYSTEM_PROMPT:
        if not test_class.system_prompt:
            raise ConfigError(
                f"class {test_class.id} has no system prompt",
                hint="Add `system_prompt: ...` to the class in test_classes.yaml.",
            )
        return test_class.system_prompt
    if template_for(test_class, llm) != default:
        raise ConfigError(
            f"class {test_class.id} has a separate template for {llm.id}",
            hint="Tune another model, or use `--part system_prompt`.",
        )
    return default


def _is_right(evaluator: LoadedEvaluator, spec: EvaluatorSpec, answer: str) -> bool:
    try:
        verdict = evaluator.evaluate(answer, spec.parameters)
    except RecordedError:
        return False
    return verdict.score == 1.0 and verdict.strict_score in {None, 1.0}


def _given(test: Test) -> str:
    content = test.text if test.text is not None else json.dumps(test.texts, ensure_ascii=False)
    if not test.fields:
        return content
    return f"{content}\n{json.dumps(dict(test.fields), ensure_ascii=False, default=str)}"


def _feedback(result: Result) -> str:
    """Collect the evaluator's details and other evidence."""
    parts = [result.details[:MAX_DETAILS]]
    if result.strict_score is not None:
        parts.append(f"The form of the answer was not kept: {result.strict_score:g} under its rule")
    if result.expected:
        parts.append(f"Expected: {result.expected}. Found: {result.got or 'nothing'}.")
    if result.marks:
        parts.append(f"Remarkable: {', '.join(result.marks)}.")
    return "\n".join(part for part in parts if part)
