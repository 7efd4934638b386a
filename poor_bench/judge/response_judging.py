"""Judge single responses on behalf of evaluators."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

from poor_bench.config.judge_settings import JudgeSettings, load_judge_settings
from poor_bench.judge.judge import Judge
from poor_bench.judge.judge_error import JudgeError
from poor_bench.judge.judge_llm import JudgeOptions, chosen_llm, judge_llm
from poor_bench.judge.judgement import Judgement
from poor_bench.judge.prompt import PROMPT_VERSION, judge_messages
from poor_bench.judge.response_rubric import rubric_for
from poor_bench.judge.rubric import Rubric
from poor_bench.judge.subject import JudgedCase, Subject, Turn
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM
from poor_bench.models.llm_id import base_llm_id
from poor_bench.models.result import Result
from poor_bench.scoring.cost import estimated_cost_usd
from poor_bench.scoring.fingerprint import llm_fingerprint
from poor_bench.scoring.judging import JudgeAnswer, JudgeQuestion

_EXPECTED_RESPONSE_CHARACTERS = 2000


class ResponseJudging:
    """The judges of one workspace; safe to use from several threads."""

    def __init__(
        self,
        folder: Path,
        llms: Sequence[LLM],
        manager: LLMManager,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """Ask nobody, read nothing yet.

        Args:
            folder: The workspace: its config.yaml and files of rubrics.
            llms: Its LLMs, any of which can judge.
            manager: Asks the LLMs.
            environ: The environment, for the settings of Claude models.
        """
        self.folder = folder
        self.manager = manager
        self._llms = {llm.id: llm for llm in llms}
        self._environ = environ
        self._rubrics: dict[JudgeQuestion, tuple[Rubric, tuple[str, ...]]] = {}

    def llm_of(self, question: JudgeQuestion) -> LLM:
        """Return the LLM that judges.

        Raises:
            ConfigError: If there is no such LLM.
        """
        options = JudgeOptions(model=question.judge or None)
        return chosen_llm(options, self._settings, self._llms.values(), self._environ)

    def require(self, question: JudgeQuestion) -> None:
        """Check that a question can be asked.

        Raises:
            ConfigError: If there is no such LLM, its key is missing, or the rubric is not right.
        """
        options = JudgeOptions(model=question.judge or None)
        judge_llm(options, self._settings, self._llms.values(), self._environ)
        self.rubric_of(question)

    def rubric_of(self, question: JudgeQuestion) -> tuple[Rubric, tuple[str, ...]]:
        """Return the rubric of a question, and what was mended in it.

        Raises:
            ConfigError: If the rubric cannot be read or used.
        """
        if question not in self._rubrics:
            self._rubrics[question] = rubric_for(question, self.folder)
        return self._rubrics[question]

    def fingerprint(self, questions: Iterable[JudgeQuestion]) -> str:
        """Return a text that changes with the judges, their settings, rubrics and prompt.

        Raises:
            ConfigError: If a judge or rubric cannot be used.
        """
        parts = [
            [llm_fingerprint(self.llm_of(question)), self.rubric_of(question)[0].hash]
            for question in questions
        ]
        if not parts:
            return ""
        told = json.dumps([PROMPT_VERSION, parts]).encode()
        return hashlib.blake2b(told, digest_size=8).hexdigest()

    def estimated_cost_usd(self, question: JudgeQuestion, prompt: str) -> float | None:
        """Return about what a question about the response to a prompt will cost.

        Returns:
            US dollars, or None where the judge's prices are not known.

        Raises:
            ConfigError: If the judge or the rubric cannot be used.
        """
        turns = (Turn("user", prompt), Turn("agent", "x" * _EXPECTED_RESPONSE_CHARACTERS))
        case = JudgedCase(name="", turns=turns, expected_behavior=question.expected_behavior)
        messages = judge_messages(Subject(cases=(case,)), self.rubric_of(question)[0], "0" * 16)
        once = estimated_cost_usd(self.llm_of(question).prices, messages)
        return None if once is None else once * question.samples

    def door(self, result: Result, cancelled: Callable[[], bool]) -> JudgeDoor:
        """Return what an evaluator asks about the response of a result."""
        return JudgeDoor(self, result, cancelled)

    def writer_of(self, result: Result) -> str:
        """Return `provider:name` of the LLM that wrote a response; its id where it is gone."""
        llm = self._llms.get(result.llm_id)
        return base_llm_id(llm.provider, llm.name) if llm else result.llm_id

    @cached_property
    def _settings(self) -> JudgeSettings:
        return load_judge_settings(self.folder)


class JudgeDoor:
    """Answers the questions of one evaluation; see `poor_bench.scoring.judging.AskJudge`."""

    def __init__(
        self, judging: ResponseJudging, result: Result, cancelled: Callable[[], bool]
    ) -> None:
        self._judging = judging
        self._result = result
        self._cancelled = cancelled
        self._judgements: list[Judgement] = []

    def __call__(self, response: str, question: JudgeQuestion) -> JudgeAnswer:
        """Ask the judge as often as there are samples.

        Samples that fail are left out of the mean, and noted.

        Raises:
            JudgeError: If every sample failed.
            ConfigError: If the judge or the rubric cannot be used.
            RunCancelledError: If the run was cancelled.
        """
        rubric, notes = self._judging.rubric_of(question)
        judge = Judge(self._judging.llm_of(question), self._judging.manager, rubric)
        subject = self._subject(response, question)
        judgements = []
        errors = []
        for _ in range(question.samples):
            try:
                judgements.append(self._asked(judge, subject))
            except JudgeError as error:
                errors.append(error)
        if not judgements:
            raise errors[0]
        lost = (f"{len(errors)} of {question.samples} samples failed",) if errors else ()
        return _answer(judgements, (*notes, *lost))

    def record(self) -> dict[str, Any] | None:
        """Return what is stored of the judgements beside the score; None where there are none."""
        if not self._judgements:
            return None
        costs = [judgement.cost_usd for judgement in self._judgements]
        known = [cost for cost in costs if cost is not None]
        return {
            "judge": self._judgements[0].judge,
            "cost_usd": sum(known) if len(known) == len(costs) else None,
            "samples": [judgement.as_dict() for judgement in self._judgements],
        }

    def _asked(self, judge: Judge, subject: Subject) -> Judgement:
        try:
            judgement = judge.ask(subject, self._cancelled)
        except JudgeError as error:
            self._judgements.append(error.fallback)
            raise
        self._judgements.append(judgement)
        return judgement

    def _subject(self, response: str, question: JudgeQuestion) -> Subject:
        turns = (Turn("user", self._result.prompt), Turn("agent", response))
        case = JudgedCase(name="", turns=turns, expected_behavior=question.expected_behavior)
        return Subject(
            cases=(case,),
            system_prompt=self._result.system_prompt,
            written_by=self._judging.writer_of(self._result),
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
