"""Pairwise comparison of two runs, case by case, within a budget."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field

from poor_bench.calls.budget import Budget
from poor_bench.errors import CostLimitError
from poor_bench.judge.agents.cost_estimate import FORM_CHARACTERS, request_usd
from poor_bench.judge.conversation.conversation import Conversation
from poor_bench.judge.history.judge_run import JudgeRun
from poor_bench.judge.judge import Judge
from poor_bench.judge.pairwise.arena import Arena
from poor_bench.judge.pairwise.duel import Duel
from poor_bench.judge.pairwise.prompt import shown_texts
from poor_bench.llm_manager import LLMManager

Pair = tuple[Conversation, Conversation]


@dataclass(slots=True)
class Contest:
    """Compares the conversations of two runs.

    Attributes:
        a: The run whose conversations are called A.
        b: The other one.
        judges: Who says which one is better, each by itself.
        manager: Asks them, one LLM after the other.
        budget: What may be spent; a duel that might exceed it is not begun.
    """

    a: JudgeRun
    b: JudgeRun
    judges: Sequence[Judge]
    manager: LLMManager
    budget: Budget = field(default_factory=Budget)
    _stopped: threading.Event = field(default_factory=threading.Event)

    @property
    def pairs(self) -> list[Pair]:
        """The conversations about the same case that came to their end in both runs."""
        talks = [(talk, self.b.conversation(talk.case_id)) for talk in self.a.conversations]
        return [
            (first, second)
            for first, second in talks
            if second is not None and first.failure is None and second.failure is None
        ]

    @property
    def left_out(self) -> list[str]:
        """Ids of the cases that cannot be compared: only one run has them whole."""
        talks = (*self.a.conversations, *self.b.conversations)
        paired = {first.case_id for first, _ in self.pairs}
        ids = dict.fromkeys(talk.case_id for talk in talks)
        return [case_id for case_id in ids if case_id not in paired]

    @property
    def n_duels(self) -> int:
        """Number of duels: each pair before each judge."""
        return len(self.pairs) * len(self.judges)

    def estimated_cost_usd(self) -> float:
        """Highest cost in US dollars without repairs; 0.0 without prices."""
        return sum(self._duel_usd(judge, pair) for judge in self.judges for pair in self.pairs)

    def duels(self) -> Iterator[Duel]:
        """Yield each duel as soon as it is over.

        Raises:
            ConfigError: If the settings of a judge's LLM cannot be used.
        """
        try:
            for number, judge in enumerate(self.judges):
                if number:
                    self.manager.unload(self.judges[number - 1].llm)
                yield from self._before(judge)
        finally:
            self._stopped.set()

    def _before(self, judge: Judge) -> Iterator[Duel]:
        arena = Arena(judge, self._instructions, self._stopped.is_set)

        def held(pair: Pair) -> Duel | None:
            try:
                with self.budget.holding(self._duel_usd(judge, pair)) as settle:
                    duel = arena.duel(*pair)
                    settle(duel.cost_usd)
            except CostLimitError:
                return None
            return duel

        with ThreadPoolExecutor(max_workers=self.manager.concurrency(judge.llm)) as pool:
            try:
                for future in as_completed([pool.submit(held, pair) for pair in self.pairs]):
                    duel = future.result()
                    if duel is not None:
                        yield duel
            except BaseException:
                self._stopped.set()
                raise

    def _duel_usd(self, judge: Judge, pair: Pair) -> float:
        shown = shown_texts(self._instructions, [talk.as_case() for talk in pair])
        rubric = judge.rubric
        told = len(rubric.text) + sum(len(item.description) for item in rubric.dimensions)
        n_characters = told + sum(map(len, shown)) + FORM_CHARACTERS
        return 2 * request_usd(judge.llm, n_characters)

    @property
    def _instructions(self) -> str:
        """Common instructions of both agents; empty if they differ."""
        orders = self.a.header.system_prompt, self.b.header.system_prompt
        return orders[0] if orders[0] == orders[1] else ""
