"""Markdown of models, with code and formulas, as components: no HTML, no links to follow."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from html import unescape
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element as XmlElement

from dash import html
from dash.development.base_component import Component

from poor_bench.dashboard.components.tables import Element
from poor_bench.messages import harmless

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.tree import SyntaxTreeNode


_MOST_FORMULAS = 300
"""In one answer; further ones stay LaTeX."""
_IMAGE = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+")
_FORMULA = re.compile(
    r"\\\((?P<round>(?:[^\\]|\\(?![()]))+)\\\)|\\\[(?P<square>(?:[^\\]|\\(?![\[\]]))+)\\\]"
    r"|\$\$(?P<dollars>[^$]+)\$\$"
    r"|\$(?P<dollar>(?![\s\d$])[^$\n]{0,500}?[^$\s\\]|\d[\d.,]{0,20}(?=\$)"
    r"|\d[^$\n]{0,200}?[\\^_=+*/<>][^$\n]{0,200}?[^$\s\\])\$(?!\d)",
    re.DOTALL,
)
_BLOCK = re.compile(
    r"(?:\$\$(?P<dollars>[^$]+)\$\$|\\\[(?P<square>(?:[^\\]|\\(?![\[\]]))+)\\\])"
    r"[ \t]{0,20}[.,]?[ \t]{0,20}(?:\n|\Z)",
    re.DOTALL,
)
_SIMPLE: dict[str, Callable[..., Any]] = {
    "strong": html.Strong, "em": html.Em, "s": html.S,
    "list_item": html.Li, "blockquote": html.Blockquote, "table": html.Table,
    "thead": html.Thead, "tbody": html.Tbody, "tr": html.Tr,
}  # fmt: skip


def build_markdown(text: str) -> list[Any]:
    """Show Markdown with tables, code and formulas.

    Addresses of links stand behind their text, and only images that the text itself holds are
    shown, so nothing leads elsewhere or is loaded from there.
    """
    from markdown_it.tree import SyntaxTreeNode

    return _build_all(SyntaxTreeNode(_parser().parse(text)))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.inline.ruler.before("escape", "formula", _read_formula)
    parser.block.ruler.before(
        "fence", "formula_block", _read_block, {"alt": ["paragraph", "reference", "list"]}
    )
    return parser


def _read_formula(state: StateInline, silent: bool) -> bool:
    n_found = state.env.get("n_formulas", 0)
    if state.src[state.pos] not in "\\$" or n_found >= _MOST_FORMULAS:
        return False
    match = _FORMULA.match(state.src, state.pos, state.pos + MOST_CHARACTERS)
    if match is None:
        return False
    if not silent:
        token = state.push("formula", "", 0)
        token.content = next(filter(None, match.groups()))
        token.meta = {"is_block": bool(match["square"] or match["dollars"])}
        state.env["n_formulas"] = n_found + 1
    state.pos = match.end()
    return True


def _read_block(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    start = state.bMarks[start_line] + state.tShift[start_line]
    if state.src[start : start + 2] not in {"$$", "\\["}:
        return False
    end = min(state.eMarks[end_line - 1], start + MOST_CHARACTERS)
    match = _BLOCK.match(state.src, start, end)
    if match is None or "\n\n" in match[0].rstrip():
        return False
    if not silent:
        line = start_line + max(1, match[0].rstrip("\n").count("\n") + 1)
        token = state.push("formula", "", 0)
        token.content, token.meta = next(filter(None, match.groups())), {"is_block": True}
        state.line = line
    return True


def _build_all(node: SyntaxTreeNode) -> list[Any]:
    return [_build(child) for child in node.children]


def _build(node: SyntaxTreeNode) -> Any:
    build = _SIMPLE.get(node.type)
    if build is not None:
        return build(_build_all(node))
    special = _SPECIAL.get(node.type)
    return special(node) if special is not None else html.Span(node.content)


def _build_paragraph(node: SyntaxTreeNode) -> Any:
    return html.Span(_build_all(node)) if node.hidden else html.P(_build_all(node))


def _build_heading(node: SyntaxTreeNode) -> Any:
    return html.P(_build_all(node), className=f"answer-heading is-{node.tag}")


def _build_cell(node: SyntaxTreeNode) -> Any:
    cell = html.Th if node.type == "th" else html.Td
    return cell(_build_all(node))


def _build_list(node: SyntaxTreeNode) -> Any:
    if node.type == "bullet_list":
        return html.Ul(_build_all(node), dir="auto")
    return html.Ol(_build_all(node), start=str(node.attrs.get("start", 1)), dir="auto")


def _build_link(node: SyntaxTreeNode) -> Any:
    address = str(node.attrs.get("href", ""))
    return html.Span([*_build_all(node), " (", html.Code(address), ")"])


def _build_image(node: SyntaxTreeNode) -> Any:
    source = str(node.attrs.get("src", ""))
    if _IMAGE.fullmatch(source):
        return html.Img(src=source, alt=node.content or "image", className="answer-image")
    return html.Span([f"{node.content or 'image'} (", html.Code(source[:200]), ")"])


_SPECIAL: dict[str, Callable[[SyntaxTreeNode], Any]] = {
    "inline": lambda node: html.Span(_build_all(node)),
    "paragraph": _build_paragraph,
    "heading": _build_heading,
    "bullet_list": _build_list,
    "ordered_list": _build_list,
    "th": _build_cell,
    "td": _build_cell,
    "link": _build_link,
    "image": _build_image,
    "text": lambda node: node.content,
    "softbreak": lambda _node: html.Br(),
    "hardbreak": lambda _node: html.Br(),
    "hr": lambda _node: html.Hr(),
    "code_inline": lambda node: html.Code(node.content, className="inline-code"),
    "code_block": lambda node: build_code(node.content),
    "fence": lambda node: build_code(node.content, node.info.strip().partition(" ")[0]),
    "formula": lambda node: build_formula(node.content, is_block=bool(node.meta["is_block"])),
}


MOST_CHARACTERS = 2_000
_MOST_ELEMENTS = 2_000
_MOST_DEPTH = 60
_REFUSED = re.compile(
    r"\\(?:def|let|gdef|edef|newcommand|renewcommand|providecommand|href|url|style|class|require)\b"
)
"""Macros, which can grow without limit, and what leads elsewhere."""
_TAGS = frozenset({
    "math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "msub",
    "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts", "mprescripts",
    "mtable", "mtr", "mtd", "mstyle", "mpadded", "mphantom", "menclose", "mfenced", "none",
})  # fmt: skip
_ATTRIBUTES = frozenset({
    "display", "mathvariant", "stretchy", "fence", "form", "accent", "lspace", "rspace",
    "columnalign", "rowspacing", "width", "linethickness", "displaystyle", "scriptlevel",
    "minsize", "maxsize", "movablelimits", "separator",
})  # fmt: skip
_VALUE = re.compile(r"[\w .%+-]{1,40}")


def build_formula(latex: str, *, is_block: bool = False) -> Any:
    """Show a formula; one that is too long, too deep or not understood stays LaTeX.

    Args:
        latex: Without its delimiters.
        is_block: True if it stands on lines of its own.
    """
    drawn = None if _is_refused(latex) else _convert(latex, is_block=is_block)
    if drawn is None:
        return html.Code(latex, className="formula-source")
    return Element("span", {"className": "formula", "title": latex}, (drawn,))


def _is_refused(latex: str) -> bool:
    is_deep = latex.count("{") > _MOST_DEPTH * 4 or latex.count("\\left") > _MOST_DEPTH
    return len(latex) > MOST_CHARACTERS or is_deep or bool(_REFUSED.search(latex))


def _convert(latex: str, *, is_block: bool) -> Element | None:
    from latex2mathml.converter import convert_to_element

    try:
        found = convert_to_element(latex, display="block" if is_block else "inline")
    except Exception:  # noqa: BLE001 - the library raises any error on text that is not LaTeX
        return None
    if sum(1 for _ in found.iter()) > _MOST_ELEMENTS:
        return None
    return _copy(found, _MOST_DEPTH)


def _copy(element: XmlElement, depth: int) -> Element | None:
    """Copy the elements and attributes that draw; None if anything else is there."""
    tag = element.tag.rpartition("}")[2]
    if tag not in _TAGS or depth == 0:
        return None
    children: list[Element | str] = [unescape(element.text)] if element.text else []
    for child in element:
        copied = _copy(child, depth - 1)
        if copied is None:
            return None
        children.append(copied)
    kept = {
        name: value
        for name, value in element.attrib.items()
        if name in _ATTRIBUTES and _VALUE.fullmatch(value)
    }
    return Element(tag, kept, tuple(children))


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
