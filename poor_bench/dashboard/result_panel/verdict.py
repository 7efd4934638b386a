"""How a result was scored: score and cause, or failure; expected and actual answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dash_mantine_components as dmc
from dash import dcc, html

from poor_bench.dashboard.components.badges import score_badge, weak_sandbox_badge
from poor_bench.dashboard.components.texts import difference, plain_text
from poor_bench.dashboard.text.differences import compare_texts
from poor_bench.dashboard.text.safe_markdown import safe_markdown
from poor_bench.scoring.verdict import MAX_DETAILS

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.trial_search import ResultDetails


def build_verdict(details: ResultDetails) -> Component:
    """Show score, format score, flags and what the evaluator says; or why the trial failed."""
    result = details.result
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
                    html.Span(
                        f"strict {strict:.2f}: the answer is not in the required format",
                        className="quiet",
                    )
                    if strict is not None and strict != result.score
                    else None,
                    *(
                        dmc.Badge(mark.replace("_", " "), color="orange", variant="light")
                        for mark in result.marks
                    ),
                    weak_sandbox_badge(result.weak_sandbox),
                ],
                className="verdict-line",
            ),
            dcc.Markdown(safe_markdown(result.details[:MAX_DETAILS]), className="evaluator-says"),
            html.Ul(issues, className="details-issues") if issues else None,
        ]
    )


def build_expected(details: ResultDetails) -> Component | None:
    """Show the expected answer, beside the actual one where they differ."""
    if not details.expected or details.result.score is None:
        return None
    if details.result.score >= 1.0:
        return html.Section([html.H3("Expected"), plain_text(details.expected)])
    if not details.got:
        title = html.H3("Expected; no answer found")
        return html.Section([title, plain_text(details.expected)])
    return html.Section(
        [
            html.H3("Expected and actual"),
            html.P([html.Del("expected"), " ", html.Ins("actual")], className="difference-key"),
            difference(compare_texts(details.expected, details.got)),
        ]
    )
