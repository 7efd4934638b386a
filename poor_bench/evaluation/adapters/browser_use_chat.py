"""An LLM of llms.json in the form in which browser-use asks for one."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Sequence
from typing import Any, Literal

from poor_bench.errors import PoorBenchError
from poor_bench.extraction.json_value import extract_json
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import Completion, Message
from poor_bench.models.llm import LLM

_ROLES: dict[str, Literal["system", "user", "assistant"]] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
}


class ManagedChat:
    """Answers browser-use through our own manager of LLMs; one object for each trial.

    Attributes:
        failure: Why the LLM could not be asked; None while it could.
        input_tokens: All that was asked so far.
        output_tokens: All that was answered so far.
    """

    _verified_api_keys = True

    def __init__(self, llms: LLMManager, llm: LLM, cancelled: Callable[[], bool]) -> None:
        self.failure: PoorBenchError | None = None
        self.input_tokens = 0
        self.output_tokens = 0
        self.model = self.name = self.model_name = llm.name
        self.provider = llm.provider
        self._llms = llms
        self._llm = llm
        self._cancelled = cancelled

    async def ainvoke(
        self, messages: Sequence[Any], output_format: type[Any] | None = None, **_further: Any
    ) -> Any:
        """Ask the LLM, in the form of browser-use.

        Args:
            messages: Of browser-use; only their text is sent on.
            output_format: A pydantic model that the answer must be; None for any text.

        Raises:
            PoorBenchError: If the LLM cannot be asked; it is kept in `failure`.
            ValueError: If the answer is not of the wanted form.
        """
        sent = tuple(Message(_ROLES[message.role], message.text) for message in messages)
        try:
            completion = await asyncio.to_thread(self._ask, sent, output_format)
        except PoorBenchError as error:
            self.failure = error
            raise
        return _wrapped(completion, _parsed(completion.text, output_format))

    def _ask(self, messages: tuple[Message, ...], output_format: type[Any] | None) -> Completion:
        parameters = dict(self._llm.parameters)
        if output_format is not None:
            schema = output_format.model_json_schema()
            parameters["response_format"] = {
                "type": "json_schema",
                "schema": schema,
                "strict": False,
            }
        completion = self._llms.complete(self._llm, messages, self._cancelled, parameters)
        self.input_tokens += completion.usage.prompt_tokens or 0
        self.output_tokens += completion.usage.completion_tokens or 0
        return completion


def _parsed(text: str, output_format: type[Any] | None) -> Any:
    if output_format is None:
        return text
    found = extract_json(text, lambda value: isinstance(value, dict))
    if found is None:
        raise ValueError("the model's answer does not contain a JSON object")
    return output_format.model_validate(found.value)


def _wrapped(completion: Completion, value: Any) -> Any:
    views = importlib.import_module("browser_use.llm.views")
    n_input = completion.usage.prompt_tokens or 0
    n_output = completion.usage.completion_tokens or 0
    usage = views.ChatInvokeUsage(
        prompt_tokens=n_input,
        prompt_cached_tokens=completion.usage.cached_tokens,
        prompt_cache_creation_tokens=None,
        prompt_image_tokens=None,
        completion_tokens=n_output,
        total_tokens=n_input + n_output,
    )
    return views.ChatInvokeCompletion(completion=value, usage=usage)
