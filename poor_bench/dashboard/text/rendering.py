"""Answers as models meant them to look: Markdown, or JSON as a tree that opens and closes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from dash import html
from dash.development.base_component import Component

from poor_bench.dashboard.text.markdown import build_markdown
from poor_bench.messages import cut_text, write_count
from poor_bench.safe_files import load_json_text

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


_MOST_NODES = 2_000
_MOST_CHARACTERS = 200_000
_LONGEST_VALUE = 500
_OPEN_LEVELS = 2


def build_json_tree(text: str) -> Component | None:
    """Show JSON as a tree; None if it is not an object or a list, or nested over 100 levels."""
    if len(text) > _MOST_CHARACTERS or text.strip()[:1] not in {"{", "["}:
        return None
    try:
        value = load_json_text(text)
    except (ValueError, RecursionError):
        return None
    left = [_MOST_NODES]
    return html.Div(_build_node("", value, 0, left), className="json-tree", tabIndex="0")


def _build_node(name: str, value: Any, level: int, left: list[int]) -> Component:
    """Build one value with its name; `left` holds how many more are shown."""
    left[0] -= 1
    head = [html.Span(f"{name}: ", className="json-name")] if name else []
    if not isinstance(value, dict | list) or not value:
        return html.Div([*head, _build_value(value)], className="json-leaf")
    members = list(_members(value))
    shown = [
        _build_node(key, member, level + 1, left)
        for key, member in islice(members, max(0, left[0]))
        if left[0] > 0
    ]
    rest = len(members) - len(shown)
    if rest > 0:
        shown.append(html.Div(f"and {rest:,} more", className="quiet"))
    kind = write_count(len(members), "field" if isinstance(value, dict) else "item")
    return html.Details(
        [
            html.Summary([*head, html.Span(kind, className="quiet")]),
            html.Div(shown, className="json-members"),
        ],
        open=level < _OPEN_LEVELS,
    )


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, member in value.items():
            yield cut_text(json.dumps(key, ensure_ascii=False), _LONGEST_VALUE), member
    else:
        for place, member in enumerate(value):
            yield str(place), member


def _build_value(value: Any) -> Component:
    kind = "string" if isinstance(value, str) else "number"
    text = json.dumps(value, ensure_ascii=False)
    return html.Span(cut_text(text, _LONGEST_VALUE), className=f"code-{kind}")
