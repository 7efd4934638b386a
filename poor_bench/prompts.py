"""From a template and a test to the messages that a model gets, and hashes of requests; pure.

A placeholder is a name in single braces. All other braces survive as they stand, in templates and
in what is filled in, since prompts are full of JSON and code; `{{name}}` stands for a literal
`{name}`. A stored result with another hash of its request or evaluator is stale.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

from poor_bench.models.completion import ChatRequest, Message
from poor_bench.models.llm import LLM, resolve_llm_id
from poor_bench.models.test import EvaluatorSpec, Test, TestClass

CONTENT_PLACEHOLDERS = frozenset({"problem", "task", "text", "texts"})
"""Placeholders that always stand for the test's text or texts."""

_PLACEHOLDER = re.compile(r"\{(\{[A-Za-z_]\w*\})\}|\{([A-Za-z_]\w*)\}")


@lru_cache(maxsize=256)
def list_placeholders(template: str) -> tuple[str, ...]:
    """List the names of the placeholders of `template`, each once, in order of appearance.

    Example:
        >>> list_placeholders('Return {"answer": 1} for {problem}, not {{answer}}.')
        ('problem',)
    """
    names = (match[2] for match in _PLACEHOLDER.finditer(template))
    return tuple(dict.fromkeys(name for name in names if name))


def count_fixed_start(template: str) -> int:
    """Count the characters before the first placeholder, as they stand in a rendered prompt.

    Example:
        >>> count_fixed_start("Say {{x}}: {problem}")
        9
    """
    n_hidden = 0
    for match in _PLACEHOLDER.finditer(template):
        if match[2]:
            return match.start() - n_hidden
        n_hidden += len(match[0]) - len(match[1])
    return len(template) - n_hidden


def with_only_placeholders(template: str, names: Collection[str]) -> str:
    """Make all placeholders of `template` literal but some.

    Example:
        >>> with_only_placeholders("Write {answer} for {problem}.", ["problem"])
        'Write {{answer}} for {problem}.'
    """

    def keep(match: re.Match[str]) -> str:
        escaped, name = match.groups()
        return match[0] if escaped or name in names else f"{{{match[0]}}}"

    return _PLACEHOLDER.sub(keep, template)


def list_unfilled_placeholders(template: str, fields: Mapping[str, Any]) -> tuple[str, ...]:
    """List the placeholders of `template` that a test with these `fields` leaves as they are.

    Example:
        >>> list_unfilled_placeholders("{text} in {language}", fields={})
        ('language',)
    """
    names = list_placeholders(template)
    if len(names) == 1:
        return ()
    return tuple(name for name in names if name not in CONTENT_PLACEHOLDERS and name not in fields)


def render_prompt(template: str, test: Test) -> str:
    """Render `template` with its placeholders filled, in one pass.

    A field of the test fills the placeholder of its name. `{problem}`, `{task}`, `{text}` and
    `{texts}` stand for the test's text, or for its texts as a JSON list; so does the placeholder
    of a template that has no other one, whatever its name.

    Returns:
        The prompt. Braces that came in through a text or a field are never expanded, and names
        that nothing fills stay as they are.
    """
    values = _list_values(template, test)

    def fill(match: re.Match[str]) -> str:
        escaped, name = match.groups()
        return escaped or values.get(name, match[0])

    return _PLACEHOLDER.sub(fill, template)


def list_inserted(test: Test) -> list[str]:
    """List what a test puts into the placeholders of a template, the longest first.

    Example:
        >>> list_inserted(Test(test_id="t", class_id="c", level=1, texts=("Good", "Bad")))
        ['["Good", "Bad"]']
    """
    values = [_read_content(test), *map(_as_text, test.fields.values())]
    return sorted(filter(None, values), key=len, reverse=True)


def _read_content(test: Test) -> str:
    return test.text if test.text is not None else _as_json(test.texts)


def _list_values(template: str, test: Test) -> dict[str, str]:
    names = list_placeholders(template)
    content = _read_content(test)
    filled_by_content = names if len(names) == 1 else CONTENT_PLACEHOLDERS
    values = dict.fromkeys(filled_by_content, content)
    values.update((name, _as_text(value)) for name, value in test.fields.items())
    return values


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else _as_json(value)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def choose_template(test_class: TestClass, llm: LLM) -> str:
    """Find the template that an LLM gets for the tests of a class.

    An override for exactly its id comes first, then the longest key that `resolve_llm_id` would
    find it by (`provider:name`, with or without a think suffix), then the default.
    """
    override = find_override(test_class, llm)
    return test_class.templates["default"] if override is None else test_class.overrides[override]


def find_override(test_class: TestClass, llm: LLM) -> str | None:
    """Find the key of the template that replaces the default for an LLM; None without one."""
    overrides = test_class.overrides
    if llm.id in overrides:
        return llm.id
    fitting = [key for key in overrides if resolve_llm_id(key, [llm])]
    return max(fitting, key=len, default=None)


def build_messages(llm: LLM, test_class: TestClass, test: Test) -> tuple[Message, ...]:
    """Build the conversation that asks `llm` for `test`.

    Returns:
        The system prompts of the LLM and of the class, joined by a blank line, where there are
        any; then the rendered prompt as the user's message.
    """
    template = choose_template(test_class, llm)
    user = Message("user", render_prompt(template, test), count_fixed_start(template))
    system_prompts = [part for part in (llm.base_system_prompt, test_class.system_prompt) if part]
    if not system_prompts:
        return (user,)
    return Message("system", "\n\n".join(system_prompts)), user


OF_THE_CLASS = "class"
"""The `response_format` of LLMs that keep to the schema of whatever class a test is of."""


def build_request(llm: LLM, test_class: TestClass, test: Test) -> ChatRequest:
    """Build the request that sends a test to a model."""
    return ChatRequest(
        messages=build_messages(llm, test_class, test),
        parameters=build_parameters(llm, test_class),
    )


def build_parameters(llm: LLM, test_class: TestClass) -> Mapping[str, Any]:
    """Put the schema of the class in its place; classes without one leave the LLM free."""
    parameters, schema = llm.parameters, test_class.response_schema
    if parameters.get("response_format") != OF_THE_CLASS:
        return parameters
    others = {key: value for key, value in parameters.items() if key != "response_format"}
    if schema is None:
        return others
    return {**others, "response_format": {"type": "json_schema", "schema": schema}}


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


def hash_llm(llm: LLM) -> str:
    """Hash model and parameters, without the prompt, to 16 hexadecimal digits."""
    return _digest(_list_what_is_asked(llm, llm.parameters))


def hash_evaluator(spec: EvaluatorSpec, code_digest: str) -> str:
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
