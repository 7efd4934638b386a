"""Formulas in LaTeX as MathML, which browsers draw without a script or a font of ours."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Any

from dash import html

from poor_bench.dashboard.components.tables import Element

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element as XmlElement

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
