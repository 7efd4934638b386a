"""The configured LLMs, and those that a server has beyond them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dash import dcc, html

from poor_bench.dashboard.components.attributes import aria
from poor_bench.dashboard.components.buttons import choose_button
from poor_bench.dashboard.components.states import empty_state
from poor_bench.dashboard.links import model_link
from poor_bench.dashboard.pages.llms.ids import LLMsIds as Ids
from poor_bench.models.llm import LLM
from poor_bench.ports import Reachability

if TYPE_CHECKING:
    from dash.development.base_component import Component

_HEADINGS = ("Model", "Reachable", "Size", "Server", "Parameters", "")


def listed_llms(llms: Sequence[LLM], checks: Mapping[str, Reachability] | None) -> Component:
    """Return the table of the configured LLMs.

    Args:
        llms: In the order of the file.
        checks: LLM id to whether it can be asked; None while the endpoints are asked.
    """
    if not llms:
        return empty_state("No LLM yet", "Add one below; a local Ollama is the easiest way.")
    return html.Div(
        html.Table(
            [
                html.Thead(html.Tr([html.Th(heading, scope="col") for heading in _HEADINGS])),
                html.Tbody([_row(llm, checks) for llm in llms]),
            ],
            className="sheet llm-table",
        ),
        className="sheet-frame",
        tabIndex="0",
        role="region",
        **aria(label="Configured LLMs"),
    )


def _row(llm: LLM, checks: Mapping[str, Reachability] | None) -> Component:
    parameters = ", ".join(f"{name}={value}" for name, value in llm.parameters.items())
    other = "off" if llm.enabled else "on"
    switch = choose_button(
        f"Switch {other}", Ids.SWITCHED, llm.id, label=f"Switch {llm.id} {other}"
    )
    edit = choose_button("Edit", Ids.EDITED, llm.id, label=f"Edit {llm.id}")
    return html.Tr(
        [
            html.Th(
                [
                    dcc.Link(llm.label or llm.id, href=model_link(llm.id), className="strip-name"),
                    html.Div(llm.id, className="quiet") if llm.label else None,
                ],
                scope="row",
            ),
            html.Td(_reachable(llm, checks)),
            html.Td(f"{llm.size:g} B" if llm.size else "-", className="number"),
            html.Td(llm.endpoint or "the provider's own", className="quiet"),
            html.Td(parameters[:120] or "-", className="quiet"),
            html.Td(html.Div([edit, switch], className="row-buttons")),
        ],
        className="" if llm.enabled else "is-off",
    )


def _reachable(llm: LLM, checks: Mapping[str, Reachability] | None) -> Component:
    check = (checks or {}).get(llm.id)
    if check is None:
        return html.Span("asking ...", className="quiet")
    if check.state == "ready":
        return _state("yes", "good", check.message)
    return _state(check.state, "bad", check.message)


def _state(text: str, kind: str, message: str) -> Component:
    return html.Div(
        [
            html.Span(text, className=f"state-mark is-{kind}"),
            html.Div(message, className="state-message") if message else None,
        ]
    )


def found_models(entries: Sequence[Mapping[str, Any]]) -> Component:
    """Return the models that a server has and llms.json has not."""
    if not entries:
        return html.P("Every model of this server is listed already.", className="quiet")
    return html.Ul([_found(entry) for entry in entries], className="found-models")


def _found(entry: Mapping[str, Any]) -> Component:
    name = str(entry["name"])
    facts = [
        f"{entry['size']:g} B" if entry.get("size") else "",
        str(entry.get("_quantization", "")),
    ]
    return html.Li(
        [
            html.Span(name, className="strip-name"),
            html.Span(" · ".join(fact for fact in facts if fact), className="quiet"),
            choose_button("Add", Ids.TAKEN, name, label=f"Add {name}"),
        ]
    )
