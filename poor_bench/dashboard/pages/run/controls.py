"""The controls of the choice, which several callbacks read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import Input, State

from poor_bench.dashboard.pages.run.ids import RunIds as Ids
from poor_bench.dashboard.pages.run.selection import selection_of

if TYPE_CHECKING:
    from poor_bench.runner.selection import Selection


def controls(kind: type[Input | State]) -> list[Any]:
    """Return the controls of the choice, as inputs or states of a callback."""
    fields = (
        (Ids.LLMS, "value"),
        (Ids.CLASSES, "value"),
        (Ids.LEVELS, "value"),
        (Ids.TESTS, "value"),
        (Ids.TRIALS, "value"),
        (Ids.FORCE, "checked"),
    )
    return [kind(control, name) for control, name in fields]


def chosen(values: tuple[Any, ...]) -> Selection:
    """Return the selection that the values of `controls` describe."""
    llms, classes, levels, tests, trials, force = values
    return selection_of(llms, classes, levels, tests, trials, force=bool(force))
