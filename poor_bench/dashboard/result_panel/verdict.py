"""How a result was scored: score and cause, or failure; expected and actual answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.components.badges import score_badge, trust_badges, weak_sandbox_badge
from poor_bench.dashboard.components.blocks import figures_list
from poor_bench.dashboard.components.texts import difference, plain_text
from poor_bench.dashboard.text.differences import compare_texts
from poor_bench.dashboard.text.markdown import build_markdown
from poor_bench.judge.judgement import read_answer_parts
from poor_bench.judge.prompt import LARGEST_SCORE
from poor_bench.messages import write_count
from poor_bench.scoring.verdict import MAX_DETAILS

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.panel_results import PanelResult
    from poor_bench.models.result import Result


_SHORT = 60
"""Characters of texts that stand beside each other: `42` and `41` compared would read `4241`."""


def build_verdict(panel: PanelResult) -> Component:
    """Show score, format score, flags and what the evaluator says; or why the trial failed."""
    details, result = panel.details, panel.details.result
    if result.failure is not None:
        kind = result.failure.kind.value.replace("_", " ")
        return html.Div(
            [
                html.Strong(f"Failed to run: {kind}"),
                html.P(result.failure.message),
                html.P("This is not a score; the test stays pending.", className="quiet"),
            ],
            className="failure-box",
        )
    strict = result.strict_score
    issues = [html.Li(f"{title}: {evidence}") for title, evidence in details.issues]
    return html.Div(
        [
            html.Div(
                [
                    score_badge(result.score),
                    trust_badges(panel.notes),
                    html.Span(f"cause: {result.cause.replace('_', ' ')}", className="warning-badge")
                    if result.cause
                    else None,
                    html.Span(
                        f"strict {strict:.2f}: the answer is not in the required format",
                        className="quiet",
                    )
                    if strict is not None and strict != result.score
                    else None,
                    *(
                        html.Span(mark.replace("_", " "), className="warning-badge")
                        for mark in result.marks
                    ),
                    weak_sandbox_badge(result.weak_sandbox),
                ],
                className="verdict-line",
            ),
            html.Div(build_markdown(result.details[:MAX_DETAILS]), className="evaluator-says"),
            _build_parts(result),
            html.Ul(issues, className="details-issues") if issues else None,
        ]
    )


def _build_parts(result: Result) -> Component | None:
    """List the scores of a judge by dimension; None where no model judged."""
    parts = read_answer_parts(result.judgement)
    if parts is None:
        return None
    failed = f", {parts.n_failed:,} failed" if parts.n_failed else ""
    told = f"Judged by {parts.judge}, mean of {write_count(parts.n, 'judgement')}{failed}."
    figures = {
        name.replace("_", " "): f"{score:.2f} of {LARGEST_SCORE:g}"
        for name, score in parts.scores.items()
    }
    return html.Div([html.P(told, className="quiet"), figures_list(figures)])


def build_expected(panel: PanelResult) -> Component | None:
    """Show the expected answer, beside the actual one where they differ."""
    details = panel.details
    if not details.expected or details.result.score is None:
        return None
    if details.result.score >= 1.0:
        return html.Section([html.H3("Expected"), plain_text(details.expected)])
    if not details.got:
        title = html.H3("Expected; no answer found")
        return html.Section([title, plain_text(details.expected)])
    if max(len(details.expected), len(details.got)) <= _SHORT:
        return html.Section(
            [
                html.H3("Expected"),
                plain_text(details.expected),
                html.H3("Actual"),
                plain_text(details.got),
            ],
            className="expected-and-actual",
        )
    return html.Section(
        [
            html.H3("Expected and actual"),
            html.P([html.Del("expected"), " ", html.Ins("actual")], className="difference-key"),
            difference(compare_texts(details.expected, details.got)),
        ]
    )
