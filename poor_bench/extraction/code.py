"""Python code out of a response: pure."""

from __future__ import annotations

import ast
import re
import textwrap

from poor_bench.extraction.code_parts import defines, with_needed
from poor_bench.extraction.fences import fenced_blocks
from poor_bench.extraction.found import Extracted, Found
from poor_bench.extraction.thinking import without_thinking

_FIRST_LINE = re.compile(r"^(?:async def|def|class|import|from|@)\s*\w", re.MULTILINE)
_LOOKS_LIKE_CODE = re.compile(r"^[ \t]*(?:(?:async )?def|class|import|from)\s+\w", re.MULTILINE)
_MOST_CUTS = 20
_LONGEST_PARSED = 100_000


def extract_code(text: str, function_name: str | None = None) -> Extracted[str] | None:
    """Return the Python code of a response.

    Of several fenced blocks the largest that defines `function_name` is taken, else the largest
    that looks like Python, else the largest; of equal ones the last. Other blocks are taken as well
    where it needs what they define, such as imports or another function. Without a fenced block it
    is the text from the first line that starts with `def`, `class`, `import`, `from` or a
    decorator, without prose behind it.

    Args:
        text: The response; thinking is left out.
        function_name: The function that the code should define.

    Returns:
        The code and how it was found; None if there is none.
    """
    answer = without_thinking(text)
    blocks = [textwrap.dedent(block.body).strip("\n") for block in fenced_blocks(answer)]
    fenced = _best_block([block for block in blocks if block.strip()], function_name)
    if fenced is not None:
        code = with_needed(fenced, blocks, function_name)
        return Extracted(code, Found.FENCED, code)
    answer = textwrap.dedent(answer)
    start = _FIRST_LINE.search(answer)
    if start is None:
        return None
    code = _without_prose_behind(answer[start.start() :].rstrip())
    is_bare = code.strip() == answer.strip()
    return Extracted(code, Found.BARE if is_bare else Found.IN_PROSE, code)


def extract_code_blocks(text: str) -> list[str]:
    r"""List the code blocks of a text in their order.

    Args:
        text: The response; thinking is left out.

    Returns:
        The fenced blocks, whatever their language. Without any, the code that `extract_code` finds.

    Example:
        >>> extract_code_blocks("First:\n```python\nx = 1\n```\nthen:\n```\ny = 2\n```")
        ['x = 1', 'y = 2']
    """
    bodies = [textwrap.dedent(block.body) for block in fenced_blocks(without_thinking(text))]
    blocks = [body.strip("\n") for body in bodies if body.strip()]
    if blocks:
        return blocks
    bare = extract_code(text)
    return [] if bare is None else [bare.value]


def _best_block(blocks: list[str], function_name: str | None) -> str | None:
    defining = [block for block in blocks if function_name and defines(block, function_name)]
    python = [block for block in blocks if _LOOKS_LIKE_CODE.search(block)]
    return max(reversed(defining or python or blocks), key=len, default=None)


def _without_prose_behind(code: str) -> str:
    """Cut code where it stops being Python, if what stands before is whole."""
    if len(code) > _LONGEST_PARSED:
        return code
    lines = code.split("\n")
    end = len(lines)
    for _ in range(_MOST_CUTS):
        bad_line = _first_bad_line("\n".join(lines[:end]))
        if bad_line is None:
            return "\n".join(lines[:end]).rstrip()
        end = min(bad_line, end) - 1
        if end <= 0:
            break
    return code


def _first_bad_line(code: str) -> int | None:
    """Return the number, from 1, of the line at which code stops being Python; None if it is."""
    try:
        ast.parse(code)
    except SyntaxError as error:
        return error.lineno or 1
    except (ValueError, RecursionError, MemoryError):
        return 1
    return None
