"""The form that changes an LLM that is listed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
from dash import html

from poor_bench.dashboard.pages.llms.changes import LLMField, form_of
from poor_bench.dashboard.pages.llms.ids import EditIds, field_id, form_id
from poor_bench.models.llm import LLM

if TYPE_CHECKING:
    from dash.development.base_component import Component

_TEXTS = {
    LLMField.LABEL: ("Label", "name on screens"),
    LLMField.ENDPOINT: ("Server", "default of the provider"),
    LLMField.KEY: ("API key variable", "such as OPENAI_API_KEY"),
}
_NUMBERS = {
    LLMField.SIZE: ("Size", "billions of parameters"),
    LLMField.CONCURRENCY: ("Concurrent requests", "default of the provider"),
    LLMField.RATE: ("Requests per minute", "no limit"),
    LLMField.PRICE_INPUT: ("Input price", "US dollars per million tokens"),
    LLMField.PRICE_OUTPUT: ("Output price", "US dollars per million tokens"),
    LLMField.PRICE_CACHED: ("Cached input price", "US dollars per million tokens"),
}
_AREAS = {
    LLMField.SYSTEM_PROMPT: ("System prompt", "sent with every test"),
    LLMField.PARAMETERS: ("Parameters (JSON or YAML)", "{}"),
}


def edit_form(llm: LLM) -> Component:
    """Return the form with what stands in llms.json."""
    shown = form_of(llm)
    boxes = [
        *(_box(dmc.TextInput, llm, name, shown, *texts) for name, texts in _TEXTS.items()),
        *(_box(dmc.NumberInput, llm, name, shown, *texts) for name, texts in _NUMBERS.items()),
        _enabled(llm, shown),
    ]
    areas = [
        _box(dmc.Textarea, llm, name, shown, *texts, autosize=True, minRows=2, maxRows=14)
        for name, texts in _AREAS.items()
    ]
    save = dmc.Button("Save", id=form_id(EditIds.SAVE, llm.id), size="xs", n_clicks=0)
    return html.Div(
        [
            html.P(f"Entry {llm.id} of llms.json.", className="card-note"),
            html.Div(boxes, className="form-grid"),
            html.Div(areas, className="form-stack"),
            html.Div(id=form_id(EditIds.RESULT, llm.id), className="form-result"),
            html.Div(save),
        ],
        className="form-stack",
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


def _enabled(llm: LLM, shown: dict[LLMField, Any]) -> Component:
    box: Component = dmc.Select(
        id=field_id(llm.id, LLMField.ENABLED),
        label="Enabled",
        data=["yes", "no"],
        value=shown[LLMField.ENABLED],
        allowDeselect=False,
        size="xs",
    )
    return box
