"""Hashes of request and evaluator: a stored result with others is stale."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from poor_bench.models.completion import ChatRequest
from poor_bench.models.llm import LLM
from poor_bench.models.test import EvaluatorSpec

_WITHOUT_INFLUENCE = frozenset({"stream", "keep_alive", "prompt_cache"})
"""Parameters that do not change what an LLM answers."""


def request_fingerprint(llm: LLM, request: ChatRequest) -> str:
    """Hash model, parameters and prompt to 16 hexadecimal digits.

    Where the model is asked (its endpoint) and what we call it (its id) do not count.
    """
    return join_request(begin_request(llm, request.parameters), encode_messages(request)).hex()


def begin_request(llm: LLM, parameters: Mapping[str, Any]) -> hashlib.blake2b:
    """Hash model and parameters, the first part of a request."""
    asked = _ENCODER.encode(_list_what_is_asked(llm, parameters))
    return _begin_hash(f"{asked[:-1]},")


def encode_messages(request: ChatRequest) -> bytes:
    """Encode the prompt, the second part of a request."""
    messages = [(message.role, message.content) for message in request.messages]
    return f"{_ENCODER.encode(messages)}]".encode("utf-8", "surrogatepass")


def join_request(begun: hashlib.blake2b, messages: bytes) -> bytes:
    """Hash both parts to 8 bytes; who has many requests makes each part once."""
    whole = begun.copy()
    whole.update(messages)
    return whole.digest()


def llm_fingerprint(llm: LLM) -> str:
    """Hash model and parameters, without the prompt, to 16 hexadecimal digits."""
    return _digest(_list_what_is_asked(llm, llm.parameters))


def evaluator_fingerprint(spec: EvaluatorSpec, code_digest: str) -> str:
    """Hash evaluator, parameters and code to 16 hexadecimal digits."""
    return _digest([spec.name, spec.parameters, code_digest])


def hash_text(text: str, length: int = 64) -> str:
    """Hash any text, lone surrogates included, to hexadecimal digits (SHA-256)."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def _list_what_is_asked(llm: LLM, parameters: Mapping[str, Any]) -> list[object]:
    counting = {key: value for key, value in parameters.items() if key not in _WITHOUT_INFLUENCE}
    return [llm.provider, llm.name, counting]


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=dict)


def _digest(value: object) -> str:
    return _hash(_ENCODER.encode(value))


def _hash(text: str) -> str:
    return _begin_hash(text).hexdigest()


def _begin_hash(text: str) -> hashlib.blake2b:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8)
