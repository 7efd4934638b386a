"""Callbacks of the page."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from dash import ALL, Dash, Input, Output, State, ctx, html, no_update
from dash.development.base_component import Component

from poor_bench.config.edit_entries import LLMAction, LLMEdit
from poor_bench.dashboard.components.blocks import card, error_banner, loading_state, page_head
from poor_bench.dashboard.components.controls import build_options
from poor_bench.dashboard.components.tables import still
from poor_bench.dashboard.forms import Entry, FormAnswer, report_refused, report_saved, saved_in
from poor_bench.dashboard.page import (
    ShellIds,
    bind_address,
    bind_script,
    notice,
    on_click,
    on_data,
)
from poor_bench.dashboard.pages.llms.entry import (
    LLMField,
    ask_for_consent,
    form_to_changes,
    form_to_entry,
    is_given,
)
from poor_bench.dashboard.pages.llms.layout import EditIds, LLMsIds, LLMsUrl, ask_consent, edit_form
from poor_bench.dashboard.pages.llms.tables import (
    build_found_models,
    build_llm_table,
    build_tried_answer,
    define_models,
)
from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.table_files import TableFile, bind_files
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.messages import write_count
from poor_bench.models.llm import LLM

Notices = list[dict[str, Any]]
_FIELDS = ("provider", "name", "endpoint", "api_key_env", "size", "parameters")


def show_listed(
    services: Services, look: int, search: str | None = ""
) -> tuple[str, Component, bool]:
    """Build a line about the LLMs, their table, and whether all of them were asked."""
    workspace = services.files.workspace()
    answer = services.llms.checks(look)
    note = f"{write_count(len(workspace.llms), 'model')}, {len(workspace.enabled_llms)} enabled"
    url = LLMsUrl.read(search)
    table = build_llm_table(workspace.llms, answer.value, services.llms.probes(), url)
    return note, table, answer.is_current


def sketch(services: Services, url: LLMsUrl) -> Component:
    """Build head and configured models of the page."""
    note, table, _ = show_listed(services, 0, url.search)
    tools = html.Span(className="first-paint-controls")
    parts = [page_head("Models", note), card("Configured", table, tools=tools)]
    return html.Div(parts, className="page-body")


def show_found(services: Services, endpoint: str | None, look: int) -> Any:
    """List the models of an Ollama server that llms.json lacks, or say why it cannot be asked."""
    try:
        answer = services.llms.discover((endpoint or "").strip(), look)
    except PoorBenchError as error:
        return html.P(f"No models found: {error}", className="quiet")
    return loading_state(2) if answer.value is None else build_found_models(answer.value)


def options(services: Services) -> list[dict[str, str]]:
    """List the LLMs that can be tried."""
    llms = services.files.workspace().llms
    return build_options((llm.id, llm.label or llm.id) for llm in llms)


def switch(services: Services, llm_id: str) -> Notices:
    """Switch an LLM on or off in llms.json; return a message of what was done."""
    llm = services.llms.get(llm_id)
    is_on = llm is not None and llm.enabled
    changes = {"enabled": False if is_on else None}
    services.files.config().edit_llms(LLMEdit(llm_id=llm_id, changes=changes))
    return [notice("Saved", f"{llm_id} is {'disabled' if is_on else 'enabled'}.")]


_ARRANGED = {
    LLMAction.DELETE: "was deleted.",
    LLMAction.DUPLICATE: "was duplicated; copy disabled.",
    LLMAction.MOVE_UP: "was moved.",
    LLMAction.MOVE_DOWN: "was moved.",
}


def arrange(services: Services, action: LLMAction, llm_id: str) -> Notices:
    """Delete, copy or move an entry of llms.json; return a message of what was done."""
    services.files.config().edit_llms(LLMEdit(llm_id=llm_id, action=action))
    return [notice("Saved", f"{llm_id} {_ARRANGED[action]}")]


def ask_to_delete(services: Services, llm_id: str) -> Component:
    """Say what deleting a model does to its results."""
    n_results = services.llms.n_results(llm_id)
    kept = f"{write_count(n_results, 'result')} kept." if n_results else "No results."
    return html.Div([html.P(html.Strong(llm_id)), html.P(kept)])


def add_found(services: Services, endpoint: str | None, look: int, name: str) -> Notices:
    """Add a found model to llms.json; return a message of what was done."""
    found = services.llms.discover((endpoint or "").strip(), look).value or ()
    services.files.config().add_llms([entry for entry in found if entry["name"] == name])
    return [notice("Added", name)]


def add(services: Services, *fields: Any, ticked: Collection[Any] = ()) -> FormAnswer:
    """Add what the form describes.

    Args:
        services: The workspace.
        fields: What `form_to_entry` takes.
        ticked: Values of the boxes of `ask_consent` that are on the page.
    """
    try:
        entry = form_to_entry(*fields)
        consent = ask_for_consent(
            entry["provider"],
            entry.get("endpoint", ""),
            entry.get("api_key_env", ""),
            services.files.workspace().llms,
        )
        if consent is not None and not is_given(consent, ticked):
            return ask_consent("", consent)
        services.files.config().add_llms([entry])
    except PoorBenchError as error:
        added = Entry(file=LLMS_FILE, number=len(services.files.workspace().llms))
        return report_refused(error, added, _FIELDS)
    return report_saved(f"Added: {entry['provider']}:{entry['name']}.")


def llms_csv(services: Services, look: int, search: str | None = "") -> TableFile:
    """Write the configured LLMs as a file, with whether they can be asked as far as known."""
    table = define_models(services.llms.checks(look).value, probes=services.llms.probes())
    return table.file("llms", services.files.workspace().llms, LLMsUrl.read(search))


def ask(services: Services, llm_id: str | None, prompt: str | None) -> Component:
    """Show the answer of an LLM to a prompt, or why there is none."""
    if not llm_id or not (prompt or "").strip():
        return html.P("Enter model and prompt.", className="quiet")
    try:
        return build_tried_answer(services.llms.ask(llm_id, prompt or ""))
    except PoorBenchError as error:
        return error_banner(error)


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    _register_shown(app, services)
    _register_changes(app, services)
    _register_arranging(app, services)
    _register_adding(app, services)
    _register_edit(app, services)


def _register_shown(app: Dash, services: Services) -> None:
    @on_data(
        app,
        Output(LLMsIds.NOTE, "children"),
        Output(LLMsIds.LISTED, "children"),
        Output(LLMsIds.FOUND, "children"),
        Output(LLMsIds.ASKED, "data"),
        Output(LLMsIds.WAIT, "disabled"),
        Input(LLMsIds.CHECK, "n_clicks"),
        Input(LLMsIds.LOOK, "n_clicks"),
        Input(LLMsIds.WAIT, "n_intervals"),
        Input(LLMsIds.SEARCH, "data"),
        State(LLMsIds.ENDPOINT, "value"),
    )
    def _show(
        checks: int, looks: int, _waited: int | None, search: str, endpoint: str | None
    ) -> Any:
        note, listed, is_checked = show_listed(services, checks, search)
        found = show_found(services, endpoint, looks)
        is_found = getattr(found, "role", "") != "status"
        return note, still(listed, search=search), found, options(services), is_checked and is_found

    checks, search = State(LLMsIds.CHECK, "n_clicks"), State(LLMsIds.SEARCH, "data")
    bind_files(app, services, LLMsIds.DOWNLOAD, {LLMsIds.CSV: llms_csv}, checks, search)
    bind_address(app, LLMsIds.SEARCH)

    @on_click(
        app,
        LLMsIds.ASK,
        Output(LLMsIds.ANSWER, "children"),
        State(LLMsIds.ASKED, "value"),
        State(LLMsIds.PROMPT, "value"),
        running=[(Output(LLMsIds.ASK, "disabled"), True, False)],
    )
    def _ask(llm_id: str | None, prompt: str | None) -> Any:
        return ask(services, llm_id, prompt)


def _register_changes(app: Dash, services: Services) -> None:
    changed = (
        Output(ShellIds.NOTICES, "sendNotifications", allow_duplicate=True),
        Output(ShellIds.VERSION, "data", allow_duplicate=True),
    )

    @app.callback(*changed, Input(LLMsIds.SWITCHED, "data"), prevent_initial_call=True)
    def _switch(llm_id: str | None) -> Any:
        if not llm_id:
            return no_update, no_update
        return switch(services, llm_id), services.version()

    @app.callback(
        *changed,
        Input(LLMsIds.TAKEN, "data"),
        State(LLMsIds.ENDPOINT, "value"),
        State(LLMsIds.LOOK, "n_clicks"),
        prevent_initial_call=True,
    )
    def _add_found(name: str | None, endpoint: str | None, look: int) -> Any:
        if not name:
            return no_update, no_update
        return add_found(services, endpoint, look, name), services.version()


def _register_arranging(app: Dash, services: Services) -> None:
    changed = (
        Output(ShellIds.NOTICES, "sendNotifications", allow_duplicate=True),
        Output(ShellIds.VERSION, "data", allow_duplicate=True),
    )
    opened = Output(LLMsIds.DELETE_DIALOG, "opened", allow_duplicate=True)

    @app.callback(*changed, Input(LLMsIds.ARRANGED, "data"), prevent_initial_call=True)
    def _arrange(order: str | None) -> Any:
        action, _, llm_id = (order or "").partition(" ")
        if not llm_id:
            return no_update, no_update
        return arrange(services, LLMAction(action), llm_id), services.version()

    @app.callback(
        opened,
        Output(LLMsIds.DELETE_TEXT, "children"),
        Input(LLMsIds.DELETED, "data"),
        prevent_initial_call=True,
    )
    def _ask_to_delete(llm_id: str | None) -> Any:
        return (True, ask_to_delete(services, llm_id)) if llm_id else (no_update, no_update)

    @on_click(app, LLMsIds.DELETE, opened, *changed, State(LLMsIds.DELETED, "data"))
    def _delete(llm_id: str) -> Any:
        return False, arrange(services, LLMAction.DELETE, llm_id), services.version()

    @on_click(app, LLMsIds.DELETE_BACK, opened)
    def _keep() -> bool:
        return False


def _register_adding(app: Dash, services: Services) -> None:
    fields = (
        LLMsIds.PROVIDER,
        LLMsIds.NAME,
        LLMsIds.ADD_ENDPOINT,
        LLMsIds.KEY,
        LLMsIds.SIZE,
        LLMsIds.PARAMETERS,
    )

    @on_click(
        app,
        LLMsIds.ADD,
        Output(LLMsIds.ADD_RESULT, "children"),
        Output(ShellIds.VERSION, "data", allow_duplicate=True),
        *(Output(field, "error") for field in fields),
        *(State(field, "value") for field in fields),
        State({"type": EditIds.CONSENT, "index": ALL}, "value"),
    )
    def _add(*values: Any) -> Any:
        answer = add(services, *values[:-1], ticked=values[-1])
        version = services.version() if answer.is_saved else no_update
        return answer.shown, version, *(answer.errors.get(name, "") for name in _FIELDS)


LLMS_FILE = "llms.json"


def open_edit_form(services: Services, llm_id: str) -> tuple[str, Component]:
    """Build title and content of the form of an LLM.

    Raises:
        ConfigError: If the LLM is not listed any more.
    """
    llm = services.llms.get(llm_id)
    if llm is None:
        raise ConfigError(f"{llm_id!r} was removed from {LLMS_FILE}", hint="Reload this page.")
    return llm.label or llm.id, edit_form(llm)


def save(
    services: Services, llm_id: str, values: Mapping[str, Any], ticked: Collection[Any] = ()
) -> FormAnswer:
    """Write what the form changes.

    Args:
        services: The workspace.
        llm_id: Whose form it is.
        values: Name of each field to what stands in it.
        ticked: Values of the boxes of `ask_consent` that are on the page.
    """
    llms = services.files.workspace().llms
    number = next((number for number, llm in enumerate(llms) if llm.id == llm_id), -1)
    try:
        if number < 0:
            raise ConfigError(f"{llm_id!r} was removed from {LLMS_FILE}", hint="Reload this page.")
        changes = form_to_changes(llms[number], values)
        consent = _consent_to_change(llms[number], changes, llms)
        if consent is not None and not is_given(consent, ticked):
            return ask_consent(llm_id, consent)
        services.files.config().edit_llms(LLMEdit(llm_id=llm_id, changes=changes))
    except PoorBenchError as error:
        return report_refused(error, Entry(file=LLMS_FILE, number=number), set(LLMField))
    return report_saved(saved_in(LLMS_FILE))


def _consent_to_change(llm: LLM, changes: Mapping[str, Any], listed: Sequence[LLM]) -> str | None:
    endpoint = changes.get("endpoint", llm.endpoint) or ""
    variable = changes.get("api_key_env", llm.api_key_env) or ""
    return ask_for_consent(llm.provider, endpoint, variable, listed)


def _register_edit(app: Dash, services: Services) -> None:
    """Bind the handlers."""

    @app.callback(
        Output(LLMsIds.EDITOR, "opened"),
        Output(LLMsIds.EDITOR, "title"),
        Output(LLMsIds.EDITOR, "children"),
        Input(LLMsIds.EDITED, "data"),
        prevent_initial_call=True,
    )
    def _open(llm_id: str | None) -> Any:
        return (True, *open_edit_form(services, llm_id)) if llm_id else (no_update,) * 3

    fields = {"type": EditIds.FIELD, "index": ALL, "field": ALL}

    result = {"type": EditIds.RESULT, "index": ALL}
    saving = {"type": EditIds.SAVE, "index": ALL}

    @app.callback(
        Output(fields, "error"),
        Output(result, "children"),
        Output(ShellIds.NOTICES, "sendNotifications", allow_duplicate=True),
        Output(ShellIds.VERSION, "data", allow_duplicate=True),
        Input(saving, "n_clicks"),
        State(fields, "value"),
        State({"type": EditIds.CONSENT, "index": ALL}, "value"),
        prevent_initial_call=True,
    )
    def _save(clicks: list[int], values: list[Any], ticked: list[Any]) -> Any:
        names = [part["id"]["field"] for part in ctx.states_list[0]]
        if not any(clicks) or not isinstance(ctx.triggered_id, dict):
            return [no_update] * len(names), [no_update] * len(clicks), no_update, no_update
        llm_id = ctx.triggered_id["index"]
        answer = save(services, llm_id, dict(zip(names, values, strict=True)), ticked)
        errors = [answer.errors.get(name, "") for name in names]
        if not answer.is_saved:
            return errors, [answer.shown], no_update, no_update
        return errors, [answer.shown], [notice("Saved", llm_id)], services.version()

    # Its own answer alone closes a form: another one may be open by now.
    bind_script(
        app,
        "unsaved",
        "close",
        Output(LLMsIds.EDITOR, "opened", allow_duplicate=True),
        Input(result, "children"),
        State(saving, "n_clicks"),
        prevent_initial_call=True,
    )
