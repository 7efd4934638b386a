"""A judged run: settings, results, events, summary, and comparison with another run; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from poor_bench.judge.conversation import Conversation, conversation_from_dict
from poor_bench.judge.judgement import Judgement, judgement_from_dict
from poor_bench.judge.panel import (
    Panel,
    PanelDecision,
    combine_judgements,
    estimate_noise_floor,
)
from poor_bench.labels.label import OVERALL
from poor_bench.models.completion import sum_known
from poor_bench.pool.events import ModelLoading


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHeader:
    """Settings of a run, known before the first request."""

    run_id: str
    started: str
    """ISO 8601, UTC."""
    agent_id: str
    agent_name: str = ""
    llm_id: str = ""
    """The agent's LLM."""
    system_prompt: str = ""
    """The agent's, without that of its LLM."""
    skill: str = ""
    threshold: float
    """Lowest overall score, 0.0 to 10.0, that approves the agent."""
    rubric_name: str = ""
    rubric_hash: str = ""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Dimension to percent, in the rubric's order."""
    n_cases: int = 0
    """Number of planned conversations."""
    case_ids: tuple[str, ...] = ()
    """Their cases; empty in files of older versions."""
    judges: tuple[str, ...] = ()
    """LLM ids."""
    repeat: int = 1
    """Judgements per judge."""
    decision: str = "mean"
    """Method of combining several judges."""
    conversations_of: str = ""
    """The run whose conversations were judged again; empty where they were held anew."""

    @property
    def agent(self) -> str:
        """Name of the agent; its id where it has none, as in old files."""
        return self.agent_name or self.agent_id


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRun:
    """A judged run with its results so far."""

    header: RunHeader
    conversations: tuple[Conversation, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    ended: str = ""
    """ISO 8601, UTC; empty while it is running, or if it was interrupted."""
    replaced_costs: tuple[float | None, ...] = ()
    """Costs of failed conversations and judgements that a resumed run made again."""

    @property
    def run_id(self) -> str:
        """Unique; sorts by time."""
        return self.header.run_id

    @property
    def is_complete(self) -> bool:
        """True if all planned conversations and judgements exist."""
        wanted = len(self.header.judges) * self.header.repeat
        return (
            bool(self.conversations)
            and len(self.conversations) >= self.header.n_cases
            and all(conversation.failure is None for conversation in self.conversations)
            and len(self.usable_judgements) >= wanted
        )

    @property
    def usable_judgements(self) -> tuple[Judgement, ...]:
        """The judgements without fallbacks."""
        return tuple(item for item in self.judgements if not item.is_fallback)

    @property
    def n_failed(self) -> int:
        """Number of conversations and judgements that failed to run."""
        talks = sum(talk.failure is not None for talk in self.conversations)
        return talks + len(self.judgements) - len(self.usable_judgements)

    @property
    def cost_usd(self) -> float | None:
        """Of conversations and judgements by LLMs with prices; None where there are none."""
        return sum_known(self._costs)

    @property
    def is_cost_whole(self) -> bool:
        """True if the cost of every conversation and judgement is known."""
        return None not in self._costs

    @property
    def _costs(self) -> list[float | None]:
        costs = [talk.cost_usd for talk in self.conversations]
        costs += [judgement.cost_usd for judgement in self.judgements]
        return [*costs, *self.replaced_costs]

    def reopen(self) -> JudgeRun:
        """Drop what a resumed run makes again.

        That is every failed conversation and judgement. Judgements of a part of the conversations
        go, too: they say nothing about the whole.
        """
        conversations = tuple(talk for talk in self.conversations if talk.failure is None)
        is_whole = len(conversations) >= self.header.n_cases
        judgements = self.usable_judgements if is_whole else ()
        kept = {id(item) for item in (*conversations, *judgements)}
        items: tuple[Conversation | Judgement, ...] = (*self.conversations, *self.judgements)
        costs = tuple(item.cost_usd for item in items if id(item) not in kept)
        return replace(
            self,
            conversations=conversations,
            judgements=judgements,
            ended="",
            replaced_costs=(*self.replaced_costs, *costs),
        )

    def conversation(self, case_id: str) -> Conversation | None:
        """Find the conversation of a case; None if missing."""
        return next((item for item in self.conversations if item.case_id == case_id), None)


def add_record(run: JudgeRun, record: Mapping[str, Any]) -> JudgeRun:
    """Add a line of the file to a run; unknown lines are ignored.

    Raises:
        ValueError: If the line holds a conversation or judgement that cannot be read.
    """
    match record:
        case {"conversation": conversation}:
            held = (*run.conversations, conversation_from_dict(conversation))
            return replace(run, conversations=held)
        case {"judgement": judgement}:
            return replace(run, judgements=(*run.judgements, judgement_from_dict(judgement)))
        case {"resumed": _}:
            return run.reopen()
        case {"ended": ended}:
            return replace(run, ended=str(ended))
    return run


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
    """As the judges decide together, 0.0 to 10.0; None where it was not judged."""
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
    panel = combine_judgements(
        run.judgements, run.header.threshold, PanelDecision(run.header.decision)
    )
    return RunSummary(
        run=run,
        panel=panel,
        cases=tuple(_case(talk, run, panel) for talk in run.conversations),
        noise=estimate_noise_floor(group_repeats([run], OVERALL)),
    )


def group_repeats(runs: Iterable[JudgeRun], name: str) -> list[list[float]]:
    """Group repeated scores of the same judge for the same conversations.

    Args:
        runs: Fallbacks in them are left out.
        name: Of a dimension, or `OVERALL`.
    """

    def list_scores(judgement: Judgement) -> list[tuple[str, float]]:
        score = judgement.overall_score if name == OVERALL else judgement.scores.get(name)
        return [] if score is None else [(name, score)]

    return group_scores(runs, list_scores)


def group_scores(
    runs: Iterable[JudgeRun], list_scores: Callable[[Judgement], list[tuple[str, float]]]
) -> list[list[float]]:
    """Group the scores of one thing, by its name, that a judge gave in one run."""
    groups: dict[tuple[str, str, str], list[float]] = {}
    for run in runs:
        for judgement in run.usable_judgements:
            for name, score in list_scores(judgement):
                groups.setdefault((run.run_id, judgement.judge, name), []).append(score)
    return list(groups.values())


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


@dataclass(frozen=True, slots=True)
class ConversationHeld:
    """A conversation ended and is stored."""

    conversation: Conversation


@dataclass(frozen=True, slots=True)
class JudgementMade:
    """A judgement or fallback is stored."""

    judgement: Judgement


AgentEvent = ModelLoading | ConversationHeld | JudgementMade
