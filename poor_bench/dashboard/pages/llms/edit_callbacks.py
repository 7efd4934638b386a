"""Handlers of the form that changes a listed LLM."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dash import ALL, Dash, Input, Output, State, ctx, no_update

from poor_bench.dashboard.components.form_answer import FormAnswer, refused, saved
from poor_bench.dashboard.components.notice import notice
from poor_bench.dashboard.field_problems import Entry
from poor_bench.dashboard.ids import ShellIds
from poor_bench.dashboard.pages.llms.changes import LLMField, form_to_changes
from poor_bench.dashboard.pages.llms.consent import ask_consent, is_given, needed_consent
from poor_bench.dashboard.pages.llms.edit_form import edit_form
from poor_bench.dashboard.pages.llms.ids import EditIds
from poor_bench.dashboard.pages.llms.ids import LLMsIds as Ids
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.models.llm import LLM

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.services import Services

FILE = "llms.json"


def open_form(services: Services, llm_id: str) -> tuple[str, Component]:
    """Return title and content of the form of an LLM.

    Raises:
        ConfigError: If the LLM is not listed any more.
    """
    llm = services.llm(llm_id)
    if llm is None:
        raise ConfigError(f"{llm_id!r} was removed from {FILE}", hint="Reload the page.")
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
    llms = services.workspace().llms
    number = next((number for number, llm in enumerate(llms) if llm.id == llm_id), -1)
    try:
        if number < 0:
            raise ConfigError(f"{llm_id!r} was removed from {FILE}", hint="Reload the page.")
        changes = form_to_changes(llms[number], values)
        consent = _needed_consent(llms[number], changes, llms)
        if consent is not None and not is_given(consent, ticked):
            return ask_consent(llm_id, consent)
        services.config().change_llm(llm_id, changes)
    except PoorBenchError as error:
        return refused(error, Entry(file=FILE, number=number), set(LLMField))
    return saved(f"Saved in {FILE}.")


def _needed_consent(llm: LLM, changes: Mapping[str, Any], listed: Sequence[LLM]) -> str | None:
    endpoint = changes.get("endpoint", llm.endpoint) or ""
    variable = changes.get("api_key_env", llm.api_key_env) or ""
    return needed_consent(llm.provider, endpoint, variable, listed)


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""

    @app.callback(
        Output(Ids.EDITOR, "opened"),
        Output(Ids.EDITOR, "title"),
        Output(Ids.EDITOR, "children"),
        Input(Ids.EDITED, "data"),
        prevent_initial_call=True,
    )
    def _open(llm_id: str | None) -> Any:
        return (True, *open_form(services, llm_id)) if llm_id else (no_update,) * 3

    fields = {"type": EditIds.FIELD, "index": ALL, "field": ALL}

    @app.callback(
        Output(fields, "error"),
        Output({"type": EditIds.RESULT, "index": ALL}, "children"),
        Output(Ids.EDITOR, "opened", allow_duplicate=True),
        Output(ShellIds.NOTICES, "sendNotifications", allow_duplicate=True),
        Output(ShellIds.VERSION, "data", allow_duplicate=True),
        Input({"type": EditIds.SAVE, "index": ALL}, "n_clicks"),
        State(fields, "value"),
        State({"type": EditIds.CONSENT, "index": ALL}, "value"),
        prevent_initial_call=True,
    )
    def _save(clicks: list[int], values: list[Any], ticked: list[Any]) -> Any:
        names = [part["id"]["field"] for part in ctx.states_list[0]]
        if not any(clicks) or not isinstance(ctx.triggered_id, dict):
            return [no_update] * len(names), [no_update] * len(clicks), *(no_update,) * 3
        llm_id = ctx.triggered_id["index"]
        answer = save(services, llm_id, dict(zip(names, values, strict=True)), ticked)
        errors = [answer.errors.get(name, "") for name in names]
        if not answer.is_saved:
            return errors, [answer.shown], *(no_update,) * 3
        return (
            errors,
            [None],
            False,
            [notice("Saved", f"{llm_id} was changed.")],
            services.version(),
        )
