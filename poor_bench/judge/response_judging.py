"""Rubric for single responses."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

from poor_bench.config.document import UnreadableError, read_text
from poor_bench.config.judge_settings import JudgeSettings, load_judge_settings
from poor_bench.errors import ConfigError
from poor_bench.judge.judge import Judge
from poor_bench.judge.judgement import JudgeError, Judgement
from poor_bench.judge.prompt import PROMPT_VERSION, JudgedCase, JudgeEvidence, Turn, judge_messages
from poor_bench.judge.registry import JudgeOptions, choose_llm, judge_llm
from poor_bench.judge.rubric import Dimension, Rubric, parse_rubric, read_dimension_name
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import estimate_cost_usd, sum_whole
from poor_bench.models.llm import LLM, build_base_llm_id
from poor_bench.models.result import Result
from poor_bench.prompts import hash_llm
from poor_bench.safe_files import require_within
from poor_bench.scoring.judging import JudgeAnswer, JudgeQuestion

RESPONSE_RUBRIC = Rubric(
    name="response",
    dimensions=(
        Dimension("correctness", 50.0, "What it says is true and what the user asked for."),
        Dimension("completeness", 30.0, "Nothing that was asked for is missing."),
        Dimension("clarity", 20.0, "Easy to understand, to the point, in the form asked for."),
    ),
)
_FILE_ENDING = ".md"
_LONGEST_NAME = 40


def find_rubric(question: JudgeQuestion, folder: Path) -> tuple[Rubric, tuple[str, ...]]:
    """Read the rubric of a question, with its corrections.

    Args:
        question: Its rubric comes first, then its criteria, then `RESPONSE_RUBRIC`.
        folder: The workspace, where files of rubrics stand.

    Raises:
        ConfigError: If the rubric cannot be read or used; with its lines.
    """
    written = question.rubric.strip()
    if not written:
        return _make_rubric(question.criteria) if question.criteria else RESPONSE_RUBRIC, ()
    if "\n" in written or not written.endswith(_FILE_ENDING):
        return parse_rubric(question.rubric)
    path = folder / written
    try:
        return parse_rubric(read_text(require_within(folder, written)), name=str(path))
    except (OSError, UnreadableError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"cannot read the rubric {path}: {reason}") from error


def _make_rubric(criteria: tuple[str, ...]) -> Rubric:
    weight = 100.0 / len(criteria)
    names: dict[str, str] = {}
    for number, criterion in enumerate(criteria, start=1):
        name = read_dimension_name(criterion)[:_LONGEST_NAME].strip("_")
        names[name if name and name not in names else f"criterion_{number}"] = criterion
    dimensions = (Dimension(name, weight, criterion) for name, criterion in names.items())
    return Rubric("criteria", tuple(dimensions))


_EXPECTED_RESPONSE = "x" * 2000
_ANY_NONCE = "0" * 16


class WorkspaceJudges:
    """Resolves evaluators' questions to judges and rubrics; reads files on demand."""

    def __init__(
        self, folder: Path, llms: Sequence[LLM], environ: Mapping[str, str] = os.environ
    ) -> None:
        """Prepare without reading files.

        Args:
            folder: The workspace: its config.yaml and files of rubrics.
            llms: Its LLMs, any of which can judge.
            environ: The environment, for keys and the settings of Claude models.
        """
        self._folder = folder
        self._llms = llms
        self._environ = environ
        self._rubrics: dict[JudgeQuestion, tuple[Rubric, tuple[str, ...]]] = {}

    def find_llm(self, question: JudgeQuestion) -> LLM:
        """Choose the judge.

        Raises:
            ConfigError: If the LLM does not exist.
        """
        options = JudgeOptions(model=question.judge or None)
        return choose_llm(options, self._settings, self._llms, self._environ)

    def read_rubric(self, question: JudgeQuestion) -> tuple[Rubric, tuple[str, ...]]:
        """Read the rubric of a question, with its corrections.

        Raises:
            ConfigError: If the rubric cannot be read or used.
        """
        if question not in self._rubrics:
            self._rubrics[question] = find_rubric(question, self._folder)
        return self._rubrics[question]

    def require(self, question: JudgeQuestion) -> None:
        """Check the judge and rubric of a question.

        Raises:
            ConfigError: If the LLM does not exist, its key is missing, or the rubric is not right.
        """
        options = JudgeOptions(model=question.judge or None)
        judge_llm(options, self._settings, self._llms, self._environ)
        self.read_rubric(question)

    def fingerprint(self, questions: Iterable[JudgeQuestion]) -> str:
        """Hash judges, their settings, rubrics and prompt.

        Returns:
            16 hexadecimal digits; an empty text where nothing is asked.

        Raises:
            ConfigError: If a judge or rubric cannot be used.
        """
        parts = [
            [hash_llm(self.find_llm(question)), self.read_rubric(question)[0].hash]
            for question in questions
        ]
        if not parts:
            return ""
        told = json.dumps([PROMPT_VERSION, parts]).encode()
        return hashlib.blake2b(told, digest_size=8).hexdigest()

    def estimate_cost_usd(self, question: JudgeQuestion, prompt: str) -> float | None:
        """Estimate the cost of a question about the response to a prompt.

        Returns:
            US dollars, or None where the judge's prices are not known.

        Raises:
            ConfigError: If the judge or the rubric cannot be used.
        """
        turns = (Turn("user", prompt), Turn("agent", _EXPECTED_RESPONSE))
        case = JudgedCase(name="", turns=turns, expected_behavior=question.expected_behavior)
        rubric, _ = self.read_rubric(question)
        messages = judge_messages(JudgeEvidence(cases=(case,)), rubric, _ANY_NONCE, advice=())
        once = estimate_cost_usd(self.find_llm(question).prices, messages)
        return None if once is None else once * question.samples

    @cached_property
    def _settings(self) -> JudgeSettings:
        return load_judge_settings(self._folder)


class JudgeClient:
    """Answers the questions of one evaluation; see `poor_bench.scoring.judging.AskJudge`."""

    def __init__(
        self,
        judges: WorkspaceJudges,
        manager: LLMManager,
        result: Result,
        written_by: str,
        cancelled: Callable[[], bool],
    ) -> None:
        """Prepare without sending requests.

        Args:
            judges: Who judges, by what.
            manager: Asks them.
            result: Holds what the response answers to.
            written_by: `provider:name` of the LLM that wrote it.
            cancelled: Asked again and again; true ends the judging.
        """
        self._judges = judges
        self._manager = manager
        self._result = result
        self._written_by = written_by
        self._cancelled = cancelled
        self._judgements: list[Judgement] = []

    def __call__(self, response: str, question: JudgeQuestion) -> JudgeAnswer:
        """Ask the judge once per sample.

        Samples that fail are left out of the mean, and noted.

        Raises:
            JudgeError: If every sample failed.
            ConfigError: If the judge or the rubric cannot be used.
            RunCancelledError: If the run was cancelled.
        """
        rubric, notes = self._judges.read_rubric(question)
        judge = Judge(self._judges.find_llm(question), self._manager, rubric, advice=())
        evidence = self._build_evidence(response, question)
        judgements = []
        errors = []
        for _ in range(question.samples):
            try:
                judgements.append(self._ask(judge, evidence))
            except JudgeError as error:
                errors.append(error)
        if not judgements:
            raise errors[0]
        lost = (f"{len(errors)} of {question.samples} samples failed",) if errors else ()
        return _answer(judgements, (*notes, *lost))

    def record(self) -> dict[str, Any] | None:
        """Build the record stored beside the score; None without judgements."""
        if not self._judgements:
            return None
        return {
            "judge": self._judgements[0].judge,
            "cost_usd": sum_whole([judgement.cost_usd for judgement in self._judgements]),
            "samples": [judgement.as_dict() for judgement in self._judgements],
        }

    def _ask(self, judge: Judge, evidence: JudgeEvidence) -> Judgement:
        try:
            judgement = judge.ask(evidence, self._cancelled)
        except JudgeError as error:
            self._judgements.append(error.fallback)
            raise
        self._judgements.append(judgement)
        return judgement

    def _build_evidence(self, response: str, question: JudgeQuestion) -> JudgeEvidence:
        turns = (Turn("user", self._result.prompt), Turn("agent", response))
        case = JudgedCase(name="", turns=turns, expected_behavior=question.expected_behavior)
        return JudgeEvidence(
            cases=(case,),
            system_prompt=self._result.system_prompt,
            written_by=self._written_by,
        )


def _answer(judgements: Sequence[Judgement], notes: tuple[str, ...]) -> JudgeAnswer:
    overall = [judgement.overall_score for judgement in judgements]
    first = judgements[0]
    warnings = [warning for judgement in judgements for warning in judgement.repairs]
    return JudgeAnswer(
        overall_score=fmean(overall),
        scores={name: fmean(item.scores[name] for item in judgements) for name in first.scores},
        feedback=tuple(case.feedback for item in judgements for case in item.test_case_evaluations),
        spread=max(overall) - min(overall) if len(overall) > 1 else None,
        judge=first.judge,
        is_self_judged=first.is_self_judged,
        warnings=(*notes, *dict.fromkeys(warnings)),
    )


class ResponseJudging:
    """The judges of one workspace; thread-safe.

    Attributes:
        judges: Who judges, by what.
    """

    def __init__(self, folder: Path, llms: Sequence[LLM], manager: LLMManager) -> None:
        """Prepare without reading files or sending requests.

        Args:
            folder: The workspace: its config.yaml and files of rubrics.
            llms: Its LLMs, any of which can judge.
            manager: Asks the LLMs.
        """
        self.judges = WorkspaceJudges(folder, llms)
        self._manager = manager
        self._models = {llm.id: build_base_llm_id(llm.provider, llm.name) for llm in llms}

    def client(self, result: Result, cancelled: Callable[[], bool]) -> JudgeClient:
        """Build the questions of an evaluator about a result."""
        writer = self._models.get(result.llm_id, result.llm_id)
        return JudgeClient(self.judges, self._manager, result, writer, cancelled)
