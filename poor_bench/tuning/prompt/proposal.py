"""From what a reflecting LLM writes to a prompt that can be tried: pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from poor_bench.extraction.fences import fenced_blocks
from poor_bench.extraction.thinking import split_thinking
from poor_bench.prompts.render import placeholders_of, with_only_placeholders

OPEN, CLOSE = "<new_prompt>", "</new_prompt>"
MOST_CHARACTERS = 12_000
"""A prompt that is longer is cut off: it would not fit small models."""

_MARKED = re.compile(r"<(?:new_)?prompt>(.*?)(?:</(?:new_)?prompt>|\Z)", re.DOTALL)
"""Small models forget half of the mark."""


def proposal_in(reply: str) -> str:
    r"""Return the prompt that a reply proposes; empty where there is none.

    What stands between the marks counts, the last such part if there are several; without marks a
    single block of code, else the whole reply.

    Example:
        >>> proposal_in("Better:\n<new_prompt>\nSolve {problem}.\n</new_prompt>")
        'Solve {problem}.'
    """
    answer = split_thinking(reply).answer
    marked = _MARKED.findall(answer)
    blocks = fenced_blocks(answer)
    if marked:
        found = marked[-1]
    elif len(blocks) == 1:
        found = blocks[0].body
    else:
        found = answer
    return "".join(filter(_is_text, found))[:MOST_CHARACTERS].strip()


def with_placeholders(text: str, placeholders: Sequence[str]) -> str:
    r"""Return a proposed template in which exactly the given placeholders are filled in.

    Others become literal braces, and those that are missing are put at the end, a line each.

    Example:
        >>> with_placeholders("Solve it. Write {answer}.", ["problem"])
        'Solve it. Write {{answer}}.\n\n{problem}'
    """
    text = with_only_placeholders(text, placeholders)
    present = placeholders_of(text)
    missing = [f"{{{name}}}" for name in placeholders if name not in present]
    return "\n\n".join([text, "\n".join(missing)]) if missing else text


def _is_text(character: str) -> bool:
    return character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Zl"}
