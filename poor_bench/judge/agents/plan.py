"""Plan of a judged run; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from poor_bench.config.nearest_name import name_hint
from poor_bench.errors import ConfigError
from poor_bench.judge.conversation.conversation import Conversation
from poor_bench.judge.history.judge_run import RunHeader
from poor_bench.judge.judgement import APPROVAL_THRESHOLD
from poor_bench.judge.panel.panel import Decision
from poor_bench.judge.rubric import Rubric
from poor_bench.judge.subject import Subject
from poor_bench.models.agent import Agent, AgentCase
from poor_bench.models.llm import LLM, base_llm_id


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePlan:
    """Conversations, judges and rubric of a run."""

    agent: Agent
    cases: tuple[AgentCase, ...]
    llms: Mapping[str, LLM]
    """LLMs by id: the agent's and those of its simulated users."""
    rubric: Rubric
    threshold: float = APPROVAL_THRESHOLD
    """Lowest overall score, 0.0 to 10.0, that approves the agent."""
    judges: tuple[LLM, ...]
    repeat: int = 1
    """Judgements per judge, at least 1."""
    decision: Decision = Decision.MEAN
    conversations: tuple[Conversation, ...] = ()
    """Conversations of an earlier run, to be judged instead of new ones."""
    conversations_of: str = ""
    """Id of that run."""
    notes: tuple[str, ...] = ()
    """Corrections of the rubric, and keys of agents' files that nothing reads."""

    @property
    def asked(self) -> tuple[LLM, ...]:
        """All models of the run: the agent's, its simulated users' and the judges."""
        users = [case.simulated_user for case in self.cases if case.simulated_user is not None]
        ids = dict.fromkeys([self.agent.llm_id, *(user.llm_id for user in users)])
        talking = () if self.conversations else tuple(self.llms[llm_id] for llm_id in ids)
        return (*talking, *self.judges)

    @property
    def n_steps(self) -> int:
        """Number of conversations and judgements, including those of an earlier run."""
        return self.n_conversations + len(self.conversations) + self.n_judgements

    @property
    def n_conversations(self) -> int:
        """Number of conversations to hold."""
        return 0 if self.conversations else len(self.cases)

    @property
    def n_judgements(self) -> int:
        """Number of judgements to make."""
        return len(self.judges) * self.repeat

    def header(self, run_id: str, started: str) -> RunHeader:
        """Build the header of the run."""
        agent, rubric = self.agent, self.rubric
        return RunHeader(
            run_id=run_id,
            started=started,
            agent_id=agent.id,
            agent_name=agent.name,
            llm_id=agent.llm_id,
            system_prompt=agent.system_prompt,
            skill=agent.skill.name if agent.skill else "",
            threshold=self.threshold,
            rubric_name=rubric.name,
            rubric_hash=rubric.hash,
            weights={dimension.name: dimension.weight for dimension in rubric.dimensions},
            n_cases=len(self.conversations or self.cases),
            judges=tuple(judge.id for judge in self.judges),
            repeat=self.repeat,
            decision=self.decision.value,
            conversations_of=self.conversations_of,
        )

    def subject(self, conversations: Sequence[Conversation]) -> Subject:
        """Build the evidence for the judges."""
        agent, llm = self.agent, self.llms[self.agent.llm_id]
        return Subject(
            cases=tuple(conversation.as_case() for conversation in conversations),
            description=agent.description,
            system_prompt=agent.system_prompt,
            skill=agent.skill.name if agent.skill else "",
            written_by=base_llm_id(llm.provider, llm.name),
        )


def choose_cases(agent: Agent, case_ids: Sequence[str]) -> tuple[AgentCase, ...]:
    """Select cases of an agent by id, in its order; all if no id is given.

    Raises:
        ConfigError: If the agent has no such case.
    """
    known = [case.id for case in agent.cases]
    for case_id in case_ids:
        if case_id not in known:
            hint = name_hint(case_id, known)
            raise ConfigError(f"{agent.id} has no case {case_id!r}", hint=hint)
    return tuple(case for case in agent.cases if not case_ids or case.id in case_ids)
