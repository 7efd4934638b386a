"""From what a reflecting LLM writes to a prompt that can be tried: pure."""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from poor_bench.extraction.fences import fenced_blocks
from poor_bench.extraction.json_value import extract_json
from poor_bench.extraction.thinking import split_thinking
from poor_bench.prompts.render import placeholders_of, with_only_placeholders

OPEN, CLOSE = "<new_prompt>", "</new_prompt>"
MOST_CHARACTERS = 12_000
"""A prompt that is longer is cut off: it would not fit small models."""

PROPOSAL_SCHEMA: Mapping[str, Any] = {
    "type": "json_schema",
    "name": "proposal",
    "schema": {
        "type": "object",
        "properties": {"new_prompt": {"type": "string"}},
        "required": ["new_prompt"],
        "additionalProperties": False,
    },
}
"""For `response_format`: a reply that is nothing but a prompt."""
_LEAST_VARIETY = 0.12
"""Size of a text when compressed, as a share, below which it says one thing over and over."""
_LONG = 400

_MARKED = re.compile(r"<(?:new_)?prompt>(.*?)(?:</(?:new_)?prompt>|\Z)", re.DOTALL)
"""Small models forget half of the mark."""


def proposal_in(reply: str) -> str:
    r"""Extract the proposed prompt from a reply; empty if none.

    A reply of the form of `PROPOSAL_SCHEMA` is taken at its word. Of others, what stands between
    the marks counts, the last such part if there are several; without marks a single block of
    code, else the whole reply.

    Example:
        >>> proposal_in("Better:\n<new_prompt>\nSolve {problem}.\n</new_prompt>")
        'Solve {problem}.'
    """
    answer = split_thinking(reply).answer
    marked = _MARKED.findall(answer)
    blocks = fenced_blocks(answer)
    held = extract_json(answer, _is_proposal)
    if held is not None:
        found = held.value["new_prompt"]
    elif marked:
        found = marked[-1]
    elif len(blocks) == 1:
        found = blocks[0].body
    else:
        found = answer
    return "".join(filter(_is_text, found))[:MOST_CHARACTERS].strip()


def is_usable(proposed: str, base: str) -> bool:
    """True if a proposed text is new and not repetitive.

    Example:
        >>> is_usable("Be exact. " * 200, "Solve it."), is_usable("Be exact.", "Solve it.")
        (False, True)
    """
    if not proposed or proposed == base.strip():
        return False
    size = len(proposed.encode("utf-8", "surrogatepass"))
    packed = len(zlib.compress(proposed.encode("utf-8", "surrogatepass")))
    return size < _LONG or packed >= _LEAST_VARIETY * size


def with_placeholders(text: str, placeholders: Sequence[str]) -> str:
    r"""Keep exactly the given placeholders in a proposed template.

    Others become literal braces, and those that are missing are put at the end, a line each. A
    text without placeholders stays as it is: its braces mean nothing.

    Example:
        >>> with_placeholders("Solve it. Write {answer}.", ["problem"])
        'Solve it. Write {{answer}}.\n\n{problem}'
    """
    if not placeholders:
        return text
    text = with_only_placeholders(text, placeholders)
    present = placeholders_of(text)
    missing = [f"{{{name}}}" for name in placeholders if name not in present]
    return "\n\n".join([text, "\n".join(missing)]) if missing else text


def _is_proposal(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("new_prompt"), str)


def _is_text(character: str) -> bool:
    return character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Zl"}
