"""The answer of a result and the thinking before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.components.texts import build_folded, plain_text
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.trial_search import ResultDetails


def build_answer(details: ResultDetails) -> Component:
    """Show the answer without its thinking."""
    return html.Section([html.H3("Answer"), plain_text(details.answer, details.answer_span)])


def build_thinking(details: ResultDetails) -> Component | None:
    """Show the thinking, folded; None without any."""
    if not details.thinking:
        return None
    n_words = len(details.thinking.split())
    return build_folded(f"Thinking ({write_count(n_words, 'word')})", plain_text(details.thinking))
