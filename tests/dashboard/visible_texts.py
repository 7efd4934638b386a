"""All texts that dashboard and console themselves show, read from their source.

Renew the lists that people read with `python -m tests.dashboard.visible_texts`. Texts of figures
come from `poor_bench/metrics`, texts of findings from `poor_bench/issues` and `poor_bench/lint`.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

_TESTS = Path(__file__).parents[1]
_POOR_BENCH = Path(__file__).parents[2] / "poor_bench"


class Screen(NamedTuple):
    """What people look at: its source, and the list of its texts."""

    root: Path
    texts: Path


DASHBOARD = Screen(_POOR_BENCH / "dashboard", _TESTS / "dashboard" / "visible_texts.txt")
CONSOLE = Screen(_POOR_BENCH / "cli", _TESTS / "cli" / "visible_texts.txt")
_HIDDEN_ARGUMENTS = frozenset(
    {
        "className", "class_name", "id", "href", "store_id", "search_id", "kind", "key", "type",
        "role", "style", "icon", "color", "variant", "size", "position", "mode", "cellClass",
        "hovertemplate", "field", "function", "cellRenderer", "domLayout", "textposition",
        "headers", "mimetype", "samesite",
    }
)  # fmt: skip
"""Names of arguments and keys whose texts nobody reads."""
_HIDDEN_CALLS = frozenset(
    {
        "icon", "data", "bind_script", "compile", "getLogger", "import_module", "Input", "Output",
        "State", "startswith", "endswith", "removeprefix", "removesuffix", "split", "replace",
        "get", "getattr", "setattr", "query_field", "sub", "search", "header", "strftime", "error",
        "text_columns", "TypeError", "namedtuple", "type", "exception",
    }
)  # fmt: skip
_SHOWN_ARGUMENTS = frozenset(
    {"label", "placeholder", "title", "children", "headerName", "headerTooltip", "cell", "write"}
)
_SHOWN_CALLS = frozenset({"quiet", "tile", "chip", "chip_row", "write_count"})
"""Arguments and functions that show even a single lower-case word, which elsewhere is a name."""
_HIDDEN_FILES = frozenset({"theme.py", "bundle.py", "server.py"})
"""Files without words on screens: fonts, tags, and what the console says of the server."""
_CODE = re.compile(
    r"^[a-z0-9_.:/#?&=%\[\]*,;()+<>@{}…-]*$"  # names, addresses, classes
    r"|^[a-z-]+( [a-z]+-[a-z-]+)+$|^(is|if)-|var\(--|params\.|\(params|left\(\{|left\(re"
    r"|^[A-Z_]+$|^Token\.|^#|text/|application/|minmax\(|<!doctype|=\(\)|max-age|realm="
    r"|^[a-z]+[A-Z][A-Za-z]+$|^Accept-|^[a-z]+-src |^(base|form|frame)-[a-z]+ '|^<|calc\(|rgba\("
    r"|^(Host|Cookie|Authorization)$|^Callback function not found$| is-…$"  # names of HTTP and Dash
    r"|\) => "  # scripts
)
_LABEL_WORDS = 3
"""Texts of up to so many words are labels, which are listed side by side."""
_WORD = re.compile(r"[A-Za-z]{2}")
_LONE_WORD = re.compile(r"[a-z]{2,}")
_SCRIPT_TEXT = re.compile(r'(["`])([A-Z][a-z]+(?: [^"`]*)?)\1')
_FILLED_IN = re.compile(r"\$\{[^}]*\}")
_KEYS = re.compile(r"Escape|Enter|Backspace|Home|End|Arrow(Down|Up|Left|Right)")


def collect(screen: Screen) -> dict[str, list[str]]:
    """Return all texts by the part of a screen that shows them."""
    parts: dict[str, dict[str, None]] = {}
    files = [*sorted(screen.root.rglob("*.py")), *sorted(screen.root.glob("assets/*.js"))]
    for path in (each for each in files if each.name not in _HIDDEN_FILES):
        texts = _of_python(path) if path.suffix == ".py" else _of_script(path)
        parts.setdefault(_part(path.relative_to(screen.root)), {}).update(dict.fromkeys(texts))
    return {part: list(texts) for part, texts in sorted(parts.items()) if texts}


def fold(text: str) -> str:
    """Reduce a text to its words: all that a reader has to read of it once."""
    return " ".join(
        word.rstrip(".") for word in re.findall(r"[a-z0-9][a-z0-9%_./-]*", text.lower())
    )


def order(parts: dict[str, list[str]]) -> dict[str, list[str]]:
    """List each wording once: first those of several parts, as `shared`, then part by part.

    Texts that differ in nothing but case, punctuation and what is filled in are one wording.
    """
    homes: dict[str, set[str]] = {}
    for part, texts in parts.items():
        for text in texts:
            homes.setdefault(fold(text), set()).add(part)
    listed: dict[str, dict[str, str]] = {"shared": {}}
    for part, texts in parts.items():
        for text in texts:
            name = part if len(homes[fold(text)]) == 1 else "shared"
            listed.setdefault(name, {}).setdefault(fold(text), text)
    return {part: list(texts.values()) for part, texts in listed.items()}


def write(parts: dict[str, list[str]]) -> str:
    """Write the list as people read it: labels side by side, then a line for each other text."""
    return "\n".join(f"# {part}\n" + _write_part(texts) for part, texts in order(parts).items())


def _write_part(texts: list[str]) -> str:
    labels = [text for text in texts if len(text.split()) <= _LABEL_WORDS]
    lines = textwrap.wrap(" | ".join(labels), 100, break_long_words=False, break_on_hyphens=False)
    return "".join(f"{text}\n" for text in [*lines, *(t for t in texts if t not in labels)])


def _part(path: Path) -> str:
    folders = path.parts
    is_of_page = folders[0] == "pages" and len(folders) > 2
    return folders[1] if is_of_page else folders[0].removesuffix(".py")


def _of_script(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip().startswith("//"):
            texts = (_FILLED_IN.sub("…", text) for _, text in _SCRIPT_TEXT.findall(line))
            yield from (text for text in texts if not _KEYS.fullmatch(text))


def _of_python(path: Path) -> Iterator[str]:
    yield from (
        text
        for node, is_said in _shown(ast.parse(path.read_text(encoding="utf-8")))
        if (text := _read(node, is_said=is_said))
    )


def _shown(node: ast.AST, *, is_said: bool = False) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the literals that may be shown, in their order, and whether they surely are."""
    if isinstance(node, ast.Constant | ast.JoinedStr):
        yield node, is_said
        filled_in = node.values if isinstance(node, ast.JoinedStr) else ()
        for each in filled_in:
            if isinstance(each, ast.FormattedValue):
                yield from _shown(each.value, is_said=is_said)
        return
    for child in _children(node):
        yield from _shown(child, is_said=_is_said(node, child, is_said=is_said))


def _is_said(parent: ast.AST, child: ast.AST, *, is_said: bool) -> bool:
    """True for what certainly reaches the screen as text: parts of components, and labels."""
    match parent:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="html" | "dmc"))):
            return child in parent.args
        case ast.Call():
            return child in parent.args and _called(parent) in _SHOWN_CALLS
        case ast.keyword():
            return parent.arg in _SHOWN_ARGUMENTS
        case ast.IfExp():
            return is_said and child is not parent.test
        case ast.List() | ast.Tuple() | ast.BoolOp() | ast.Starred() | ast.Lambda():
            return is_said
    return False


def _children(node: ast.AST) -> Iterable[ast.AST]:
    """Return the parts of a node that may hold texts."""
    if _is_code(node):
        return ()
    match node:
        case ast.Subscript():
            return [node.value]
        case ast.FunctionDef():
            defaults = [each for each in (*node.args.defaults, *node.args.kw_defaults) if each]
            return [*node.decorator_list, *defaults, *_help_of(node), *node.body]
        case ast.AnnAssign():
            return [node.value] if node.value else ()
        case ast.Dict():
            pairs = zip(node.keys, node.values, strict=True)
            return [value for key, value in pairs if not _is_hidden(key)]
    return ast.iter_child_nodes(node)


def _help_of(node: ast.FunctionDef) -> Iterator[ast.expr]:
    """Yield the docstring of a command: `--help` shows it."""
    first = node.body[0]
    is_command = any("command" in ast.unparse(each) for each in node.decorator_list)
    if is_command and isinstance(first, ast.Expr):
        yield first.value


def _is_code(node: ast.AST) -> bool:
    """True for docstrings, comparisons, ids, and what goes to functions that show nothing."""
    match node:
        case ast.Expr():
            return isinstance(node.value, ast.Constant)
        case ast.keyword():
            return node.arg in _HIDDEN_ARGUMENTS
        case ast.Call():
            return _called(node) in _HIDDEN_CALLS
        case ast.ClassDef():
            return node.name.endswith("Ids")
        case ast.FunctionDef():  # refuses requests that no page of ours sends
            return node.name.endswith("_fault")
    return isinstance(node, ast.Compare)


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)


def _is_hidden(key: ast.expr | None) -> bool:
    return isinstance(key, ast.Constant) and key.value in _HIDDEN_ARGUMENTS


def _read(node: ast.expr, *, is_said: bool) -> str:
    """Return the text of a literal, `…` for what is filled in; empty if it is code."""
    if isinstance(node, ast.JoinedStr):
        pieces = [str(one.value) if isinstance(one, ast.Constant) else "…" for one in node.values]
        text = "".join(pieces)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    else:
        return ""
    text = " ".join(text.split())
    if is_said and _LONE_WORD.fullmatch(text):
        return text
    return "" if _CODE.search(text) or not _WORD.search(text) else text


if __name__ == "__main__":
    for screen in (DASHBOARD, CONSOLE):
        screen.texts.write_text(write(collect(screen)), encoding="utf-8")
