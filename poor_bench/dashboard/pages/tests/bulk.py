"""Edits of many tests: the choices, what they do, and undo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import Dash, Input, Output, State, no_update

from poor_bench.config.edit_tests import TestEdit
from poor_bench.dashboard.page import ShellIds, leave_unchanged, on_click, on_data
from poor_bench.dashboard.pages.tests.find import choose_tests
from poor_bench.dashboard.pages.tests.layout import TestsIds, TestUrl
from poor_bench.dashboard.text.formatting import sentences
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.messages import write_count
from poor_bench.models.problem import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from poor_bench.config.load import Workspace
    from poor_bench.dashboard.services.services import Services
    from poor_bench.models.test import Test

    FindTests = Callable[[Services, str | None], Sequence[Test]]

_MOVE, _LEVEL = "class:", "level:"
_PLAIN = {
    "disable": "Disable",
    "enable": "Enable",
    "add-tag": "Add tag",
    "remove-tag": "Remove tag",
    "delete": "Delete",
}


def list_actions(workspace: Workspace) -> list[dict[str, Any]]:
    """List the changes that can be chosen, in groups."""
    highest = max((test.level for test in workspace.tests), default=1)
    groups = {
        "Tests": _PLAIN,
        "Move to class": {f"{_MOVE}{name}": name for name in workspace.test_classes},
        "Set level": {f"{_LEVEL}{n}": f"Level {n}" for n in range(1, highest + 2)},
    }
    return [
        {
            "group": group,
            "items": [{"value": value, "label": label} for value, label in members.items()],
        }
        for group, members in groups.items()
    ]


def read_edit(test_ids: Sequence[str], action: str | None, tag: str | None) -> TestEdit:
    """Read the controls.

    Raises:
        ConfigError: If a choice is missing.
    """
    chosen, name = frozenset(test_ids), (tag or "").strip()
    if not action:
        raise ConfigError("no change is chosen", hint="Choose one from the list.")
    if action.startswith(_MOVE):
        return TestEdit(test_ids=chosen, class_id=action.removeprefix(_MOVE))
    if action.startswith(_LEVEL):
        return TestEdit(test_ids=chosen, level=int(action.removeprefix(_LEVEL)))
    if action.endswith("-tag") and not name:
        raise ConfigError("no tag is given", hint="Enter it in the field Tag.")
    return TestEdit(
        test_ids=chosen,
        enabled={"enable": True, "disable": False}.get(action),
        added_tag=name if action == "add-tag" else "",
        removed_tag=name if action == "remove-tag" else "",
        is_deleted=action == "delete",
    )


def describe_scope(found: Sequence[Test], url: TestUrl) -> str:
    """Say which tests an edit changes."""
    n_chosen = len(choose_tests(found, url))
    if url.ticked:
        return f"{write_count(n_chosen, 'ticked test')}:"
    return f"All {write_count(n_chosen, 'shown test')}:"


def apply_edit(
    services: Services, find: FindTests, search: str | None, action: str | None, tag: str | None
) -> tuple[str, bool]:
    """Change the chosen tests; return what to show, and True if something changed."""
    url = TestUrl.read(search)
    try:
        test_ids = choose_tests(find(services, search), url)
        return f"{services.edits.apply(read_edit(test_ids, action, tag))}.", True
    except PoorBenchError as error:
        return _tell(error), False


def undo_edit(services: Services) -> tuple[str, bool]:
    """Undo the last edit; return what to show, and True if something changed."""
    try:
        return f"{services.edits.undo()}.", True
    except PoorBenchError as error:
        return _tell(error), False


def _tell(error: PoorBenchError) -> str:
    problems = error.problems if isinstance(error, ConfigError) else ()
    worst = next((each for each in problems if each.severity is Severity.ERROR), None)
    first = f": {worst.message}" if worst else ""
    return sentences(f"Not changed: {error}{first}", error.hint)


def register_bulk(app: Dash, services: Services, find: FindTests) -> None:
    """Bind the controls.

    Args:
        app: The application.
        services: Where tests are changed.
        find: Finds the tests of an address.
    """
    search = State(TestsIds.SEARCH, "data")

    @on_data(
        app,
        Output(TestsIds.ACTION, "data"),
        Output(TestsIds.SCOPE, "children"),
        Output(TestsIds.UNDO, "disabled"),
        Input(TestsIds.SEARCH, "data"),
        Input(TestsIds.WAIT, "disabled"),
    )
    def _offer(search: str, _is_current: bool | None) -> Any:
        scope = describe_scope(find(services, search), TestUrl.read(search))
        return list_actions(services.files.workspace()), scope, not services.edits.last

    outputs = (
        Output(TestsIds.EDITED, "children", allow_duplicate=True),
        Output(ShellIds.VERSION, "data", allow_duplicate=True),
        Output(TestsIds.SEARCH, "data", allow_duplicate=True),
        Output(TestsIds.ACTION, "value", allow_duplicate=True),
    )
    action, tag = State(TestsIds.ACTION, "value"), State(TestsIds.TAG, "value")

    @on_click(app, TestsIds.APPLY, *outputs, search, action, tag)
    def _apply(search: str, action: str | None, tag: str | None) -> Any:
        shown, is_changed = apply_edit(services, find, search, action, tag)
        if not is_changed:
            return shown, *leave_unchanged(outputs[1:])
        return shown, services.version(), TestUrl.read(search).change(ticked=()).search, None

    @on_click(app, TestsIds.UNDO, *outputs)
    def _undo() -> Any:
        shown, is_changed = undo_edit(services)
        return shown, services.version() if is_changed else no_update, no_update, no_update
