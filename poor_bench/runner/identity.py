"""Fingerprints of trials."""

from __future__ import annotations

from poor_bench.config.load import Workspace
from poor_bench.judge.response_judging import WorkspaceJudges
from poor_bench.models.llm import LLM
from poor_bench.models.test import EvaluatorSpec, Test, merge_specs
from poor_bench.plugins import EvaluatorRegistry
from poor_bench.prompts.request import build_request
from poor_bench.scoring.fingerprint import evaluator_fingerprint, request_fingerprint


class WorkspaceFingerprints:
    """Fingerprints of a workspace as it stands; see `poor_bench.runner.states.Fingerprints`."""

    def __init__(
        self, workspace: Workspace, evaluators: EvaluatorRegistry, judges: WorkspaceJudges
    ) -> None:
        self._workspace = workspace
        self._evaluators = evaluators
        self._judges = judges
        self._of_evaluator: dict[str, str] = {}

    def of_request(self, llm: LLM, test: Test) -> str:
        """Return the fingerprint of what would be asked."""
        test_class = self._workspace.test_classes[test.class_id]
        return request_fingerprint(llm, build_request(llm, test_class, test))

    def of_evaluator(self, test: Test) -> str:
        """Return the fingerprint of how it would be scored."""
        known = self._of_evaluator.get(test.test_id)
        if known is None:
            spec = spec_of(self._workspace, test)
            evaluator = self._evaluators.get(spec.name)
            judge = self._judges.fingerprint(evaluator.questions(spec.parameters))
            code = evaluator.code_digest_for(spec.parameters) + judge
            known = self._of_evaluator[test.test_id] = evaluator_fingerprint(spec, code)
        return known


def spec_of(workspace: Workspace, test: Test) -> EvaluatorSpec:
    """Return the evaluator that is in force for a test, with its merged parameters."""
    return merge_specs(workspace.test_classes[test.class_id].evaluator, test.evaluator)
