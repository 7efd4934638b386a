"""Handlers of the form that changes a test and the template of its class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import ALL, Dash, Input, Output, State, ctx, no_update

from poor_bench.dashboard.components.form_answer import FormAnswer, refused, saved
from poor_bench.dashboard.field_problems import Entry
from poor_bench.dashboard.ids import ShellIds
from poor_bench.dashboard.pages.tests.form import form_to_changes
from poor_bench.dashboard.pages.tests.ids import FormIds
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.models.test import Test

if TYPE_CHECKING:
    from poor_bench.dashboard.services.services import Services

_FORM = (
    FormIds.TEXT,
    FormIds.LEVEL,
    FormIds.REFERENCE,
    FormIds.PARAMETERS,
    FormIds.TEMPLATE,
)
_FIELD_OF = {
    "text": FormIds.TEXT,
    "texts": FormIds.TEXT,
    "level": FormIds.LEVEL,
    "reference_response": FormIds.REFERENCE,
    "evaluation_module": FormIds.PARAMETERS,
    "work_prompt_template": FormIds.TEMPLATE,
}
"""Key of an entry to the field that shows it."""


def save_test(services: Services, test_id: str, *fields: Any) -> FormAnswer:
    """Write a changed test; return what to show."""
    test_ids = [test.test_id for test in services.workspace().tests]
    number = test_ids.index(test_id) if test_id in test_ids else -1
    try:
        test = _test(services, test_id)
        services.config().change_test(test_id, form_to_changes(test, *fields))
    except PoorBenchError as error:
        return refused(error, Entry(file="tests.json", number=number), _FIELD_OF)
    return saved("Saved in tests.json.")


def save_template(services: Services, test_id: str, template: str) -> FormAnswer:
    """Write a changed template; return what to show."""
    number = -1
    try:
        class_id = _test(services, test_id).class_id
        number = list(services.workspace().test_classes).index(class_id)
        services.config().change_template(class_id, template)
    except PoorBenchError as error:
        return refused(error, Entry(file="test_classes.yaml", number=number), _FIELD_OF)
    return saved("Saved in test_classes.yaml.")


def _test(services: Services, test_id: str) -> Test:
    test = services.workspace().tests_by_id.get(test_id)
    if test is None:
        raise ConfigError(f"test {test_id!r} was removed from tests.json")
    return test


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""

    def part(kind: FormIds) -> dict[str, Any]:
        return {"type": kind, "index": ALL}

    @app.callback(
        Output(part(FormIds.RESULT), "children"),
        Output(ShellIds.VERSION, "data", allow_duplicate=True),
        *(Output(part(kind), "error") for kind in _FORM),
        Input(part(FormIds.SAVE), "n_clicks"),
        Input(part(FormIds.SAVE_TEMPLATE), "n_clicks"),
        *(State(part(kind), "value") for kind in _FORM),
        prevent_initial_call=True,
    )
    def _save(saves: list[int], template_saves: list[int], *fields: list[Any]) -> Any:
        button = ctx.triggered_id
        if not any([*saves, *template_saves]) or not isinstance(button, dict):
            nothing = [no_update] * len(saves)
            return nothing, no_update, *[nothing] * len(_FORM)
        *test_fields, template = (values[0] for values in fields)
        if button["type"] == FormIds.SAVE:
            answer = save_test(services, button["index"], *test_fields)
        else:
            answer = save_template(services, button["index"], template or "")
        version = services.version() if answer.is_saved else no_update
        errors = {_FIELD_OF[field]: text for field, text in answer.errors.items()}
        return [answer.shown], version, *([errors.get(kind, "")] for kind in _FORM)
