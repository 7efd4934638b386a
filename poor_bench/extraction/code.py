"""Python code out of a response: pure."""

from __future__ import annotations

import ast
import re
import textwrap
from itertools import islice

from poor_bench.extraction.code_parts import defines, last_function, with_needed
from poor_bench.extraction.fences import fenced_blocks
from poor_bench.extraction.found import Extracted, Found
from poor_bench.extraction.thinking import without_thinking

_FIRST_LINE = re.compile(
    r"^(?:(?:async[ \t]+)?def[ \t]+\w|class[ \t]+\w+[ \t]*(?:[(:]|$)|@[ \t]*\w"
    r"|import[ \t]+[\w.]+[ \t]*(?:$|[,;#]|as\b)|from[ \t]+[\w.]+[ \t]+import\b)",
    re.MULTILINE,
)
_ASSIGNMENT = re.compile(
    r"^[A-Za-z_]\w*[ \t]{0,8}(?::[^=\n]{1,200})?=(?![=~>])[^\n]*\S", re.MULTILINE
)
_LOOKS_LIKE_CODE = re.compile(
    r"^[ \t]*(?:(?:(?:async )?def|class|import|from)\s+\w"
    r"|\w+[ \t]{0,8}(?::[^=\n]{1,200})?=[ \t]*lambda\b)",
    re.MULTILINE,
)
_MOST_CUTS = 20
_MOST_ASSIGNMENTS = 8
_LONGEST_ASSIGNED = 20_000
_LONGEST_PARSED = 100_000


def extract_code(text: str, function_name: str | None = None) -> Extracted[str] | None:
    """Return the Python code of a response.

    Of several fenced blocks the largest that defines `function_name` is taken, else the largest
    that looks like Python, else the largest; of equal ones the last. Other blocks are taken as well
    where it needs what they define, such as imports or another function. Without a fenced block it
    is the text from the first line that begins a function, a class or an import, or from an
    assignment before it that belongs to it (`f = lambda x: x`, `LIMIT = 9`), without prose behind
    it.

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
    unfenced = _from_assignment(answer, function_name) or _from_first_line(answer)
    if not unfenced:
        return None
    is_bare = unfenced.strip() == answer.strip()
    return Extracted(unfenced, Found.BARE if is_bare else Found.IN_PROSE, unfenced)


def _from_first_line(answer: str) -> str:
    start = _FIRST_LINE.search(answer)
    return _without_prose_behind(answer[start.start() :].rstrip()) if start else ""


def _from_assignment(answer: str, function_name: str | None) -> str:
    """Return code from the first assignment that stands in one piece with a function, or is one."""
    first = _FIRST_LINE.search(answer)
    end = first.start() if first else len(answer)
    for assignment in islice(_ASSIGNMENT.finditer(answer, 0, end), _MOST_ASSIGNMENTS):
        piece = answer[assignment.start() : assignment.start() + _LONGEST_ASSIGNED].rstrip()
        if not (first or function_name or "lambda" in piece):
            return ""
        code = _without_prose_behind(piece)
        if _first_bad_line(code) is None and _is_wanted(code, function_name):
            return code
    return ""


def _is_wanted(code: str, function_name: str | None) -> bool:
    return defines(code, function_name) if function_name else last_function(code) is not None


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
