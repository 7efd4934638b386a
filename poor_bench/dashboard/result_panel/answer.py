"""The answer of a result, rendered or raw, and the thinking before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.components.blocks import data
from poor_bench.dashboard.components.texts import build_folded, plain_text
from poor_bench.dashboard.result_panel.addresses import text_address
from poor_bench.dashboard.services.panel_results import TextPart
from poor_bench.dashboard.text.rendering import MOST_RENDERED, build_rendered
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.trial_search import ResultDetails


def build_answer(details: ResultDetails) -> Component | None:
    """Show the answer without its thinking; one that is more than text can be read rendered."""
    if not details.answer.strip():
        text = "The answer is empty." if details.result.failure is None else None
        return html.Section([html.H3("Answer"), html.P(text, className="quiet")]) if text else None
    whole = text_address(details.result, TextPart.ANSWER)
    raw = plain_text(details.answer, details.answer_span, whole=whole)
    rendered = build_rendered(details.answer)
    if rendered is None:
        note = f" ({len(details.answer):,} characters)"
        is_long = len(details.answer) > MOST_RENDERED
        return html.Section([html.H3(f"Answer{note if is_long else ''}"), raw])
    return html.Section(
        [
            html.H3(["Answer", *_build_switch()]),
            html.Div(rendered, className="answer-rendered"),
            html.Div(raw, className="answer-raw"),
        ]
    )


def _build_switch() -> list[Component]:
    """Build a button for either form; styles show the one that leads to the other form."""
    return [
        html.Button(
            f"Show {form}",
            type="button",
            className=f"quiet-button to-{form}",
            **data(answer_form=form),
        )
        for form in ("raw", "rendered")
    ]


def build_thinking(details: ResultDetails) -> Component | None:
    """Show the thinking, folded; None without any."""
    thinking = details.thinking
    if not thinking:
        return None
    n_words = len(thinking.split())
    whole = text_address(details.result, TextPart.THINKING)
    return build_folded(
        f"Thinking ({write_count(n_words, 'word')})", plain_text(thinking, whole=whole)
    )
