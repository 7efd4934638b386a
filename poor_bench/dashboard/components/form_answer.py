"""What a form shows after it was sent."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.components.states import error_banner
from poor_bench.dashboard.field_problems import Entry, sort_problems
from poor_bench.errors import PoorBenchError

if TYPE_CHECKING:
    from dash.development.base_component import Component


@dataclass(frozen=True, slots=True, kw_only=True)
class FormAnswer:
    """The outcome, and where it is told."""

    shown: Component
    """Stands below the form."""
    is_saved: bool
    errors: Mapping[str, str] = field(default_factory=dict)
    """Name of a field to what stands beside it."""


def saved(text: str) -> FormAnswer:
    """Return the outcome of a form that was written."""
    return FormAnswer(shown=html.P(text, role="status"), is_saved=True)


def refused(error: PoorBenchError, entry: Entry, fields: Collection[str]) -> FormAnswer:
    """Return the outcome of a form that was not: each problem beside its field, if it has one.

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
