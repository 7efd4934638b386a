"""Ask a judge which of two conversations is better, in both orders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from poor_bench.errors import RecordedError
from poor_bench.judge.conversation.conversation import Conversation
from poor_bench.judge.judge import Judge
from poor_bench.judge.pairwise.duel import Duel
from poor_bench.judge.pairwise.prompt import pairwise_messages, shown_texts, winner_schema
from poor_bench.judge.pairwise.winner import Preference, find_preference
from poor_bench.judge.prompt import repair_message
from poor_bench.judge.quoting import nonce_for
from poor_bench.judge.subject import JudgedCase
from poor_bench.models.completion import Message
from poor_bench.scoring.cost import cost_usd

_MOST_ATTEMPTS = 2
_UNUSABLE = 'it contains no JSON object with a "winner" of 1, 2 or tie'


@dataclass(slots=True)
class _Asked:
    """Result in one order."""

    preference: Preference | None = None
    error: str = ""
    cost_usd: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Arena:
    """Compares conversations with one judge."""

    judge: Judge
    instructions: str = ""
    """Common instructions of both agents; empty if they differ."""
    cancelled: Callable[[], bool] = lambda: False

    def duel(self, a: Conversation, b: Conversation) -> Duel:
        """Ask for the judge's preference in both orders.

        Raises:
            ConfigError: If the settings of the judge's LLM cannot be used.
            RunCancelledError: If `cancelled()` turned true.
        """
        case_a, case_b = a.as_case(), b.as_case()
        orders = [self._ask(case_a, case_b), self._ask(case_b, case_a)]
        costs = [asked.cost_usd for asked in orders if asked.cost_usd is not None]
        places = [None if asked.preference is None else asked.preference.place for asked in orders]
        return Duel(
            case_id=a.case_id,
            judge=self.judge.llm.id,
            a_first=places[0],
            b_first=places[1],
            reasons=tuple(asked.preference.reason for asked in orders if asked.preference),
            error="; ".join(dict.fromkeys(asked.error for asked in orders if asked.error)),
            cost_usd=sum(costs) if len(costs) == len(orders) else None,
        )

    def _ask(self, first: JudgedCase, second: JudgedCase) -> _Asked:
        shown = shown_texts(self.instructions, (first, second))
        nonce = nonce_for(shown)
        messages = pairwise_messages(self.instructions, first, second, self.judge.rubric, nonce)
        asked = _Asked()
        for _ in range(_MOST_ATTEMPTS):
            try:
                text = self._complete(messages, nonce, asked)
            except RecordedError as error:
                asked.error = str(error)
                return asked
            asked.preference = find_preference(text, nonce, shown)
            if asked.preference is not None:
                return asked
            repair = repair_message(_UNUSABLE, nonce)
            messages = (*messages, Message("assistant", text or "{}"), repair)
        asked.error = f"the judge's reply is not valid: {_UNUSABLE}"
        return asked

    def _complete(self, messages: tuple[Message, ...], nonce: str, asked: _Asked) -> str:
        schema = winner_schema(nonce, is_bounded=self.judge.is_bounded)
        completion = self.judge.complete(messages, schema, self.cancelled)
        cost = cost_usd(completion.usage, self.judge.llm.prices)
        unknown = asked.cost_usd is None or cost is None
        asked.cost_usd = None if unknown else (asked.cost_usd or 0.0) + (cost or 0.0)
        return completion.text
