"""What the checks of a workspace ask of its evaluators, answered by the registry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poor_bench.errors import ConfigError, PluginError
from poor_bench.models.llm import LLM
from poor_bench.models.test import EvaluatorSpec
from poor_bench.plugins.registry import EvaluatorRegistry
from poor_bench.scoring.verdict import AnswerFormat

if TYPE_CHECKING:
    from poor_bench.judge.response_judging import WorkspaceJudges
    from poor_bench.lint.subject import JudgeFault


class ParameterChecks:
    """Asks evaluators about parameters; one that cannot be used is reported once."""

    def __init__(self, evaluators: EvaluatorRegistry) -> None:
        self._evaluators = evaluators
        self._broken: set[str] = set()

    def takes_any(self, name: str) -> bool:
        """True if an evaluator takes whatever parameters."""
        try:
            return self._evaluators.get(name).takes_any
        except PluginError:
            return False

    def __call__(self, name: str, parameters: Mapping[str, Any]) -> Iterable[tuple[str, str, str]]:
        """Describe what is wrong with parameters: place in them, message, hint."""
        if name in self._broken:
            return []
        try:
            return self._evaluators.get(name).check_parameters(parameters)
        except PluginError as error:
            self._broken.add(name)
            return [("", str(error), error.hint)]


class RegistryFacts:
    """Answers the questions of `poor_bench.lint`."""

    def __init__(self, evaluators: EvaluatorRegistry, folder: Path, llms: Sequence[LLM]) -> None:
        """Read nothing yet.

        Args:
            evaluators: The evaluators.
            folder: The workspace: its config.yaml and files of rubrics.
            llms: Its LLMs, any of which can judge.
        """
        self._evaluators = evaluators
        self._folder, self._llms = folder, llms

    def wants(self, spec: EvaluatorSpec) -> AnswerFormat | None:
        """Format that the prompt should ask for; None where it does not matter."""
        return self._evaluators.get(spec.name).wants(spec.parameters)

    def reference(self, spec: EvaluatorSpec) -> str | None:
        """Response that scores 1.0; None where the evaluator cannot tell one."""
        return self._evaluators.get(spec.name).reference(spec.parameters)

    def is_judged(self, spec: EvaluatorSpec) -> bool:
        """True if an LLM judges the responses, so that checking a score costs money."""
        return bool(self._evaluators.get(spec.name).questions(spec.parameters))

    def judge_faults(self, spec: EvaluatorSpec) -> list[JudgeFault]:
        """Describe why judges and rubrics of an evaluator cannot be used; missing keys apart."""
        from poor_bench.lint.subject import JudgeFault

        faults = []
        for question in self._evaluators.get(spec.name).questions(spec.parameters):
            try:
                self._judges.fingerprint([question])
            except ConfigError as error:
                faults.append(JudgeFault(str(error), error.hint))
        return faults

    @cached_property
    def _judges(self) -> WorkspaceJudges:
        from poor_bench.judge.response_judging import WorkspaceJudges

        return WorkspaceJudges(self._folder, self._llms)

    def code_digest(self, spec: EvaluatorSpec) -> str:
        """Hash the evaluator's code; empty if it cannot be loaded."""
        try:
            return self._evaluators.get(spec.name).code_digest_for(spec.parameters)
        except PluginError:
            return ""

    def score(self, spec: EvaluatorSpec, response: str) -> float:
        """Score a response.

        Raises:
            RecordedError: If it could not be scored.
        """
        from poor_bench.sandbox import trust_own_code

        with trust_own_code():
            return self._evaluators.get(spec.name).evaluate(response, spec.parameters).score
