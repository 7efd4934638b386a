"""Forms: those that write an entry of a file, and those that start a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dash import Input, Output, State, html

from poor_bench.config.report import parse_place
from poor_bench.dashboard.components.blocks import data, error_banner
from poor_bench.dashboard.page import on_click, on_data
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.models.problem import Problem, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from dash import Dash
    from dash.development.base_component import Component


_FORM = "the form"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The entry of a file that a form writes."""

    file: str
    """Name of the file, such as `llms.json`."""
    number: int
    """Its place in the file's list, counted from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldProblems:
    """Why a form was not saved."""

    by_field: Mapping[str, str]
    """Name of a field to what is wrong with it."""
    elsewhere: PoorBenchError | None
    """What belongs to no field of the form; None where the fields tell everything."""


def form_error(problems: Mapping[str, str]) -> ConfigError:
    """Build the error of a form that cannot be read.

    Args:
        problems: Name of a field to what is wrong with it.
    """
    return ConfigError(
        "; ".join(problems.values()),
        problems=[
            Problem(file=_FORM, place=field, message=message) for field, message in problems.items()
        ],
    )


def sort_problems(error: PoorBenchError, entry: Entry, fields: Collection[str]) -> FieldProblems:
    """Describe what is wrong, by field.

    Args:
        error: Why the form was not saved.
        entry: What the form writes.
        fields: Keys of the entry that the form has fields for; `a.b` is the key b below a.
    """
    problems = error.problems if isinstance(error, ConfigError) else ()
    by_field: dict[str, list[str]] = {}
    others = []
    for problem in problems:
        if problem.severity is not Severity.ERROR:
            continue
        field = next((name for name in _list_keys(problem, entry) if name in fields), None)
        if field is None:
            others.append(problem)
        else:
            by_field.setdefault(field, []).append(_describe_problem(problem, field))
    told = {field: "; ".join(texts) for field, texts in by_field.items()}
    if told and not others:
        return FieldProblems(by_field=told, elsewhere=None)
    rest = ConfigError(str(error), problems=others, hint=error.hint)
    return FieldProblems(by_field=told, elsewhere=rest)


def _list_keys(problem: Problem, entry: Entry) -> Iterator[str]:
    """Yield the key within the entry that a problem is about, then those around it."""
    place = parse_place(problem.place)
    if problem.file == _FORM:
        yield problem.place
        return
    number = next((at for at, part in enumerate(place) if isinstance(part, int)), len(place))
    if Path(problem.file).name != entry.file or place[number : number + 1] != (entry.number,):
        return
    keys = [str(part) for part in place[number + 1 :]]
    for length in range(len(keys), 0, -1):
        yield ".".join(keys[:length])


def _describe_problem(problem: Problem, field: str) -> str:
    inner = problem.place.rpartition(f".{field}.")[2] if f".{field}." in problem.place else ""
    message = f"{inner}: {problem.message}" if inner else problem.message
    return f"{message} ({problem.hint})" if problem.hint else message


def guard_form(what: str, children: Any, class_name: str = "form-stack") -> Component:
    """Build a form whose edits do not vanish unasked, see `assets/unsaved.js`.

    Args:
        what: What it edits, as a question names it.
        children: Its fields and buttons.
        class_name: CSS class.
    """
    return html.Div(children, className=class_name, **data(form=what))


@dataclass(frozen=True, slots=True, kw_only=True)
class FormAnswer:
    """The outcome, and where it is told."""

    shown: Component
    """Stands below the form."""
    is_saved: bool
    errors: Mapping[str, str] = field(default_factory=dict)
    """Name of a field to what stands beside it."""


def report_saved(text: str) -> FormAnswer:
    """Describe the outcome of a form that was written."""
    return FormAnswer(shown=note_saved(text), is_saved=True)


def note_saved(text: str) -> Component:
    """Build the message that a form was written, which `assets/unsaved.js` waits for."""
    return html.P(text, role="status", **data(saved="yes"))


def report_refused(error: PoorBenchError, entry: Entry, fields: Collection[str]) -> FormAnswer:
    """Describe the outcome of a form that was not: each problem beside its field, if it has one.

    Args:
        error: Why it was not written.
        entry: What the form writes.
        fields: Keys of the entry that the form has fields for.
    """
    problems = sort_problems(error, entry, fields)
    told = "Not saved. Correct the fields in red."
    shown = (
        html.P(told, className="form-refused", role="alert")
        if problems.elsewhere is None
        else error_banner(problems.elsewhere)
    )
    return FormAnswer(shown=shown, is_saved=False, errors=problems.by_field)


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
