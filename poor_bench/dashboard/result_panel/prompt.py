"""The prompt of a result: what was sent, and where it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.components.texts import build_folded, difference, plain_text
from poor_bench.dashboard.result_panel.addresses import text_address
from poor_bench.dashboard.services.panel_results import TextPart
from poor_bench.dashboard.text.differences import compare_texts

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.panel_results import PanelResult


def build_prompt(panel: PanelResult) -> Component | None:
    """Show what was sent: system prompt, user message, and the template behind it."""
    details = panel.details
    if not details.prompt:
        return None
    prompt = plain_text(details.prompt, whole=text_address(details.result, TextPart.PROMPT))
    system = plain_text(details.system_prompt, whole=text_address(details.result, TextPart.SYSTEM))
    return html.Section(
        [
            html.H3(["Prompt", _build_badge(panel)]),
            *([html.H4("System"), system, html.H4("User")] if details.system_prompt else []),
            prompt,
            _build_changes(panel),
            _build_template(panel),
        ]
    )


def _build_badge(panel: PanelResult) -> Component | None:
    if not panel.details.is_prompt_stored:
        title = "The result has no stored prompt. This one is built from today's files."
        return html.Span("not stored: as of today", className="warning-badge", title=title)
    if panel.prompt.changed_to is not None:
        title = "Test, template or system prompt changed since. This is what was sent."
        return html.Span("changed since", className="warning-badge", title=title)
    return None


def _build_changes(panel: PanelResult) -> Component | None:
    if panel.prompt.changed_to is None:
        return None
    sent = panel.details.system_prompt, panel.details.prompt
    before, now = ("\n\n".join(filter(None, each)) for each in (sent, panel.prompt.changed_to))
    return build_folded(
        "What changed",
        html.P([html.Del("sent"), " ", html.Ins("today")], className="difference-key"),
        difference(compare_texts(before, now)),
    )


def _build_template(panel: PanelResult) -> Component | None:
    facts = panel.prompt
    if not facts.template:
        return None
    kind = f"override for {facts.override}" if facts.override is not None else "default"
    since = ", as of today" if facts.changed_to or not panel.details.is_prompt_stored else ""
    title = f"Template of {panel.details.class_id}: {kind}{since}"
    return build_folded(title, plain_text(facts.template))
