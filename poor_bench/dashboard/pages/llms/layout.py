"""The page without its data: what is listed, what can be added, one prompt to try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
from dash import dcc, html

from poor_bench.dashboard.components.attributes import aria
from poor_bench.dashboard.components.buttons import csv_button, small_button
from poor_bench.dashboard.components.card import card, page_head
from poor_bench.dashboard.components.choice import options_of, single_choice
from poor_bench.dashboard.components.states import loading_state
from poor_bench.dashboard.pages.llms.ids import LLMsIds as Ids
from poor_bench.providers.catalog import provider_names

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.links import Search

WAIT_MS = 700
_PROMPT = "What is 17 + 25? Reply with the number only."


def layout(_search: Search) -> Component:
    """Return the page without data."""
    check = small_button("Check again", Ids.CHECK, "refresh")
    return html.Div(
        [
            page_head("Models", html.Span(id=Ids.NOTE)),
            card(
                "Configured",
                html.Div(loading_state(4), id=Ids.LISTED),
                note="Entries of llms.json. Runs use the enabled ones.",
                tools=[check, csv_button(Ids.CSV, "the models")],
            ),
            html.Div(
                [_try_card(), html.Div([_found_card(), _add_card()], className="page-body")],
                className="card-row",
            ),
            dmc.Modal(id=Ids.EDITOR, size="xl", closeButtonProps=aria(label="Close"), children=[]),
            dcc.Interval(id=Ids.WAIT, interval=WAIT_MS, disabled=True),
            dcc.Download(id=Ids.DOWNLOAD),
            *(dcc.Store(id=store) for store in (Ids.SWITCHED, Ids.EDITED, Ids.TAKEN)),
        ],
        className="page-body",
    )


def _try_card() -> Component:
    return card(
        "Try a prompt",
        html.Div(
            [
                single_choice(Ids.ASKED, "Model"),
                dmc.Textarea(
                    id=Ids.PROMPT,
                    label="Prompt",
                    value=_PROMPT,
                    autosize=True,
                    minRows=2,
                    size="xs",
                ),
                html.Div(dmc.Button("Send", id=Ids.ASK, size="xs", n_clicks=0)),
                dcc.Loading(html.Div(id=Ids.ANSWER, className="tried-answer"), type="dot"),
            ],
            className="form-stack",
        ),
        note="Sent with the system prompt of the model. Nothing is stored.",
    )


def _found_card() -> Component:
    return card(
        "Ollama models",
        html.Div(
            [
                dmc.TextInput(
                    id=Ids.ENDPOINT, label="Server", size="xs", placeholder="http://127.0.0.1:11434"
                ),
                dmc.Button("List models", id=Ids.LOOK, variant="default", size="xs", n_clicks=0),
            ],
            className="form-line",
        ),
        html.Div(loading_state(2), id=Ids.FOUND),
        note="Models of this server that are not in llms.json.",
    )


def _add_card() -> Component:
    provider = single_choice(Ids.PROVIDER, "Provider", chosen="ollama")
    provider.children.data = options_of((name, name) for name in provider_names())
    fields: list[Any] = [
        provider,
        _text(Ids.NAME, "Model", "such as gemma3:1b"),
        _text(Ids.ADD_ENDPOINT, "Server", "default of the provider"),
        _text(Ids.KEY, "API key variable", "such as OPENAI_API_KEY"),
        dmc.NumberInput(
            id=Ids.SIZE, label="Size", placeholder="billions of parameters", min=0, size="xs"
        ),
        _text(Ids.PARAMETERS, "Parameters", "temperature=0 max_tokens=512"),
    ]
    return card(
        "Add a model",
        html.Div(fields, className="form-grid"),
        html.Div(id=Ids.ADD_RESULT, className="form-result"),
        dmc.Button("Add to llms.json", id=Ids.ADD, size="xs", n_clicks=0),
    )


def _text(field_id: Ids, label: str, placeholder: str) -> Component:
    field: Component = dmc.TextInput(
        id=field_id, label=label, placeholder=placeholder, size="xs", value=""
    )
    return field
