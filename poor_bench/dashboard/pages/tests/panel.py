"""One test: prompts, figures, and the form that changes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import dash_mantine_components as dmc
from dash import ALL, Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.development.base_component import Component

from poor_bench.config.edit_entries import TestEdit
from poor_bench.config.load import TESTS_FILE
from poor_bench.dashboard.components.badges import score_badge
from poor_bench.dashboard.components.blocks import data, number_range, set_code
from poor_bench.dashboard.components.tables import write_n
from poor_bench.dashboard.components.texts import build_folded, plain_text
from poor_bench.dashboard.forms import (
    Entry,
    FormAnswer,
    form_error,
    guard_form,
    report_refused,
    report_saved,
    saved_in,
)
from poor_bench.dashboard.page import (
    ShellIds,
)
from poor_bench.dashboard.pages.tests.layout import LINKS, FormIds, TestUrl, form_id
from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.services.test_findings import message_about
from poor_bench.dashboard.services.test_reports import PromptVariant
from poor_bench.dashboard.text.formatting import sentences
from poor_bench.dashboard.url_state import compare_link
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.messages import write_count
from poor_bench.models.problem import Problem
from poor_bench.models.test import Test, TestClass
from poor_bench.safe_files import load_json_text
from poor_bench.statistics.items import Item


def panel(
    test: Test,
    test_class: TestClass,
    known: Sequence[Component],
    url: TestUrl,
) -> list[Component]:
    """Build the panel of one test.

    Args:
        test: The test.
        test_class: Its class.
        known: Its `facts`.
        url: State of the page.
    """
    close = LINKS.key_link(
        "close",
        url.change(test="").search,
        label="Close (Escape)",
        key="escape",
        **data(stay_from=url.search),
    )
    title = html.Div(
        [html.H2(test.test_id), html.P(f"{test.class_id} · level {test.level}")],
        className="details-title",
    )
    return [
        html.Div([title, close], className="details-head"),
        html.Div(
            [
                html.Div(
                    list(known),
                    id=form_id(FormIds.FACTS, test.test_id),
                    className="details-facts",
                ),
                _form(test),
                _template_form(test, test_class),
                html.Div(id=form_id(FormIds.RESULT, test.test_id), className="form-result"),
            ],
            className="details-body",
        ),
    ]


def read_test_id(shown: dict[str, str] | None) -> str:
    """Read the test of a panel from the id of its part; empty for one that was just closed."""
    return shown["index"] if shown else ""


def facts(
    test_id: str,
    prompts: Sequence[PromptVariant],
    problems: Sequence[Problem],
    item: Item | None,
) -> list[Component]:
    """Build what is known about a test; drawn again with each change, unlike its forms."""
    found = (_link_results(item) if item else None, _against(test_id, problems, item))
    return [*(part for part in found if part is not None), *map(_prompt, prompts)]


def _link_results(item: Item) -> Component:
    """Show the mean score, with a link to the answers of the models side by side."""
    link = dcc.Link("Compare", href=compare_link((), test=item.test_id))
    return html.Div(
        [score_badge(item.mean_score), write_n(item.n_llms), link], className="panel-links"
    )


def _against(test_id: str, problems: Sequence[Problem], item: Item | None) -> Component | None:
    texts = [sentences(message_about(problem, test_id), problem.hint) for problem in problems]
    texts += [item.suspicion] if item and item.suspicion else []
    if not texts:
        return None
    return html.Section([html.H3("Problems"), html.Ul([html.Li(set_code(text)) for text in texts])])


def _prompt(prompt: PromptVariant) -> Component:
    return html.Section(
        [
            html.H3(f"Prompt for {write_count(len(prompt.llm_ids), 'model')}"),
            build_folded("System", plain_text(prompt.system)) if prompt.system else None,
            plain_text(prompt.user),
            build_folded("Models", html.P(", ".join(prompt.llm_ids), className="quiet")),
        ]
    )


def _form(test: Test) -> Component:
    parameters: dict[str, Any] = dict(test.evaluator.parameters) if test.evaluator else {}
    text = test.text if test.text is not None else json.dumps(test.texts, ensure_ascii=False)
    label = "Text" if test.text is not None else "Texts (JSON list)"
    shown = json.dumps(parameters, ensure_ascii=False, indent=2)
    return html.Section(
        [
            html.H3("Edit test"),
            guard_form(
                test.test_id,
                [
                    _area(FormIds.TEXT, test.test_id, label, text),
                    dmc.NumberInput(
                        id=form_id(FormIds.LEVEL, test.test_id),
                        label="Level",
                        value=test.level,
                        **number_range(1),
                        allowDecimal=False,
                        size="xs",
                    ),
                    _area(
                        FormIds.REFERENCE,
                        test.test_id,
                        "Reference response (scores 1.0)",
                        test.reference_response or "",
                    ),
                    _area(FormIds.PARAMETERS, test.test_id, "Evaluator parameters (JSON)", shown),
                    html.Div(_button(FormIds.SAVE, test.test_id, "Save test")),
                ],
            ),
        ]
    )


def _template_form(test: Test, test_class: TestClass) -> Component:
    return html.Section(
        [
            html.H3(f"Template of {test_class.id}"),
            guard_form(
                f"template of {test_class.id}",
                [
                    _area(
                        FormIds.TEMPLATE,
                        test.test_id,
                        "Template",
                        test_class.templates["default"],
                    ),
                    html.Div(_button(FormIds.SAVE_TEMPLATE, test.test_id, "Save template")),
                ],
            ),
        ]
    )


def _area(kind: FormIds, test_id: str, label: str, value: str) -> Component:
    area: Component = dmc.Textarea(
        id=form_id(kind, test_id), label=label, value=value, autosize=True, maxRows=14, size="xs"
    )
    return area


def _button(kind: FormIds, test_id: str, text: str) -> Component:
    button: Component = dmc.Button(text, id=form_id(kind, test_id), size="xs", n_clicks=0)
    return button


def form_to_changes(
    test: Test, text: str | None, level: object, reference: str | None, parameters: str | None
) -> dict[str, Any]:
    """Read the keys of the test that the form changes; None takes a key away.

    Raises:
        ConfigError: If a field is not of the form that its key needs.
    """
    changes: dict[str, Any] = {}
    if test.text is None:
        texts = _json("texts", text, list)
        if texts != list(test.texts or ()):
            changes["texts"] = texts
    elif text != test.text:
        changes["text"] = text or ""
    if level != test.level:
        changes["level"] = level
    if (reference or None) != test.reference_response:
        changes["reference_response"] = reference or None
    return changes | _read_changed_evaluator(test, parameters)


def _read_changed_evaluator(test: Test, parameters: str | None) -> dict[str, Any]:
    values = _json("evaluation_module", parameters or "{}", dict)
    present = dict(test.evaluator.parameters) if test.evaluator else {}
    if values == present:
        return {}
    name = {"name": test.evaluator.name} if test.evaluator else {}
    return {"evaluation_module": {**name, "parameters": values}}


def _json(field: str, text: str | None, kind: type) -> Any:
    problem = f"must be a JSON {'object' if kind is dict else 'list'}"
    try:
        value = load_json_text(text or "")
    except ValueError as error:
        raise form_error({field: f"{problem}: {error}"}) from error
    if not isinstance(value, kind):
        raise form_error({field: problem})
    return value


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
    test_ids = [test.test_id for test in services.files.workspace().tests]
    number = test_ids.index(test_id) if test_id in test_ids else -1
    try:
        test = _find_stored_test(services, test_id)
        changes = form_to_changes(test, *fields)
        edit = TestEdit(test_ids=frozenset([test_id]), changes=changes)
        services.files.config().edit_tests(edit)
    except PoorBenchError as error:
        return report_refused(error, Entry(file=TESTS_FILE, number=number), _FIELD_OF)
    return report_saved(saved_in(TESTS_FILE))


def save_template(services: Services, test_id: str, template: str) -> FormAnswer:
    """Write a changed template; return what to show."""
    number = -1
    try:
        class_id = _find_stored_test(services, test_id).class_id
        number = list(services.files.workspace().test_classes).index(class_id)
        services.files.config().change_template(class_id, template)
    except PoorBenchError as error:
        return report_refused(error, Entry(file="test_classes.yaml", number=number), _FIELD_OF)
    return report_saved(saved_in("test_classes.yaml"))


def _find_stored_test(services: Services, test_id: str) -> Test:
    test = services.files.workspace().tests_by_id.get(test_id)
    if test is None:
        raise ConfigError(f"{test_id!r} was removed from {TESTS_FILE}")
    return test


def register_form(app: Dash, services: Services) -> None:
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
