"""What an embedded model is asked, in llama.cpp's form of OpenAI's chat completions; pure.

| ours | here |
|---|---|
| temperature | 0 where it is not set: the same prompt gets the same reply |
| max_tokens | 512 where it is not set |
| num_ctx | tokens of prompt and reply together, 4096 where it is not set; when loading |
| model_path | a GGUF file of the user's own, relative to the workspace; when loading |
| keep_alive, stream | ignored |
| all others | as `openai_wire` and llama.cpp's dialect say |

An LLM's `concurrency` says how many of its requests are computed at once, 1 where it is not set;
with more, replies do not repeat exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from poor_bench.errors import ProviderError
from poor_bench.models.completion import ChatRequest
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM
from poor_bench.providers.classify import kind_of
from poor_bench.providers.error_reply import error_in
from poor_bench.providers.openai_dialect import dialect_of
from poor_bench.providers.openai_wire import OpenAIWire

_DEFAULTS: Mapping[str, Any] = {"temperature": 0, "max_tokens": 512}
_DEFAULT_CONTEXT_TOKENS = 4096
_ALWAYS: Mapping[str, Any] = {
    "stream": True,
    "stream_options": {"include_usage": True},
    "return_progress": True,
    "cache_prompt": False,
}


def request_body(llm: LLM, request: ChatRequest) -> dict[str, Any]:
    """Return what llama.cpp is asked."""
    complete = replace(request, parameters={**_DEFAULTS, **request.parameters})
    wire = OpenAIWire(llm.name, dialect_of("llamacpp"))
    return {**wire.body(complete, frozenset()), **_ALWAYS}


def context_tokens(llm: LLM) -> int:
    """Return how many tokens prompt and reply may have together.

    Raises:
        ProviderError: If the LLM's num_ctx is no such number.
    """
    wanted = llm.parameters.get("num_ctx", _DEFAULT_CONTEXT_TOKENS)
    if isinstance(wanted, bool) or not isinstance(wanted, int) or wanted < 1:
        raise ProviderError(
            f"{llm.id}: num_ctx must be a number of tokens, not {wanted!r}",
            kind=FailureKind.BAD_REQUEST,
        )
    return wanted


def raise_refusal(piece: Mapping[str, Any]) -> None:
    """Raise if a piece of a reply says that llama.cpp refuses the request.

    Raises:
        ProviderError: If it does; its kind says why.
    """
    if "error" not in piece:
        return
    error = error_in(piece)
    kind = kind_of(error)
    overflow = kind is FailureKind.CONTEXT_OVERFLOW
    hint = "shorten the prompt or raise the parameter num_ctx" if overflow else ""
    raise ProviderError(f"llama.cpp refused: {error.message}", kind=kind, hint=hint)
