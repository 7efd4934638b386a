"""Choose how an answer is shown besides as the text that it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from dash import html

from poor_bench.dashboard.rich_text.json_tree import build_json_tree
from poor_bench.dashboard.rich_text.markdown import build_markdown

if TYPE_CHECKING:
    from dash.development.base_component import Component

MOST_RENDERED = 20_000
"""Characters of an answer that is rendered; a longer one is shown raw only."""
_MARKUP = re.compile(
    r"^ {0,3}(?:#{1,6} |[-*+] |\d+[.)] |> |```|~~~|\|.*\|)|\*\*\S|__\S|`[^`\n]+`"
    r"|!?\[[^\[\]\n]{0,300}\]\(|\\\(|\\\[|\$\$|\$[^\s$][^$\n]*\$",
    re.MULTILINE,
)


def _strip_fence(text: str) -> str:
    """Remove the fence of an answer that is one block of code."""
    first, newline, rest = text.strip().partition("\n")
    is_fenced = newline and first.rstrip().lower() in {"```", "```json"} and rest.endswith("```")
    return rest.removesuffix("```") if is_fenced else text


def build_rendered(text: str) -> Component | None:
    """Show an answer as JSON or Markdown; None if it is plain text, or too long for that."""
    if len(text) > MOST_RENDERED:
        return None
    tree = build_json_tree(_strip_fence(text))
    if tree is not None:
        return tree
    if not _MARKUP.search(text):
        return None
    parts: list[Any] = build_markdown(text)
    return html.Div(parts, className="rendered-text", tabIndex="0")
