"""Forms that write an entry of a file: problems stand beside the fields they belong to."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dash import html
from dash.development.base_component import Component

from poor_bench.config.document import parse_place
from poor_bench.dashboard.components.blocks import data, error_banner
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.models.problem import Problem, Severity

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


def saved_in(file: str) -> str:
    """Say which file a form was written to."""
    return f"Saved in {file}."


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
    told = "Not saved. Correct red fields."
    shown = (
        html.P(told, className="form-refused", role="alert")
        if problems.elsewhere is None
        else error_banner(problems.elsewhere)
    )
    return FormAnswer(shown=shown, is_saved=False, errors=problems.by_field)
