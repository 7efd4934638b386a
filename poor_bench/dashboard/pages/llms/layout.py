"""Layout of the page: ids, cards, and the form of an entry."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import dash_mantine_components as dmc
from dash import dcc, html
from dash.development.base_component import Component

from poor_bench.dashboard.components.blocks import (
    aria,
    card,
    loading_state,
    number_range,
    page_head,
)
from poor_bench.dashboard.components.controls import (
    StayLinks,
    build_options,
    file_buttons,
    single_choice,
    small_button,
)
from poor_bench.dashboard.forms import FormAnswer, guard_form
from poor_bench.dashboard.pages.llms.entry import LLMField, fill_form
from poor_bench.dashboard.url_state import TablesUrl
from poor_bench.models.llm import LLM
from poor_bench.providers.catalog import list_provider_names


class LLMsIds(StrEnum):
    """What callbacks of the page refer to."""

    SEARCH = "llms-search-store"
    NOTE = "llms-note-text"
    LISTED = "llms-listed-body"
    CHECK = "llms-check-button"
    WAIT = "llms-wait-interval"
    ENDPOINT = "llms-endpoint-input"
    LOOK = "llms-look-button"
    FOUND = "llms-found-body"
    PROVIDER = "llms-provider-select"
    NAME = "llms-name-input"
    ADD_ENDPOINT = "llms-add-endpoint-input"
    KEY = "llms-key-input"
    SIZE = "llms-size-input"
    PARAMETERS = "llms-parameters-input"
    ADD = "llms-add-button"
    ADD_RESULT = "llms-add-result-body"
    ASKED = "llms-asked-select"
    PROMPT = "llms-prompt-input"
    ASK = "llms-ask-button"
    ANSWER = "llms-answer-body"
    CSV = "llms-csv-button"
    DOWNLOAD = "llms-file-download"
    EDITOR = "llms-editor-modal"
    SWITCHED = "llms-switched-store"
    """Id of the LLM to switch on or off."""
    EDITED = "llms-edited-store"
    """Id of the LLM whose form is to be opened."""
    TAKEN = "llms-taken-store"
    """Name of the found model to add."""
    ARRANGED = "llms-arranged-store"
    """What is done with an entry and its id, such as `up scripted:one`."""
    DELETED = "llms-deleted-store"
    """Id of the entry that is to be deleted."""
    DELETE_DIALOG = "llms-delete-modal"
    DELETE_TEXT = "llms-delete-body"
    DELETE = "llms-delete-button"
    DELETE_BACK = "llms-delete-back-button"


class EditIds(StrEnum):
    """Types of the ids of that form, which is there only while it is open."""

    FIELD = "llms-edit-field-input"
    SAVE = "llms-edit-save-button"
    RESULT = "llms-edit-result-body"
    CONSENT = "llms-edit-consent-input"
    """Stands in both forms once a key would go to a server that is new."""


def form_id(kind: EditIds, llm_id: str) -> dict[str, str]:
    """Make the id of a part of the form of an LLM."""
    return {"type": kind, "index": llm_id}


def field_id(llm_id: str, field: str) -> dict[str, str]:
    """Make the id of a field of the form of an LLM."""
    return {"type": EditIds.FIELD, "index": llm_id, "field": field}


@dataclass(frozen=True, kw_only=True)
class LLMsUrl(TablesUrl):
    """The state of the page."""

    STEPS = frozenset({"page"})
    page: int = 1


WAIT_MS = 700
LINKS = StayLinks(LLMsIds.SEARCH)
_PROMPT = "What is 17 + 25?"


_STORES = (LLMsIds.SWITCHED, LLMsIds.EDITED, LLMsIds.TAKEN, LLMsIds.ARRANGED, LLMsIds.DELETED)


def layout(url: LLMsUrl) -> Component:
    """Build the page without data."""
    check = small_button("Check again", LLMsIds.CHECK, "refresh")
    return html.Div(
        [
            page_head("Models", html.Span(id=LLMsIds.NOTE)),
            card(
                "Configured",
                html.Div(loading_state(4, has_columns=True), id=LLMsIds.LISTED),
                tools=[check, file_buttons(LLMsIds.CSV)],
            ),
            html.Div(
                [_try_card(), html.Div([_build_found_card(), _add_card()], className="page-body")],
                className="card-row",
            ),
            dmc.Modal(
                id=LLMsIds.EDITOR,
                size="xl",
                closeOnClickOutside=False,
                closeButtonProps=aria(label="Close"),
                children=[],
            ),
            dcc.Store(id=LLMsIds.SEARCH, data=url.search),
            dcc.Interval(id=LLMsIds.WAIT, interval=WAIT_MS, disabled=True),
            dcc.Download(id=LLMsIds.DOWNLOAD),
            _delete_dialog(),
            *(dcc.Store(id=store) for store in _STORES),
        ],
        className="page-body",
    )


def _delete_dialog() -> Component:
    buttons = [
        dmc.Button("Back", id=LLMsIds.DELETE_BACK, variant="default", n_clicks=0),
        dmc.Button("Delete model", id=LLMsIds.DELETE, color="red", n_clicks=0),
    ]
    dialog: Component = dmc.Modal(
        [html.Div(id=LLMsIds.DELETE_TEXT), html.Div(buttons, className="dialog-buttons")],
        id=LLMsIds.DELETE_DIALOG,
        title="Delete model?",
        closeButtonProps=aria(label="Close"),
    )
    return dialog


def _try_card() -> Component:
    return card(
        "Try prompt",
        html.Div(
            [
                single_choice(LLMsIds.ASKED, "Model"),
                dmc.Textarea(
                    id=LLMsIds.PROMPT,
                    label="Prompt",
                    value=_PROMPT,
                    autosize=True,
                    minRows=2,
                    size="xs",
                ),
                html.Div(dmc.Button("Send", id=LLMsIds.ASK, size="xs", n_clicks=0)),
                dcc.Loading(html.Div(id=LLMsIds.ANSWER, className="tried-answer"), type="dot"),
            ],
            className="form-stack",
        ),
    )


def _build_found_card() -> Component:
    return card(
        "Ollama models",
        html.Div(
            [
                dmc.TextInput(
                    id=LLMsIds.ENDPOINT,
                    label="Server",
                    size="xs",
                    placeholder="http://127.0.0.1:11434",
                ),
                dmc.Button(
                    "List models", id=LLMsIds.LOOK, variant="default", size="xs", n_clicks=0
                ),
            ],
            className="form-line",
        ),
        html.Div(loading_state(2), id=LLMsIds.FOUND),
    )


def _add_card() -> Component:
    provider = single_choice(LLMsIds.PROVIDER, "Provider", chosen="ollama")
    provider.children.data = build_options((name, name) for name in list_provider_names())
    fields: list[Any] = [
        provider,
        _text(LLMsIds.NAME, "Model", "gemma3:1b"),
        _text(LLMsIds.ADD_ENDPOINT, "Server", "default"),
        _text(LLMsIds.KEY, "API key variable", "OPENAI_API_KEY"),
        dmc.NumberInput(
            id=LLMsIds.SIZE,
            label="Size",
            placeholder="billions of parameters",
            size="xs",
            **number_range(0),
        ),
        _text(LLMsIds.PARAMETERS, "Parameters", "temperature=0"),
    ]
    return card(
        "Add model",
        guard_form(
            "new model",
            [
                html.Div(fields, className="form-grid"),
                html.Div(id=LLMsIds.ADD_RESULT, className="form-result"),
                html.Div(dmc.Button("Add", id=LLMsIds.ADD, size="xs", n_clicks=0)),
            ],
        ),
    )


def _text(field_id: LLMsIds, label: str, placeholder: str) -> Component:
    field: Component = dmc.TextInput(
        id=field_id, label=label, placeholder=placeholder, size="xs", value=""
    )
    return field


_TEXTS = {
    LLMField.LABEL: ("Display name", ""),
    LLMField.ENDPOINT: ("Server", "default"),
    LLMField.KEY: ("API key variable", "OPENAI_API_KEY"),
}
_NUMBERS = {
    LLMField.SIZE: ("Size", "billions of parameters"),
    LLMField.CONCURRENCY: ("Concurrent requests", "default"),
    LLMField.RATE: ("Requests per minute", "no limit"),
    LLMField.PRICE_INPUT: ("Input price", "US$ per 1M tokens"),
    LLMField.PRICE_OUTPUT: ("Output price", "US$ per 1M tokens"),
    LLMField.PRICE_CACHED: ("Cached input price", "US$ per 1M tokens"),
}
_AREAS = {
    LLMField.SYSTEM_PROMPT: ("System prompt", ""),
    LLMField.PARAMETERS: ("Parameters (JSON, YAML)", "{}"),
}


def edit_form(llm: LLM) -> Component:
    """Build the form with what stands in llms.json."""
    shown = fill_form(llm)
    boxes = [
        *(_box(dmc.TextInput, llm, name, shown, *texts) for name, texts in _TEXTS.items()),
        *(_box(dmc.NumberInput, llm, name, shown, *texts) for name, texts in _NUMBERS.items()),
        _build_enabled_select(llm, shown),
    ]
    areas = [
        _box(dmc.Textarea, llm, name, shown, *texts, autosize=True, minRows=2, maxRows=14)
        for name, texts in _AREAS.items()
    ]
    save = dmc.Button("Save", id=form_id(EditIds.SAVE, llm.id), size="xs", n_clicks=0)
    return guard_form(
        llm.id,
        [
            html.Div(boxes, className="form-grid"),
            html.Div(areas, className="form-stack"),
            html.Div(id=form_id(EditIds.RESULT, llm.id), className="form-result"),
            html.Div(save),
        ],
    )


def _box(
    kind: Any,
    llm: LLM,
    name: LLMField,
    shown: dict[LLMField, Any],
    label: str,
    placeholder: str,
    **further: Any,
) -> Component:
    value = "" if shown[name] is None else shown[name]
    box: Component = kind(
        id=field_id(llm.id, name),
        label=label,
        placeholder=placeholder,
        value=value,
        size="xs",
        **further,
    )
    return box


def _build_enabled_select(llm: LLM, shown: dict[LLMField, Any]) -> Component:
    box: Component = dmc.Select(
        id=field_id(llm.id, LLMField.ENABLED),
        label="Enabled",
        data=["yes", "no"],
        value=shown[LLMField.ENABLED],
        allowDeselect=False,
        size="xs",
    )
    return box


def ask_consent(form: str, sentence: str) -> FormAnswer:
    """Show what is to be agreed to; nothing is written yet.

    Args:
        form: Id of the LLM whose form it is; empty for the form of a new one.
        sentence: From `ask_for_consent`; it is what the box reports once it is ticked, so that a
            server that is changed afterwards is asked about again.
    """
    box = dmc.CheckboxGroup(
        dmc.Checkbox(label=sentence, value=sentence, size="xs", radius="sm"),
        id=form_id(EditIds.CONSENT, form),
        value=[],
    )
    text = html.P("Tick to agree.", role="alert")
    return FormAnswer(shown=html.Div([text, box], className="form-stack"), is_saved=False)
