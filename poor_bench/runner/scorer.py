"""From a stored response to a score, and the fingerprints that tell when a score is out of date."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from poor_bench.config.load import Workspace
from poor_bench.errors import PluginError
from poor_bench.models import test as test_model
from poor_bench.models.completion import FinishReason
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.models.test import EvaluatorSpec, Test, TestClass, merge_specs
from poor_bench.plugins import EvaluatorRegistry
from poor_bench.plugins.sources import hash_code
from poor_bench.prompts import (
    begin_request,
    build_parameters,
    build_request,
    choose_template,
    encode_messages,
    hash_evaluator,
    join_request,
)
from poor_bench.runner.trial_states import Fingerprints
from poor_bench.scoring.verdict import (
    KEY_HIDDEN,
    PROMPT_TRUNCATED,
    explain_cut_off,
    explain_no_answer,
    list_flags,
)

if TYPE_CHECKING:
    from poor_bench.judge.response_judging import ResponseJudging, WorkspaceJudges
    from poor_bench.sandbox import Level
    from poor_bench.scoring.judging import JudgeQuestion

SCORED = (
    "score",
    "strict_score",
    "details",
    "found",
    "extracted",
    "cause",
    "expected",
    "got",
    "sandbox",
    "evaluator_fingerprint",
    "judgement",
    "marks",
)
"""Fields of a result that `Scorer.score` sets."""


class WorkspaceFingerprints:
    """Fingerprints of a workspace as it stands; see `trial_states.Fingerprints`."""

    def __init__(
        self,
        workspace: Workspace,
        evaluators: EvaluatorRegistry,
        open_judges: Callable[[], WorkspaceJudges] | None = None,
    ) -> None:
        """Read nothing yet.

        Args:
            workspace: The workspace.
            evaluators: Its evaluators.
            open_judges: Opens its judges, once an evaluator asks any; `WorkspaceJudges` by default.
        """
        self._workspace = workspace
        self._evaluators = evaluators
        self._open_judges = open_judges
        self._of_evaluator: dict[str, str] = {}
        self._begun: dict[str, dict[str, tuple[LLM, blake2b, int]]] = {}
        """Class and LLM to its request as far as it is the same for all tests."""
        self._wordings: dict[object, int] = {}

    def of_request(self, llm: LLM, test: Test) -> str:
        """Fingerprint of what would be asked."""
        return self.digest_requests([llm], test)[0].hex()

    def digest_requests(self, llms: Sequence[LLM], test: Test) -> list[bytes]:
        """Fingerprints of what each of some LLMs would be asked, as the 8 bytes of `of_request`.

        Most LLMs are asked in the same words: these are built and encoded once.
        """
        test_class = self._workspace.test_classes[test.class_id]
        begun = self._begun.setdefault(test_class.id, {})
        messages: dict[int, bytes] = {}
        digests = []
        for llm in llms:
            known = begun.get(llm.id)
            if known is None or known[0] is not llm:
                known = begun[llm.id] = llm, *self._begin(llm, test_class)
            _, start, wording = known
            encoded = messages.get(wording)
            if encoded is None:
                request = build_request(llm, test_class, test)
                encoded = messages[wording] = encode_messages(request)
            digests.append(join_request(start, encoded))
        return digests

    def identify_requests(self) -> str:
        """Digest of tests, classes and models; empty where JSON cannot hold them."""
        return self._requests

    @cached_property
    def _requests(self) -> str:
        known = self._workspace
        try:
            tests = known.tests_digest or known.tests
            content = orjson.dumps([tests, known.test_classes, known.llms], default=dict)
        except TypeError:  # such as half a surrogate pair, or a number beyond 64 bits
            return ""
        return blake2b(content).hexdigest()

    def _begin(self, llm: LLM, test_class: TestClass) -> tuple[blake2b, int]:
        """Hash model and parameters, and number its wording: what its words depend on."""
        wording = choose_template(test_class, llm), llm.base_system_prompt
        number = self._wordings.setdefault(wording, len(self._wordings))
        return begin_request(llm, build_parameters(llm, test_class)), number

    def of_evaluator(self, test: Test) -> str:
        """Fingerprint of how it would be scored."""
        known = self._of_evaluator.get(test.test_id)
        if known is None:
            spec = resolve_spec(self._workspace, test)
            evaluator = self._evaluators.get(spec.name)
            questions = evaluator.questions(spec.parameters)
            judge = self._judges.fingerprint(questions) if questions else ""
            code = evaluator.code_digest_for(spec.parameters) + judge
            known = self._of_evaluator[test.test_id] = hash_evaluator(spec, code)
        return known

    @cached_property
    def _judges(self) -> WorkspaceJudges:
        if self._open_judges:
            return self._open_judges()
        from poor_bench.judge.response_judging import WorkspaceJudges

        return WorkspaceJudges(self._workspace.data_dir, self._workspace.llms)

    def identify_evaluators(self) -> str:
        """Digest of tests, classes and code; empty where judges or other evaluators have a part."""
        known = self._workspace
        specs = (
            test.evaluator or known.test_classes[test.class_id].evaluator for test in known.tests
        )
        names = {spec.name for spec in specs if spec is not None}
        try:
            evaluators = [self._evaluators.get(name) for name in sorted(names)]
        except PluginError:
            return ""
        requests = self.identify_requests()
        if not requests or not all(each.is_alone for each in evaluators):
            return ""
        code = [hash_code(Path(test_model.__file__)), *(each.code_digest for each in evaluators)]
        return blake2b("\n".join([requests, *code]).encode()).hexdigest()


def resolve_spec(workspace: Workspace, test: Test) -> EvaluatorSpec:
    """Find the evaluator of a test, with its merged parameters."""
    return merge_specs(workspace.test_classes[test.class_id].evaluator, test.evaluator)


class Scorer:
    """Scores responses with the evaluators of a workspace; called from several threads."""

    def __init__(
        self,
        workspace: Workspace,
        evaluators: EvaluatorRegistry,
        fingerprints: Fingerprints,
        judging: ResponseJudging,
    ) -> None:
        self._workspace = workspace
        self._evaluators = evaluators
        self._fingerprints = fingerprints
        self._judging = judging

    def questions(self, test: Test) -> tuple[JudgeQuestion, ...]:
        """List what judges are asked about the responses to a test; nothing for most tests."""
        spec = resolve_spec(self._workspace, test)
        return self._evaluators.get(spec.name).questions(spec.parameters)

    def is_judged(self, test: Test) -> bool:
        """True if an LLM judges the responses to a test."""
        return bool(self.questions(test))

    def runs_code(self, tests: Iterable[Test]) -> bool:
        """True if code of responses to some tests is run."""
        specs = (resolve_spec(self._workspace, test) for test in tests)
        return any(self._evaluators.get(spec.name).runs_code(spec.parameters) for spec in specs)

    def find_judge(self, test: Test) -> LLM:
        """Find the LLM that judges a test; the first one if there are several.

        Raises:
            ConfigError: If it cannot be used.
        """
        return self._judging.judges.find_llm(self.questions(test)[0])

    def require_judges(self, tests: Iterable[Test]) -> None:
        """Check that all judges and rubrics of some tests can be used.

        Raises:
            ConfigError: If a judge does not exist, its key is missing, or a rubric is not valid.
        """
        for question in {question for test in tests for question in self.questions(test)}:
            self._judging.judges.require(question)

    def needs_judge(self, result: Result, test: Test) -> bool:
        """True if a response can be scored only by asking an LLM."""
        from poor_bench.extraction.thinking import split_thinking

        return self.is_judged(test) and bool(split_thinking(result.response).answer.strip())

    def is_up_to_date(self, result: Result, test: Test) -> bool:
        """True if a result has a score by today's evaluator, parameters and judge."""
        current = self._fingerprints.of_evaluator(test)
        return result.failure is None and result.evaluator_fingerprint == current

    def score(
        self, result: Result, test: Test, cancelled: Callable[[], bool] = lambda: False
    ) -> Result:
        """Score the response of a result.

        Args:
            result: Holds the response.
            test: Says how it is scored.
            cancelled: Asked while a judge is waited for; true ends that.

        Raises:
            JudgeError: If a judge could not be asked or understood.
            RunCancelledError: If `cancelled()` turned true.
            EvaluatorError: If the evaluator raised or broke its contract.
            SandboxError: If candidate code could not be run.
            PluginError: If the evaluator cannot be loaded.
        """
        from poor_bench.extraction.thinking import split_thinking
        from poor_bench.sandbox import note_levels

        finish = FinishReason(result.finish_reason or FinishReason.STOP)
        split = split_thinking(result.response)
        verdict = explain_no_answer(
            split.answer, finish=finish, thinking_is_unclosed=split.is_unclosed
        )
        has_answer = verdict is None
        levels: list[Level] = []
        client = self._judging.client(result, cancelled)
        if verdict is None:
            spec = resolve_spec(self._workspace, test)
            evaluator = self._evaluators.get(spec.name)
            with note_levels() as levels:
                evaluated = evaluator.evaluate(split.answer, spec.parameters, client)
            verdict = explain_cut_off(evaluated, finish)
        return replace(
            result,
            score=verdict.score,
            strict_score=verdict.strict_score,
            details=_details(verdict.details, result),
            found=verdict.found,
            extracted=verdict.extracted,
            cause=verdict.cause,
            expected=verdict.expected,
            got=verdict.got,
            sandbox=min(levels).label if levels else "",
            evaluator_fingerprint=self._fingerprints.of_evaluator(test),
            judgement=client.record(),
            marks=list_flags(
                finish=finish,
                prompt_truncated=PROMPT_TRUNCATED in result.marks,
                key_hidden=KEY_HIDDEN in result.marks,
                thinking_is_unclosed=split.is_unclosed,
                has_answer=has_answer,
            ),
        )


def _details(details: str, result: Result) -> str:
    """Details of a verdict, with what was changed in the response before."""
    if KEY_HIDDEN not in result.marks:
        return details
    return f"{details}\n\nThe response held the key of its LLM; `[key]` stands in its place."
