"""Code with its words coloured by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import html

from poor_bench.messages import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dash.development.base_component import Component

_MOST_CHARACTERS = 20_000
_LONGEST_LINE = 2_000
"""Lexers are regular expressions; some take far too long on text that was made for it."""
_ALIASES = {"py": "python", "python3": "python", "js": "javascript", "ts": "typescript",
            "sh": "bash", "shell": "bash", "console": "bash", "yml": "yaml", "c++": "cpp",
            "cs": "csharp", "c#": "csharp", "rs": "rust", "golang": "go", "jsonc": "json",
            "jsx": "javascript", "rb": "ruby", "kt": "kotlin", "htm": "html"}  # fmt: skip
_LANGUAGES = frozenset({
    "python", "javascript", "typescript", "bash", "yaml", "json", "html", "xml", "css", "sql",
    "java", "c", "cpp", "csharp", "go", "rust", "ruby", "php", "kotlin", "swift", "r", "lua",
    "haskell", "toml", "ini", "diff", "dockerfile", "latex",
})  # fmt: skip
_KINDS = (
    ("Token.Comment", "comment"),
    ("Token.Keyword", "keyword"),
    ("Token.Literal.String", "string"),
    ("Token.Literal.Number", "number"),
    ("Token.Name.Function", "name"),
    ("Token.Name.Class", "name"),
    ("Token.Name.Tag", "keyword"),
    ("Token.Generic.Deleted", "removed"),
    ("Token.Generic.Inserted", "added"),
)


def build_code(code: str, label: str = "") -> Component:
    """Show a block of code.

    Args:
        code: The code; long code and code in a language that is not known keeps one colour.
        label: What stands behind the opening fence, such as `python`.
    """
    language = _ALIASES.get(label.lower(), label.lower())
    code = harmless(code).rstrip("\n")
    is_coloured = language in _LANGUAGES and len(code) <= _MOST_CHARACTERS
    if is_coloured and max(map(len, code.split("\n"))) <= _LONGEST_LINE:
        parts: list[Any] = [
            html.Span(text, className=f"code-{kind}") if kind else text
            for kind, text in _pieces(code, language)
        ]
    else:
        parts = [code]
    return html.Pre(html.Code(parts), className="code-block", tabIndex="0")


def _pieces(code: str, language: str) -> Iterator[tuple[str, str]]:
    """Yield kind and text of each run of words of one kind."""
    from pygments.lexers import get_lexer_by_name

    lexer: Any = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    known, run = "", ""
    for token, text in lexer.get_tokens(code):
        kind = _kind(str(token))
        if kind != known and run:
            yield known, run
            run = ""
        known, run = kind, run + text
    if run:
        yield known, run


def _kind(token: str) -> str:
    return next((kind for prefix, kind in _KINDS if token.startswith(prefix)), "")
