"""Answer the questions of evaluators, and keep what is stored with the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from poor_bench.judge.judge import Judge
from poor_bench.judge.judge_error import JudgeError
from poor_bench.judge.judgement import Judgement
from poor_bench.judge.subject import JudgedCase, Subject, Turn
from poor_bench.judge.workspace_judges import WorkspaceJudges
from poor_bench.llm_manager import LLMManager
from poor_bench.models.result import Result
from poor_bench.scoring.judging import JudgeAnswer, JudgeQuestion


class JudgeDoor:
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
        rubric, notes = self._judges.rubric_of(question)
        judge = Judge(self._judges.llm_of(question), self._manager, rubric, advice=())
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
        """Build the record stored beside the score; None without judgements."""
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
