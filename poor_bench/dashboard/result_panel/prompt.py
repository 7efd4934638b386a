"""The prompt of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.components.texts import build_folded, plain_text

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.trial_search import ResultDetails


def build_prompt(details: ResultDetails) -> Component | None:
    """Show what was sent: system prompt and user message."""
    if not details.prompt:
        return None
    as_today = "" if details.is_prompt_stored else " (rendered from the current files)"
    system = plain_text(details.system_prompt) if details.system_prompt else None
    return build_folded(
        f"Prompt{as_today}",
        html.H4("System") if system else None,
        system,
        html.H4("User") if system else None,
        plain_text(details.prompt),
        is_open=True,
    )
