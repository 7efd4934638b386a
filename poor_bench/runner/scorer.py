"""From a stored response to a score: used by a run and by rescoring alike."""

from __future__ import annotations

from dataclasses import replace

from poor_bench.config.workspace import Workspace
from poor_bench.extraction.thinking import split_thinking
from poor_bench.models.completion import FinishReason
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.plugins import EvaluatorRegistry
from poor_bench.runner.identity import spec_of
from poor_bench.runner.states import Fingerprints
from poor_bench.scoring.no_answer import (
    PROMPT_TRUNCATED,
    explain_cut_off,
    marks_of,
    no_answer_verdict,
)


class Scorer:
    """Scores responses with the evaluators of a workspace; called from several threads."""

    def __init__(
        self, workspace: Workspace, evaluators: EvaluatorRegistry, fingerprints: Fingerprints
    ) -> None:
        self._workspace = workspace
        self._evaluators = evaluators
        self._fingerprints = fingerprints

    def scored(self, result: Result, test: Test) -> Result:
        """Return `result` with the score of its response.

        Raises:
            EvaluatorError: If the evaluator raised or broke its contract.
            SandboxError: If candidate code could not be run.
            PluginError: If the evaluator cannot be loaded.
        """
        finish = FinishReason(result.finish_reason or FinishReason.STOP)
        split = split_thinking(result.response)
        verdict = no_answer_verdict(
            split.answer, finish=finish, thinking_is_unclosed=split.is_unclosed
        )
        has_answer = verdict is None
        if verdict is None:
            spec = spec_of(self._workspace, test)
            evaluated = self._evaluators.get(spec.name).evaluate(split.answer, spec.parameters)
            verdict = explain_cut_off(evaluated, finish)
        return replace(
            result,
            score=verdict.score,
            strict_score=verdict.strict_score,
            details=verdict.details,
            found=verdict.found,
            extracted=verdict.extracted,
            expected=verdict.expected,
            got=verdict.got,
            evaluator_fingerprint=self._fingerprints.of_evaluator(test),
            marks=marks_of(
                finish=finish,
                prompt_truncated=PROMPT_TRUNCATED in result.marks,
                thinking_is_unclosed=split.is_unclosed,
                has_answer=has_answer,
            ),
        )
