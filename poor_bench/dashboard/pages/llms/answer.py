"""What came back for a prompt that was tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.components.plain_text import folded, plain_text
from poor_bench.dashboard.text.figures_text import milliseconds_text
from poor_bench.models.completion import Completion

if TYPE_CHECKING:
    from dash.development.base_component import Component


def tried_answer(completion: Completion) -> Component:
    """Return the answer with its thinking, tokens and times."""
    usage, timing = completion.usage, completion.timing
    figures = {
        "Time": milliseconds_text(timing.total_ms),
        "Time to first token": milliseconds_text(timing.first_token_ms),
        "Model load": milliseconds_text(timing.load_ms),
        "Prompt processing": milliseconds_text(timing.prefill_ms),
        "Generation": milliseconds_text(timing.decode_ms),
        "Prompt tokens": str(usage.prompt_tokens or "-"),
        "Completion tokens": str(usage.completion_tokens or "-"),
        "Finish reason": completion.finish_reason.value,
    }
    known = {name: text for name, text in figures.items() if text != "-"}
    return html.Div(
        [
            plain_text(completion.text or "The answer is empty."),
            folded("Thinking", plain_text(completion.thinking)) if completion.thinking else None,
            html.Dl(
                [html.Div([html.Dt(name), html.Dd(text)]) for name, text in known.items()],
                className="figures",
            ),
            *(html.P(note, className="quiet") for note in completion.notes),
        ]
    )
