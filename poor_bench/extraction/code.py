"""Python code out of a response, what its pieces define, and what they need from each other."""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import islice

from poor_bench.extraction.fences import find_fenced_blocks
from poor_bench.extraction.found import Extracted, Found
from poor_bench.extraction.thinking import without_thinking

_LONGEST_PARSED = 100_000
_MAX_PARTS = 50
_KNOWN = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__"}


def defines(code: str, function_name: str) -> bool:
    """True if code has a line that defines, assigns or imports this name."""
    name = re.escape(function_name)
    pattern = (
        rf"^[ \t]*(?:(?:async\s+)?def|class)\s+{name}\b"
        rf"|^{name}[ \t]{{0,8}}(?::[^=\n]{{1,200}})?=(?!=)"
        rf"|^(?:from[ \t]+[\w.]+[ \t]+)?import\b[^\n]{{0,200}}\b{name}\b"
    )
    return re.search(pattern, code, re.MULTILINE) is not None


def find_last_function(code: str) -> str | None:
    """Find the last public function that a module defines, but for its `main` and own tests."""
    tree = _parse_tree(code)
    names = [
        name
        for statement in tree.body
        for name in _list_bound_functions(statement)
        if not name.startswith(("_", "test_")) and name not in {"main", "test"}
    ]
    return names[-1] if names else None


def _list_bound_functions(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        yield statement.name
    elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Lambda):
        yield from (target.id for target in statement.targets if isinstance(target, ast.Name))
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.value, ast.Lambda):
        yield from _list_bound(statement.target)


def explain_unusable_function(code: str, name: str) -> str:
    """Explain why calling the function with one argument would run nothing; empty where it would.

    Only functions that `code` defines by `def` are looked at.
    """
    for node in _parse_tree(code).body:
        if isinstance(node, ast.AsyncFunctionDef) and node.name == name:
            return "must not be async"
        if isinstance(node, ast.FunctionDef) and node.name == name:
            if any(isinstance(part, ast.Yield | ast.YieldFrom) for part in _walk_own_nodes(node)):
                return "must not be a generator"
            if not _takes_one_argument(node.args):
                return "must take one argument"
    return ""


def _takes_one_argument(arguments: ast.arguments) -> bool:
    n_positional = len(arguments.posonlyargs) + len(arguments.args)
    n_required = n_positional - len(arguments.defaults)
    return n_required <= 1 <= n_positional or (n_required <= 1 and arguments.vararg is not None)


def _walk_own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Yield what a function consists of, without functions within it."""
    for node in ast.iter_child_nodes(function):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _walk_own_nodes(node)


def add_needed(code: str, parts: Sequence[str], function_name: str | None = None) -> str:
    """Put code together with those other parts that define what it needs, all in order.

    Args:
        code: One of the parts.
        parts: All parts of a response.
        function_name: What only `code` may define.
    """
    if not {*parts} - {code}:
        return code
    missing = _collect_names(code).needed
    if not missing:
        return code
    others = {
        part: _collect_names(part)
        for part in parts[:_MAX_PARTS]
        if not (function_name and defines(part, function_name))
    }
    taken = {code}
    while missing:
        found = {
            part: names
            for part, names in others.items()
            if part not in taken and missing & names.bound_outside
        }
        taken.update(found)
        missing = set().union(*(names.needed for names in found.values()))
    return "\n\n".join(dict.fromkeys(part for part in parts if part in taken))


class _Names:
    """The names of a piece of code; none where it cannot be read."""

    def __init__(self, tree: ast.Module) -> None:
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and _is_read(node)}
        self.needed = (
            used - _KNOWN - {name for node in ast.walk(tree) for name in _list_bound(node)}
        )
        self.bound_outside = {name for node in tree.body for name in _list_bound_by_statement(node)}


def _collect_names(code: str) -> _Names:
    return _Names(_parse_tree(code))


def _parse_tree(code: str) -> ast.Module:
    """Parse code into its syntax tree; an empty one where the code cannot be read."""
    try:
        return ast.parse(code if len(code) <= _LONGEST_PARSED else "")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def _list_bound_by_statement(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a module binds in that module."""
    yield from _list_bound(statement)
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        for node in ast.walk(statement):
            yield from _list_bound(node)


def _list_bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that one node of a syntax tree binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Name) and not _is_read(node):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.alias):
        yield (node.asname or node.name).partition(".")[0]
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield from _list_bound(alias)
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name


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


def extract_code(text: str, function_name: str | None = None) -> Extracted[str] | None:
    """Find the Python code of a response.

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
    answer = without_thinking(text, keep_invisible=True)
    blocks = [textwrap.dedent(block.body).strip("\n") for block in find_fenced_blocks(answer)]
    fenced = _choose_block([block for block in blocks if block.strip()], function_name)
    if fenced is not None:
        code = add_needed(fenced, blocks, function_name)
        return Extracted(code, Found.FENCED, code)
    answer = textwrap.dedent(answer)
    unfenced = _cut_before_assignment(answer, function_name) or _cut_before_first_line(answer)
    if not unfenced:
        return None
    is_bare = unfenced.strip() == answer.strip()
    return Extracted(unfenced, Found.BARE if is_bare else Found.IN_PROSE, unfenced)


def _cut_before_first_line(answer: str) -> str:
    start = _FIRST_LINE.search(answer)
    return _drop_prose_behind(answer[start.start() :].rstrip()) if start else ""


def _cut_before_assignment(answer: str, function_name: str | None) -> str:
    """Cut code before the first assignment that stands in one piece with a function, or is one."""
    first = _FIRST_LINE.search(answer)
    end = first.start() if first else len(answer)
    for assignment in islice(_ASSIGNMENT.finditer(answer, 0, end), _MOST_ASSIGNMENTS):
        piece = answer[assignment.start() : assignment.start() + _LONGEST_ASSIGNED].rstrip()
        if not (first or function_name or "lambda" in piece):
            return ""
        code = _drop_prose_behind(piece)
        if _find_first_bad_line(code) is None and _is_wanted(code, function_name):
            return code
    return ""


def _is_wanted(code: str, function_name: str | None) -> bool:
    return defines(code, function_name) if function_name else find_last_function(code) is not None


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
    bodies = [
        textwrap.dedent(block.body)
        for block in find_fenced_blocks(without_thinking(text, keep_invisible=True))
    ]
    blocks = [body.strip("\n") for body in bodies if body.strip()]
    if blocks:
        return blocks
    bare = extract_code(text)
    return [] if bare is None else [bare.value]


def _choose_block(blocks: list[str], function_name: str | None) -> str | None:
    defining = [block for block in blocks if function_name and defines(block, function_name)]
    python = [block for block in blocks if _LOOKS_LIKE_CODE.search(block)]
    return max(reversed(defining or python or blocks), key=len, default=None)


def _drop_prose_behind(code: str) -> str:
    """Cut code where it stops being Python, if what stands before is whole."""
    if len(code) > _LONGEST_PARSED:
        return code
    lines = code.split("\n")
    end = len(lines)
    for _ in range(_MOST_CUTS):
        bad_line = _find_first_bad_line("\n".join(lines[:end]))
        if bad_line is None:
            return "\n".join(lines[:end]).rstrip()
        end = min(bad_line, end) - 1
        if end <= 0:
            break
    return code


def _find_first_bad_line(code: str) -> int | None:
    """Find the number, from 1, of the line at which code stops being Python; None if it is."""
    try:
        ast.parse(code)
    except SyntaxError as error:
        return error.lineno or 1
    except (ValueError, RecursionError, MemoryError):
        return 1
    return None
