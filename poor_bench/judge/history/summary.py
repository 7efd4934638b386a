"""Summary of a judged run; pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from poor_bench.judge.agreement.noise import noise_floor
from poor_bench.judge.conversation.conversation import Conversation
from poor_bench.judge.history.judge_run import JudgeRun
from poor_bench.judge.judgement import Judgement
from poor_bench.judge.panel.panel import Decision, Panel, panel_of

OVERALL = "overall"
"""Stands for the overall score where dimensions are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFeedback:
    """Feedback of one judgement on one case."""

    judge: str
    score: float
    passed: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseSummary:
    """A conversation with all feedback."""

    conversation: Conversation
    score: float | None
    """As the judges decide together, 0.0 to 10.0; None where there is no judgement of it."""
    feedback: tuple[CaseFeedback, ...]

    @property
    def n_passed(self) -> int:
        """Number of judgements that passed it."""
        return sum(item.passed for item in self.feedback)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """Summary of a judged run."""

    run: JudgeRun
    panel: Panel
    cases: tuple[CaseSummary, ...]
    noise: float | None
    """Difference of two overall scores that the judges' own chance exceeds in 5 % of all cases;
    None where no judge was asked twice."""

    @property
    def is_approved(self) -> bool:
        """True if the judges approve, the run is complete and no case broke a rule."""
        return self.panel.is_approved and self.run.is_complete and not self.n_broken

    @property
    def n_broken(self) -> int:
        """Number of cases that broke a rule: their conversation failed, whatever the judges say."""
        return sum(case.conversation.passed is False for case in self.cases)


def summarise_run(run: JudgeRun) -> RunSummary:
    """Summarise a run."""
    panel = panel_of(run.judgements, run.header.threshold, Decision(run.header.decision))
    return RunSummary(
        run=run,
        panel=panel,
        cases=tuple(_case(talk, run, panel) for talk in run.conversations),
        noise=noise_floor(repeats_of([run], OVERALL)),
    )


def repeats_of(runs: Iterable[JudgeRun], name: str) -> list[list[float]]:
    """Group repeated scores of the same judge for the same conversations.

    Args:
        runs: Fallbacks in them are left out.
        name: Of a dimension, or `OVERALL`.
    """
    groups: dict[tuple[str, str], list[float]] = {}
    for run in runs:
        for judgement in run.usable_judgements:
            score = _score(judgement, name)
            if score is not None:
                groups.setdefault((run.run_id, judgement.judge), []).append(score)
    return list(groups.values())


def _score(judgement: Judgement, name: str) -> float | None:
    return judgement.overall_score if name == OVERALL else judgement.scores.get(name)


def _case(conversation: Conversation, run: JudgeRun, panel: Panel) -> CaseSummary:
    feedback = tuple(
        CaseFeedback(
            judge=judgement.judge, score=case.score, passed=case.passed, text=case.feedback
        )
        for judgement in run.usable_judgements
        for case in judgement.scored_cases
        if case.test_name == conversation.case_id
    )
    score = panel.case_scores.get(conversation.case_id)
    return CaseSummary(conversation=conversation, score=score, feedback=feedback)
