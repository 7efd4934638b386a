"""Configured models, models of a server, and the answer to a tried prompt."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from dash import dcc, html
from dash.development.base_component import Component

from poor_bench import metrics
from poor_bench.config.edit_entries import LLMAction
from poor_bench.dashboard.components.badges import settings_badges
from poor_bench.dashboard.components.blocks import aria, empty_state, figures_list, set_code
from poor_bench.dashboard.components.controls import choose_button, page_steps
from poor_bench.dashboard.components.sheets import SheetColumn, SheetTable
from poor_bench.dashboard.components.tables import number, quiet
from poor_bench.dashboard.components.texts import build_folded, plain_text
from poor_bench.dashboard.pages.llms.layout import LINKS, LLMsIds, LLMsUrl
from poor_bench.dashboard.text.formatting import setting_text, size_text
from poor_bench.dashboard.url_state import model_link
from poor_bench.messages import write_count
from poor_bench.models.completion import Completion
from poor_bench.models.llm import LLM
from poor_bench.ports import Reachability
from poor_bench.probe.load_curve import LoadBar, LoadCurve
from poor_bench.probe.report import ProbeReport

PAGE_SIZE = 50
"""Models of one page: the buttons of hundreds take a browser seconds to draw."""
NO_CHOICE = LLMsUrl()
_SHARED = 3
"""From how many LLMs on a message stands once above the table instead of in each row."""


def build_llm_table(
    llms: Sequence[LLM],
    checks: Mapping[str, Reachability] | None,
    probes: Mapping[str, ProbeReport] = MappingProxyType({}),
    url: LLMsUrl = NO_CHOICE,
) -> Component:
    """Build one page of the configured models.

    Args:
        llms: All, in the order of the file.
        checks: LLM id to its reachability; None while the endpoints are asked.
        probes: LLM id to what a probe found of its settings.
        url: State of the page.
    """
    if not llms:
        return empty_state("No models yet", "Add model.")
    messages = Counter(check.message for check in (checks or {}).values() if check.message)
    shared = {message: n for message, n in messages.items() if n >= _SHARED}
    above = html.Ul(
        [_build_shared_message(*each) for each in shared.items()], className="shared-messages"
    )
    table = define_models(checks, shared, probes)
    url = replace(url, page=min(url.page, -(-len(llms) // PAGE_SIZE)))
    start = (url.page - 1) * PAGE_SIZE
    page = table.sort(llms, url.find_view(table.name))[start : start + PAGE_SIZE]

    def style(llm: LLM) -> dict[str, str]:
        return {"class_name": "" if llm.enabled else "is-off"}

    return html.Div(
        [
            table.draw(page, LINKS, url, kind="sheet llm-table", above=above, style=style),
            page_steps(LINKS, url, len(llms), PAGE_SIZE, label="Models"),
        ]
    )


def define_models(
    checks: Mapping[str, Reachability] | None,
    shared: Collection[str] = (),
    probes: Mapping[str, ProbeReport] = MappingProxyType({}),
) -> SheetTable[LLM]:
    """Define the table of the configured models.

    Args:
        checks: See `build_llm_table`.
        shared: Messages that stand above the table.
        probes: See `build_llm_table`.
    """

    def state(llm: LLM) -> str | None:
        check = (checks or {}).get(llm.id)
        return None if check is None else check.state

    def message(llm: LLM) -> str | None:
        check = (checks or {}).get(llm.id)
        return None if check is None else check.message

    def notes(llm: LLM) -> str | None:
        probe = probes.get(llm.id)
        return ", ".join(probe.notes) or "obeyed" if probe and probe.findings else None

    def concurrency(llm: LLM) -> int | None:
        probe = probes.get(llm.id)
        return probe.load.recommended if probe and probe.load else None

    return SheetTable(
        name="models",
        label="Configured",
        kept=[("Model ID", lambda llm: llm.id)],
        columns=[
            SheetColumn(field="model", heading="Model", value=lambda llm: llm.label or llm.id,
                        cell=_link_model,
                        further=[("Provider", lambda llm: llm.provider),
                                 ("Name", lambda llm: llm.name),
                                 ("Enabled", lambda llm: llm.enabled)]),
            SheetColumn(field="reachable", heading="Reachable", value=state,
                        cell=lambda llm: _reachable((checks or {}).get(llm.id), shared),
                        further=[("Message", message)]),
            SheetColumn(field="size", heading="Size", value=lambda llm: llm.size,
                        cell=lambda llm: number(size_text(llm.size) or "n/a"),
                        file_heading="Size (B)"),
            SheetColumn(field="server", heading="Server", value=lambda llm: llm.endpoint,
                        cell=lambda llm: quiet(llm.endpoint or "default"),
                        further=[("API key variable", lambda llm: llm.api_key_env),
                                 ("Concurrent requests", lambda llm: llm.concurrency),
                                 ("Requests per minute", lambda llm: llm.requests_per_minute)]),
            SheetColumn(field="parameters", heading="Parameters", value=_write_parameters,
                        cell=_show_parameters),
            SheetColumn(field="settings", heading="Settings", value=notes,
                        cell=lambda llm: _build_probe(probes.get(llm.id)),
                        further=[("Recommended", concurrency)]),
            SheetColumn(field="actions", heading="Actions", value=lambda _: None,
                        cell=_build_actions, is_on_screen_only=True),
        ],
    )  # fmt: skip


def _link_model(llm: LLM) -> list[Component | None]:
    return [
        dcc.Link(llm.label or llm.id, href=model_link(llm.id), className="strip-name"),
        html.Div(llm.id, className="quiet") if llm.label else None,
    ]


def _write_parameters(llm: LLM) -> str:
    return json.dumps(dict(llm.parameters), ensure_ascii=False)


def _show_parameters(llm: LLM) -> Component:
    return quiet(", ".join(setting_text(*each) for each in llm.parameters.items())[:120] or "-")


def _build_shared_message(message: str, number: int) -> Component:
    return html.Li([html.Strong(f"{write_count(number, 'model')}: "), *set_code(message)])


def _reachable(check: Reachability | None, shared: Collection[str]) -> Component:
    if check is None:
        return html.Span("checking ...", className="quiet")
    message = "" if check.message in shared else check.message
    if check.state == "ready":
        return _state("yes", "good", message)
    return _state(check.state, "bad", message)


def _state(text: str, kind: str, message: str) -> Component:
    return html.Div(
        [
            html.Span(text, className=f"state-mark is-{kind}"),
            html.Div(set_code(message), className="state-message") if message else None,
        ]
    )


def build_found_models(entries: Sequence[Mapping[str, Any]]) -> Component:
    """List the models that a server has and llms.json has not."""
    if not entries:
        return html.P("All configured.", className="quiet")
    return html.Ul([_build_found(entry) for entry in entries], className="found-models")


def _build_found(entry: Mapping[str, Any]) -> Component:
    name = str(entry["name"])
    facts = [
        size_text(entry.get("size")),
        str(entry.get("_quantization", "")),
        f"runs at {entry['_remote']}" if entry.get("_remote") else "",
    ]
    return html.Li(
        [
            html.Span(name, className="strip-name"),
            html.Span(" · ".join(fact for fact in facts if fact), className="quiet"),
            choose_button("Add", LLMsIds.TAKEN, name, label=f"Add {name}"),
        ]
    )


def build_tried_answer(completion: Completion) -> Component:
    """Build the answer with its thinking, tokens and times."""
    usage, timing = completion.usage, completion.timing
    told = {
        metrics.MEAN_TIME: timing.total_ms,
        metrics.FIRST_TOKEN: timing.first_token_ms,
        metrics.LOAD: timing.load_ms,
        metrics.PROMPT_PROCESSING: timing.prefill_ms,
        metrics.GENERATION: timing.decode_ms,
        metrics.PROMPT_TOKENS: usage.prompt_tokens,
        metrics.COMPLETION_TOKENS: usage.completion_tokens,
    }
    figures = {
        **{metric.label: metric.text(value) or "-" for metric, value in told.items()},
        "Finish reason": completion.finish_reason.value,
    }
    return html.Div(
        [
            plain_text(completion.text or "empty answer"),
            build_folded("Thinking", plain_text(completion.thinking))
            if completion.thinking
            else None,
            figures_list(figures),
            *(html.P(note, className="quiet") for note in completion.notes),
        ]
    )


_ARRANGING = (
    ("Duplicate", LLMAction.DUPLICATE, "Duplicate"),
    ("↑", LLMAction.MOVE_UP, "Move up"),
    ("↓", LLMAction.MOVE_DOWN, "Move down"),
)


_NOT_PROBED = html.Div(set_code("not probed: `llms probe`"), className="quiet")


def _build_probe(probe: ProbeReport | None) -> Component:
    """Show whether the server obeys the settings, when that was probed, and the load curve."""
    if probe is None:
        return _NOT_PROBED
    curve = build_load_chart(probe.load) if probe.load else None
    if not probe.findings:
        return html.Div([_NOT_PROBED, curve])
    obeyed = html.Span("obeyed", className="state-mark is-good") if probe.is_clean else None
    day = html.Div(f"probed {probe.created[:10]}", className="quiet")
    return html.Div([settings_badges(probe.notes) or obeyed, day, curve])


def build_load_chart(curve: LoadCurve) -> Component:
    """Draw throughput by requests at once, with the recommended concurrency marked."""
    bars = curve.draw()
    told = "; ".join(_describe_level(bar) for bar in bars)
    text = f"Concurrent requests: {told}."
    return html.Div(
        [
            html.Div(
                [_build_level(bar) for bar in bars],
                className="load-chart",
                role="img",
                title=text,
                **aria(label=text),
            ),
            html.Div(f"recommended: {curve.recommended}", className="quiet"),
        ]
    )


def _build_level(bar: LoadBar) -> Component:
    return html.Span(
        [
            html.Span(className="load-bar", style={"--share": f"{bar.share:.3f}"}),
            html.Span(str(bar.level.concurrency), className="load-tick"),
        ],
        className="load-level is-knee" if bar.is_knee else "load-level",
    )


def _describe_level(bar: LoadBar) -> str:
    level = bar.level
    speed = (
        f"{level.requests_per_s:.2f} requests/s"
        if level.tokens_per_s is None
        else f"{metrics.speed_text(level.tokens_per_s)} tokens/s"
    )
    slowest = f", p95 {metrics.time_text(level.p95_ms)}" if level.p95_ms is not None else ""
    return f"{level.concurrency}: {speed}{slowest}{' (recommended)' if bar.is_knee else ''}"


def _build_actions(llm: LLM) -> Component:
    other = "Disable" if llm.enabled else "Enable"
    switch = choose_button(other, LLMsIds.SWITCHED, llm.id, label=f"{other} {llm.id}")
    edit = choose_button("Edit", LLMsIds.EDITED, llm.id, label=f"Edit {llm.id}")
    delete = choose_button("Delete", LLMsIds.DELETED, llm.id, label=f"Delete {llm.id}")
    arrange = [
        choose_button(text, LLMsIds.ARRANGED, f"{action} {llm.id}", label=f"{said} {llm.id}")
        for text, action, said in _ARRANGING
    ]
    return html.Div([edit, switch, *arrange, delete], className="row-buttons")
