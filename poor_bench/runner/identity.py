"""Names for runs and fingerprints for trials."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from poor_bench.config.workspace import Workspace
from poor_bench.judge.workspace_judges import WorkspaceJudges
from poor_bench.models.llm import LLM
from poor_bench.models.test import EvaluatorSpec, Test, merge_specs
from poor_bench.plugins import EvaluatorRegistry
from poor_bench.prompts.request import build_request
from poor_bench.scoring.fingerprint import evaluator_fingerprint, request_fingerprint


def new_run_id(now_iso: str, newest: str = "") -> str:
    """Return an id that sorts by time and is unique, such as `20261121T225007-3f2a91`.

    Args:
        now_iso: The present moment, ISO 8601.
        newest: The id of the newest run so far; the new one sorts after it even where the clock
            went back since, because of two results of a trial the one of the later run counts.
    """
    moment = datetime.fromisoformat(now_iso[:19])
    try:
        after = datetime.fromisoformat(newest.partition("-")[0]) + timedelta(seconds=1)
        moment = max(moment, after)
    except ValueError:
        pass  # there is none, or an older tool named it
    return f"{moment:%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"


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
