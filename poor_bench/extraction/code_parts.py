"""What pieces of Python define, and what they need from each other: pure."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Sequence

_LONGEST_PARSED = 100_000
_MAX_PARTS = 50
_KNOWN = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__"}


def defines(code: str, function_name: str) -> bool:
    """Return whether code has a line that defines, assigns or imports this name."""
    name = re.escape(function_name)
    pattern = (
        rf"^[ \t]*(?:(?:async\s+)?def|class)\s+{name}\b"
        rf"|^{name}[ \t]{{0,8}}(?::[^=\n]{{1,200}})?=(?!=)"
        rf"|^(?:from[ \t]+[\w.]+[ \t]+)?import\b[^\n]{{0,200}}\b{name}\b"
    )
    return re.search(pattern, code, re.MULTILINE) is not None


def last_function(code: str) -> str | None:
    """Return the last public function that a module defines, but for its `main` and own tests."""
    tree = _tree(code)
    names = [
        name
        for statement in tree.body
        for name in _functions_bound_by(statement)
        if not name.startswith(("_", "test_")) and name not in {"main", "test"}
    ]
    return names[-1] if names else None


def _functions_bound_by(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        yield statement.name
    elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Lambda):
        yield from (target.id for target in statement.targets if isinstance(target, ast.Name))
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.value, ast.Lambda):
        yield from _bound_by(statement.target)


def why_no_plain_function(code: str, name: str) -> str:
    """Return why calling the function with one argument would run nothing; empty where it would.

    Only functions that `code` defines by `def` are looked at.
    """
    for node in _tree(code).body:
        if isinstance(node, ast.AsyncFunctionDef) and node.name == name:
            return "must not be async"
        if isinstance(node, ast.FunctionDef) and node.name == name:
            if any(isinstance(part, ast.Yield | ast.YieldFrom) for part in _own_nodes(node)):
                return "must not be a generator"
            if not _takes_one_argument(node.args):
                return "must take one argument"
    return ""


def _takes_one_argument(arguments: ast.arguments) -> bool:
    n_positional = len(arguments.posonlyargs) + len(arguments.args)
    n_required = n_positional - len(arguments.defaults)
    return n_required <= 1 <= n_positional or (n_required <= 1 and arguments.vararg is not None)


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Yield what a function consists of, without functions within it."""
    for node in ast.iter_child_nodes(function):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _own_nodes(node)


def with_needed(code: str, parts: Sequence[str], function_name: str | None = None) -> str:
    """Return code together with those other parts that define what it needs, all in order.

    Args:
        code: One of the parts.
        parts: All parts of a response.
        function_name: What only `code` may define.
    """
    missing = _names(code).needed
    if not missing:
        return code
    others = {
        part: _names(part)
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
        self.needed = used - _KNOWN - {name for node in ast.walk(tree) for name in _bound_by(node)}
        self.bound_outside = {name for node in tree.body for name in _bound_by_statement(node)}


def _names(code: str) -> _Names:
    return _Names(_tree(code))


def _tree(code: str) -> ast.Module:
    """Return the syntax tree; an empty one where the code cannot be read."""
    try:
        return ast.parse(code if len(code) <= _LONGEST_PARSED else "")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def _bound_by_statement(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a module binds in that module."""
    yield from _bound_by(statement)
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        for node in ast.walk(statement):
            yield from _bound_by(node)


def _bound_by(node: ast.AST) -> Iterator[str]:
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
            yield from _bound_by(alias)
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name
