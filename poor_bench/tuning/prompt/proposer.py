"""Asks the reflecting LLM for a better prompt, each question once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any

from poor_bench.errors import ProviderError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import Message
from poor_bench.models.llm import LLM
from poor_bench.scoring.cost import cost_usd
from poor_bench.tuning.prompt.cases import Attempt, Idea, Subject
from poor_bench.tuning.prompt.proposal import (
    PROPOSAL_SCHEMA,
    is_usable,
    proposal_in,
    with_placeholders,
)
from poor_bench.tuning.prompt.reflection import example_of, reflection_messages
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
        *,
        tell_writing: Callable[[], None] = lambda: None,
    ) -> None:
        self._subject = subject
        self._llm = llm
        self._manager = manager
        self._file = file
        self._spending = spending
        self._cancelled = cancelled
        self._tell_writing = tell_writing
        self._known: dict[str, str] = {}

    def recall(self, lines: Sequence[TuningLine]) -> None:
        """Take up the replies that a file holds already."""
        for kind, content in lines:
            if kind == "reflection":
                self._known[content["key"]] = content["reply"]

    def propose(self, text: str, attempts: Sequence[Attempt]) -> Idea | None:
        """Ask for a new text; None after two unusable replies.

        The second time it can reply with nothing but a prompt, where its server has JSON schemas:
        small models forget what they were to write.

        Raises:
            SearchStoppedError: If the limits do not allow it, or the LLM cannot be asked.
            RunCancelledError: If the user stopped it.
        """
        subject = self._subject
        worst_first = sorted(attempts, key=lambda attempt: attempt.score)
        examples = [example_of(attempt) for attempt in worst_first]
        messages = reflection_messages(subject.what, text, examples, subject.placeholders)
        for parameters in ({}, {"response_format": PROPOSAL_SCHEMA}):
            proposed = proposal_in(self._reply(messages, parameters))
            if is_usable(proposed, text):
                return Idea(with_placeholders(proposed, subject.placeholders), "writer")
        return None

    def _reply(self, messages: tuple[Message, ...], more: dict[str, Any]) -> str:
        asked = json.dumps([*((message.role, message.content) for message in messages), *more])
        key = hashlib.sha256(asked.encode()).hexdigest()[:12]
        if key not in self._known:
            self._known[key] = self._ask(key, messages, more)
        return self._known[key]

    def _ask(self, key: str, messages: tuple[Message, ...], more: dict[str, Any]) -> str:
        self._spending.require(1)
        self._tell_writing()
        parameters = {**_parameters(self._llm), **more}
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
    """Parameters of the model, without those for answers to tests."""
    kept = {key: value for key, value in llm.parameters.items() if key not in _OF_TESTS_ONLY}
    limit = llm.parameters.get("max_tokens")
    enough = max(limit, LEAST_TOKENS) if isinstance(limit, int) else LEAST_TOKENS
    return {**kept, "max_tokens": enough}
