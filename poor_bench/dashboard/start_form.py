"""A form that starts a run from its page, and the run while it goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dash import Input, Output, State

from poor_bench.dashboard.page import on_click, on_data

if TYPE_CHECKING:
    from collections.abc import Callable

    from dash import Dash

RunParts = tuple[Any, str, Any, bool]
"""Body, class and head of a run, and whether its clock rests."""


@dataclass(frozen=True, kw_only=True)
class StartForm:
    """The ids of a form and of its run."""

    fields: tuple[str, ...]
    """Of the choices, in the order in which they are handed on."""
    preview: str
    start: str
    cancel: str
    frame: str
    head: str
    body: str
    clock: str

    def run_outputs(self, **more: Any) -> list[Output]:
        """List what `RunParts` go to."""
        return [
            Output(self.body, "children", **more),
            Output(self.frame, "className", **more),
            Output(self.head, "children", **more),
            Output(self.clock, "disabled", **more),
        ]


def bind_start_form(
    app: Dash,
    form: StartForm,
    *,
    preview: Callable[..., tuple[Any, bool]],
    show: Callable[[], RunParts],
    start: Callable[..., RunParts],
    cancel: Callable[[], object],
) -> None:
    """Bind a form and its run.

    Args:
        app: The dashboard.
        form: Ids of both.
        preview: Takes the values of the fields; what they would run, and whether Start is off.
        show: The run as it is.
        start: Takes the values of the fields, and starts the run.
        cancel: Asks the run to end.
    """

    @on_data(
        app,
        Output(form.preview, "children"),
        Output(form.start, "disabled"),
        Input(form.clock, "disabled"),
        *(Input(field, "value") for field in form.fields),
    )
    def _preview(_is_still: bool, *values: Any) -> Any:
        return preview(*values)

    @on_data(app, *form.run_outputs(), Input(form.clock, "n_intervals"))
    def _run(_ticks: int | None) -> Any:
        return show()

    @on_click(
        app,
        form.start,
        *form.run_outputs(allow_duplicate=True),
        *(State(field, "value") for field in form.fields),
    )
    def _start(*values: Any) -> Any:
        return start(*values)

    @on_click(app, form.cancel, *form.run_outputs(allow_duplicate=True))
    def _cancel() -> Any:
        cancel()
        return show()
