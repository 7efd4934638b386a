"""Asks the reflecting LLM for a better prompt, each question once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from poor_bench.errors import ProviderError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import Message
from poor_bench.models.llm import LLM
from poor_bench.scoring.cost import cost_usd
from poor_bench.tuning.prompt.cases import Subject
from poor_bench.tuning.prompt.proposal import proposal_in, with_placeholders
from poor_bench.tuning.prompt.reflection import reflection_messages
from poor_bench.tuning.spending import Spending
from poor_bench.tuning.stopping import SearchStoppedError, StopReason
from poor_bench.tuning.tuning_file import TuningFile, TuningLine

LEAST_TOKENS = 1000
"""Room for a reply; an LLM's own limit is often meant for short answers."""
_OF_TESTS_ONLY = frozenset({"stop", "response_format", "max_tokens"})


class Proposer:
    """Writes new prompts with one LLM."""

    def __init__(
        self,
        subject: Subject,
        llm: LLM,
        manager: LLMManager,
        file: TuningFile,
        spending: Spending,
        cancelled: Callable[[], bool],
    ) -> None:
        self._subject = subject
        self._llm = llm
        self._manager = manager
        self._file = file
        self._spending = spending
        self._cancelled = cancelled
        self._known: dict[str, str] = {}

    def recall(self, lines: Sequence[TuningLine]) -> None:
        """Take up the replies that a file holds already."""
        for kind, content in lines:
            if kind == "reflection":
                self._known[content["key"]] = content["reply"]

    def propose(self, text: str, examples: Sequence[Mapping[str, Any]]) -> str:
        """Return a new text; the old one where the LLM had no other idea.

        Args:
            text: The text to be made better.
            examples: Made by `poor_bench.tuning.prompt.reflection.example_of`.

        Raises:
            SearchStoppedError: If the limits do not allow it, or the LLM cannot be asked.
            RunCancelledError: If the user stopped it.
        """
        subject = self._subject
        messages = reflection_messages(subject.what, text, examples, subject.placeholders)
        proposed = proposal_in(self._reply(messages))
        if proposed and subject.placeholders:
            proposed = with_placeholders(proposed, subject.placeholders)
        return proposed or text

    def _reply(self, messages: tuple[Message, ...]) -> str:
        asked = json.dumps([(message.role, message.content) for message in messages])
        key = hashlib.sha256(asked.encode()).hexdigest()[:12]
        if key not in self._known:
            self._known[key] = self._ask(key, messages)
        return self._known[key]

    def _ask(self, key: str, messages: tuple[Message, ...]) -> str:
        self._spending.require(1)
        parameters = _parameters(self._llm)
        try:
            completion = self._manager.complete(self._llm, messages, self._cancelled, parameters)
        except ProviderError as error:
            message = f"{self._llm.id} could not write a prompt: {error}"
            raise SearchStoppedError(StopReason.LLM_FAILED, message) from error
        cost = cost_usd(completion.usage, self._llm.prices)
        self._spending.note(cost)
        record = {"key": key, "reply": completion.text, "cost_usd": cost}
        self._file.append("reflection", record)
        return completion.text


def _parameters(llm: LLM) -> dict[str, Any]:
    """Return the LLM's parameters without those that suit the answers of tests."""
    kept = {key: value for key, value in llm.parameters.items() if key not in _OF_TESTS_ONLY}
    limit = llm.parameters.get("max_tokens")
    enough = max(limit, LEAST_TOKENS) if isinstance(limit, int) else LEAST_TOKENS
    return {**kept, "max_tokens": enough}
