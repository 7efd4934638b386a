"""The system prompt of an agent as a subject: conversations are the cases, a judge the feedback."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from poor_bench.errors import RecordedError
from poor_bench.judge.agent_registry import AgentRegistry, rubric_of
from poor_bench.judge.conversation import Ask, Conversation, ConversationDriver, agent_texts
from poor_bench.judge.evidence import Evidence
from poor_bench.judge.judge import Judge
from poor_bench.judge.judgement import Judgement
from poor_bench.llm_manager import LLMManager
from poor_bench.models.agent import AgentCase
from poor_bench.models.completion import Completion, Message
from poor_bench.models.failure import Failure
from poor_bench.models.llm import LLM, base_llm_id
from poor_bench.scoring.cost import estimated_cost_usd
from poor_bench.scoring.fingerprint import llm_fingerprint
from poor_bench.tuning.prompt.cases import Attempt, Case, CaseFailedError, Solved

_MOST_SCORE = 10.0


class AgentPrompt:
    """See `poor_bench.tuning.prompt.cases.Subject`.

    Each conversation is judged by itself, so that every case has a score of its own. The judge is
    always shown the system prompt in use: a candidate that demands less of the agent must not be
    judged by its own words.
    """

    what = "system prompt"
    placeholders: tuple[str, ...] = ()

    def __init__(
        self, shelf: AgentRegistry, agent_id: str, judge: LLM, manager: LLMManager
    ) -> None:
        """Choose the agent and who judges it.

        Raises:
            ConfigError: If there is no such agent, or its rubric cannot be used.
        """
        self._agent = shelf.agent(agent_id)
        self._llms = shelf.llms
        self._manager = manager
        self._judge = Judge(judge, manager, rubric_of(self._agent)[0])
        self._cases = {case.id: case for case in self._agent.cases}
        self.llm = shelf.llms[self._agent.llm_id]
        self.base_text = self._agent.system_prompt
        self.name = f"system prompt of agent {agent_id}"
        self.reference: Mapping[str, str] = {
            "kind": "agent",
            "agent_id": agent_id,
            "judge": judge.id,
        }
        users = (case.simulated_user for case in self._cases.values())
        parts = {self._agent.llm_id, *(user.llm_id for user in users if user is not None)}
        self.llms: Sequence[LLM] = [*(shelf.llms[llm_id] for llm_id in sorted(parts)), judge]
        self.cases: Sequence[Case] = [Case(case_id) for case_id in self._cases]
        self.n_calls_per_case = 1 + max(map(_n_calls, self._cases.values()))

    @property
    def fingerprint(self) -> str:
        """Changes with everything but the text that is tuned."""
        others = replace(self._agent, system_prompt="")
        who = (llm_fingerprint(self.llm), llm_fingerprint(self._judge.llm), self._judge.rubric.hash)
        text = repr((others, who))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def estimated_cost_usd(self) -> float:
        """Estimate the cost of a conversation and its judgement; 0 without prices.

        Each call is taken to send the agent's prompt, and to get a reply of usual length.
        """
        prompt = (Message("system", self.base_text),)
        costs = [estimated_cost_usd(llm.prices, prompt) or 0.0 for llm in self.llms]
        return self.n_calls_per_case * sum(costs) / len(costs)

    def solved(self, _case_id: str, _answers: Sequence[str]) -> Solved | None:
        """Return None: a praised answer is not an example for other cases."""
        return None

    def attempt(self, text: str, case_id: str, cancelled: Callable[[], bool]) -> Attempt:
        """Talk to the agent with a system prompt, and have the conversation judged.

        Raises:
            CaseFailedError: If the conversation broke off, or there is no judgement.
            RunCancelledError: If `cancelled()` turned true.
        """
        asked: list[str] = []

        def ask(llm: LLM, messages: tuple[Message, ...]) -> Completion:
            asked.append(llm.id)
            return self._manager.complete(llm, messages, cancelled)

        conversation = self._talk(text, self._cases[case_id], ask)
        if conversation.failure is not None:
            raise CaseFailedError(case_id, conversation.failure)
        judgement = self._judged(conversation, cancelled)
        costs = [conversation.cost_usd, judgement.cost_usd]
        known = [cost for cost in costs if cost is not None]
        return Attempt(
            case_id=case_id,
            score=judgement.overall_score / _MOST_SCORE,
            given="\n".join(turn.text for turn in conversation.turns if turn.speaker == "user"),
            answer="\n".join(agent_texts(conversation.turns)),
            feedback=_feedback(conversation, judgement),
            cost_usd=sum(known) if known else None,
            time_ms=conversation.time_ms,
            n_calls=len(asked) + judgement.attempts,
        )

    def _talk(self, text: str, case: AgentCase, ask: Ask) -> Conversation:
        talker = ConversationDriver(
            agent=replace(self._agent, system_prompt=text),
            llms=self._llms,
            ask=ask,
            now_iso=self._manager.clock.now_iso,
        )
        return talker.hold(case)

    def _judged(self, conversation: Conversation, cancelled: Callable[[], bool]) -> Judgement:
        agent = self._agent
        evidence = Evidence(
            cases=(conversation.as_case(),),
            description=agent.description,
            system_prompt=agent.system_prompt,
            skill=agent.skill.name if agent.skill else "",
            written_by=base_llm_id(self.llm.provider, self.llm.name),
        )
        try:
            return self._judge.ask(evidence, cancelled)
        except RecordedError as error:
            failure = Failure(kind=error.kind, message=str(error))
            raise CaseFailedError(conversation.case_id, failure) from error


def _n_calls(case: AgentCase) -> int:
    """Highest number of answers and simulated messages of a case."""
    user = case.simulated_user
    if user is None:
        return len(case.turns)
    return len(case.turns) + 2 * max(0, user.max_turns - len(case.turns))


def _feedback(conversation: Conversation, judgement: Judgement) -> str:
    """Collect the judge's feedback and the broken rules of the case."""
    parts = [evaluation.feedback for evaluation in judgement.test_case_evaluations]
    parts += [f"{name}: {score:g} of 10" for name, score in judgement.scores.items()]
    parts += [*judgement.weaknesses, *judgement.recommendations, *conversation.broken_rules]
    if conversation.expected_behavior:
        parts.append(f"Expected: {conversation.expected_behavior}")
    return "\n".join(part for part in parts if part)
