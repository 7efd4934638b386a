"""What stands in the place of every page while workspace or results cannot be read."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.components.icon import icon
from poor_bench.dashboard.components.ticked_text import ticked_text
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.messages import counted
from poor_bench.models.problem import Problem, Severity

if TYPE_CHECKING:
    from dash.development.base_component import Component

_SHOWN_PROBLEMS = 50


def blocked_state(error: PoorBenchError) -> Component:
    """Return what is wrong, where, the way out, and that nothing is lost."""
    problems = error.problems if isinstance(error, ConfigError) else ()
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    is_config = isinstance(error, ConfigError)
    title = "The workspace has errors" if is_config else "The results cannot be read"
    return html.Section(
        [
            html.Div(
                [
                    html.Div(icon("warning"), className="blocked-mark"),
                    html.Div([html.H1(title), html.P(_meaning(error))]),
                ],
                className="blocked-head",
            ),
            *_files(errors[:_SHOWN_PROBLEMS]),
            *_rest(error, len(errors) - _SHOWN_PROBLEMS),
        ],
        className="blocked-state",
        role="alert",
    )


def _meaning(error: PoorBenchError) -> str:
    said = "" if isinstance(error, ConfigError) and error.problems else f"{error}. "
    return (
        f"{said}Stored results are unchanged. This page reloads as soon as the files can be read."
    )


def _files(problems: list[Problem]) -> list[Component]:
    by_file = groupby(sorted(problems, key=lambda problem: problem.file), lambda one: one.file)
    return [_file(file, list(found)) for file, found in by_file]


def _file(file: str, problems: list[Problem]) -> Component:
    return html.Div(
        [
            html.H2([html.Code(file), html.Span(counted(len(problems), "problem"))]),
            html.Ul([_problem(problem) for problem in problems]),
        ],
        className="blocked-file",
    )


def _problem(problem: Problem) -> Component:
    line = f"line {problem.line}" if problem.line else ""
    place = " · ".join(part for part in (line, problem.place) if part)
    return html.Li(
        [
            html.Div(place, className="blocked-place") if place else None,
            html.Div(ticked_text(problem.message)),
            html.Div(ticked_text(problem.hint), className="quiet") if problem.hint else None,
        ]
    )


def _rest(error: PoorBenchError, n_more: int) -> list[Component]:
    texts = [f"... and {n_more:,} more"] if n_more > 0 else []
    texts += [error.hint] if error.hint else []
    return [html.P(ticked_text(text), className="quiet") for text in texts]
