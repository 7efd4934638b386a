"""Handlers of the page: ask the services, call the layout."""

from __future__ import annotations

import json
from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING, Any

from dash import ALL, Dash, Input, Output, State, html, no_update

from poor_bench.dashboard.bindings import bind_file
from poor_bench.dashboard.components.choice import options_of
from poor_bench.dashboard.components.downloads import text_file
from poor_bench.dashboard.components.form_answer import FormAnswer, refused, saved
from poor_bench.dashboard.components.notice import notice
from poor_bench.dashboard.components.states import error_banner, loading_state
from poor_bench.dashboard.components.still import still
from poor_bench.dashboard.field_problems import Entry
from poor_bench.dashboard.ids import ShellIds
from poor_bench.dashboard.pages.llms import edit_callbacks
from poor_bench.dashboard.pages.llms.answer import tried_answer
from poor_bench.dashboard.pages.llms.consent import ask_consent, is_given, needed_consent
from poor_bench.dashboard.pages.llms.entry import form_to_entry
from poor_bench.dashboard.pages.llms.ids import EditIds
from poor_bench.dashboard.pages.llms.ids import LLMsIds as Ids
from poor_bench.dashboard.pages.llms.listed import found_models, listed_llms
from poor_bench.dashboard.services.llm_service import LLMService
from poor_bench.errors import PoorBenchError
from poor_bench.messages import counted
from poor_bench.reports.csv_table import csv_text

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.services import Services

Notices = list[dict[str, Any]]
_FIELDS = ("provider", "name", "endpoint", "api_key_env", "size", "parameters")
_COLUMNS = (
    "id", "label", "provider", "name", "enabled", "reachable", "message", "size", "endpoint",
    "api_key_env", "concurrency", "requests_per_minute", "parameters",
)  # fmt: skip


def show_listed(services: Services, llms: LLMService, look: int) -> tuple[str, Component, bool]:
    """Return a line about the LLMs, their table, and whether all of them were asked."""
    workspace = services.workspace()
    answer = llms.checks(look)
    note = f"{counted(len(workspace.llms), 'model')}, {len(workspace.enabled_llms)} enabled"
    return note, listed_llms(workspace.llms, answer.value), answer.is_current


def show_found(llms: LLMService, endpoint: str | None, look: int) -> Any:
    """Return what an Ollama server has beyond llms.json, or why it cannot be asked."""
    try:
        answer = llms.discovered((endpoint or "").strip(), look)
    except PoorBenchError as error:
        return html.P(f"No models found: {error}", className="quiet")
    return loading_state(2) if answer.value is None else found_models(answer.value)


def options(services: Services) -> list[dict[str, str]]:
    """Return the LLMs that can be tried."""
    llms = services.workspace().llms
    return options_of((llm.id, llm.label or llm.id) for llm in llms)


def switch(services: Services, llm_id: str) -> Notices:
    """Switch an LLM on or off in llms.json; return a message of what was done."""
    llm = services.llm(llm_id)
    is_on = llm is not None and llm.enabled
    services.config().change_llm(llm_id, {"enabled": False if is_on else None})
    return [notice("Saved", f"{llm_id} is {'disabled' if is_on else 'enabled'}.")]


def add_found(
    services: Services, llms: LLMService, endpoint: str | None, look: int, name: str
) -> Notices:
    """Add a found model to llms.json; return a message of what was done."""
    found = llms.discovered((endpoint or "").strip(), look).value or ()
    services.config().add_llms([entry for entry in found if entry["name"] == name])
    return [notice("Added", f"{name} was added to llms.json.")]


def add(services: Services, *fields: Any, ticked: Collection[Any] = ()) -> FormAnswer:
    """Add what the form describes.

    Args:
        services: The workspace.
        fields: What `form_to_entry` takes.
        ticked: Values of the boxes of `ask_consent` that are on the page.
    """
    try:
        entry = form_to_entry(*fields)
        consent = needed_consent(
            entry["provider"],
            entry.get("endpoint", ""),
            entry.get("api_key_env", ""),
            services.workspace().llms,
        )
        if consent is not None and not is_given(consent, ticked):
            return ask_consent("", consent)
        services.config().add_llms([entry])
    except PoorBenchError as error:
        added = Entry(file=edit_callbacks.FILE, number=len(services.workspace().llms))
        return refused(error, added, _FIELDS)
    return saved(f"{entry['provider']}:{entry['name']} was added to llms.json.")


def llms_csv(services: Services, llms: LLMService, look: int) -> dict[str, Any]:
    """Return the configured LLMs as a file, with whether they can be asked as far as known."""
    checks = llms.checks(look).value or {}
    rows = []
    for llm in services.workspace().llms:
        row = {name: getattr(llm, name, None) for name in _COLUMNS}
        row["parameters"] = json.dumps(dict(llm.parameters), ensure_ascii=False)
        if (check := checks.get(llm.id)) is not None:
            row |= {"reachable": check.reachable, "message": check.message}
        rows.append(row)
    return text_file("llms.csv", csv_text([(name, name) for name in _COLUMNS], rows))


def ask(llms: LLMService, llm_id: str | None, prompt: str | None) -> Component:
    """Return what an LLM answers to a prompt, or why it does not."""
    if not llm_id or not (prompt or "").strip():
        return html.P("Choose a model and write a prompt.", className="quiet")
    try:
        return tried_answer(llms.ask(llm_id, prompt or ""))
    except PoorBenchError as error:
        return error_banner(error)


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    llms = LLMService(services)
    _register_shown(app, services, llms)
    _register_changes(app, services, llms)
    _register_adding(app, services)
    edit_callbacks.register(app, services)


def _register_shown(app: Dash, services: Services, llms: LLMService) -> None:
    @app.callback(
        Output(Ids.NOTE, "children"),
        Output(Ids.LISTED, "children"),
        Output(Ids.FOUND, "children"),
        Output(Ids.ASKED, "data"),
        Output(Ids.WAIT, "disabled"),
        Input(ShellIds.VERSION, "data"),
        Input(Ids.CHECK, "n_clicks"),
        Input(Ids.LOOK, "n_clicks"),
        Input(Ids.WAIT, "n_intervals"),
        State(Ids.ENDPOINT, "value"),
    )
    def _show(
        version: str | None, checks: int, looks: int, _waited: int | None, endpoint: str | None
    ) -> Any:
        if version is None:
            return (no_update,) * 5
        note, listed, is_checked = show_listed(services, llms, checks)
        found = show_found(llms, endpoint, looks)
        is_found = getattr(found, "role", "") != "status"
        return note, still(listed), found, options(services), is_checked and is_found

    file = partial(llms_csv, services, llms)
    bind_file(app, Ids.DOWNLOAD, Ids.CSV, file, State(Ids.CHECK, "n_clicks"))

    @app.callback(
        Output(Ids.ANSWER, "children"),
        Input(Ids.ASK, "n_clicks"),
        State(Ids.ASKED, "value"),
        State(Ids.PROMPT, "value"),
        running=[(Output(Ids.ASK, "disabled"), True, False)],
        prevent_initial_call=True,
    )
    def _ask(clicks: int, llm_id: str | None, prompt: str | None) -> Any:
        return ask(llms, llm_id, prompt) if clicks else no_update


def _register_changes(app: Dash, services: Services, llms: LLMService) -> None:
    changed = (
        Output(ShellIds.NOTICES, "sendNotifications", allow_duplicate=True),
        Output(ShellIds.VERSION, "data", allow_duplicate=True),
    )

    @app.callback(*changed, Input(Ids.SWITCHED, "data"), prevent_initial_call=True)
    def _switch(llm_id: str | None) -> Any:
        if not llm_id:
            return no_update, no_update
        return switch(services, llm_id), services.version()

    @app.callback(
        *changed,
        Input(Ids.TAKEN, "data"),
        State(Ids.ENDPOINT, "value"),
        State(Ids.LOOK, "n_clicks"),
        prevent_initial_call=True,
    )
    def _add_found(name: str | None, endpoint: str | None, look: int) -> Any:
        if not name:
            return no_update, no_update
        return add_found(services, llms, endpoint, look, name), services.version()


def _register_adding(app: Dash, services: Services) -> None:
    fields = (Ids.PROVIDER, Ids.NAME, Ids.ADD_ENDPOINT, Ids.KEY, Ids.SIZE, Ids.PARAMETERS)

    @app.callback(
        Output(Ids.ADD_RESULT, "children"),
        Output(ShellIds.VERSION, "data", allow_duplicate=True),
        *(Output(field, "error") for field in fields),
        Input(Ids.ADD, "n_clicks"),
        *(State(field, "value") for field in fields),
        State({"type": EditIds.CONSENT, "index": ALL}, "value"),
        prevent_initial_call=True,
    )
    def _add(clicks: int, *values: Any) -> Any:
        if not clicks:
            return no_update, no_update, *[no_update] * len(fields)
        answer = add(services, *values[:-1], ticked=values[-1])
        version = services.version() if answer.is_saved else no_update
        return answer.shown, version, *(answer.errors.get(name, "") for name in _FIELDS)
