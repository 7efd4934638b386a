"""Everything about one trial, beside the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dash_mantine_components as dmc
from dash import dcc, html

from poor_bench.dashboard.components.attributes import aria, data
from poor_bench.dashboard.components.icon import icon
from poor_bench.dashboard.components.plain_text import difference, folded, plain_text
from poor_bench.dashboard.components.score import score_badge, weak_sandbox_badge
from poor_bench.dashboard.pages.model.ids import ModelIds as Ids
from poor_bench.dashboard.services.result_details import ResultDetails
from poor_bench.dashboard.text.differences import compare_texts
from poor_bench.dashboard.text.figures_text import dollars_text, milliseconds_text
from poor_bench.dashboard.text.safe_markdown import safe_markdown
from poor_bench.dashboard.text.think_text import think_to_text
from poor_bench.messages import counted
from poor_bench.models.result import Result
from poor_bench.scoring.verdict import MAX_DETAILS

if TYPE_CHECKING:
    from dash.development.base_component import Component


def panel() -> Component:
    """Return the panel while no trial is open: it is hidden until it has a title."""
    return html.Aside(
        [
            html.Div(
                [
                    html.Div(id=Ids.DETAILS_TITLE, className="details-title"),
                    html.Span(id=Ids.DETAILS_POSITION, className="details-position"),
                    _button(Ids.PREVIOUS, "previous", "Previous result (K)"),
                    _button(Ids.NEXT, "next", "Next result (J)"),
                    _button(Ids.CLOSE, "close", "Close (Escape)"),
                ],
                className="details-head",
            ),
            html.Div(id=Ids.DETAILS, className="details-body"),
        ],
        className="details",
        **aria(label="Result"),
        **data(keys="on"),
    )


def details_title(details: ResultDetails) -> list[Component]:
    """Return which trial is open."""
    result = details.result
    level = f" · level {details.level}" if details.level is not None else ""
    trial = f" · trial {result.trial}" if result.trial > 1 else ""
    return [
        html.H2(result.test_id),
        html.P(f"{details.class_id or 'removed test'}{level}{trial}"),
    ]


def details_body(details: ResultDetails) -> list[Component | None]:
    """Return everything about a trial."""
    return [
        _verdict(details),
        _difference(details),
        _section("Response", plain_text(details.answer, details.answer_span)),
        _thinking(details),
        _prompt(details),
        _section("Figures", _figures(details.result)),
    ]


def _button(button_id: Ids, name: str, label: str) -> Component:
    button: Component = dmc.ActionIcon(
        icon(name), id=button_id, variant="subtle", color="gray", n_clicks=0, **aria(label=label)
    )
    return button


def _verdict(details: ResultDetails) -> Component:
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


def _difference(details: ResultDetails) -> Component | None:
    if not details.expected or details.result.score is None:
        return None
    if details.result.score >= 1.0:
        return _section("Expected", plain_text(details.expected))
    if not details.got:
        return _section("Expected; no answer found", plain_text(details.expected))
    return _section(
        "Expected and actual",
        html.P([html.Del("expected"), " ", html.Ins("actual")], className="difference-key"),
        difference(compare_texts(details.expected, details.got)),
    )


def _thinking(details: ResultDetails) -> Component | None:
    if not details.thinking:
        return None
    n_words = len(details.thinking.split())
    return folded(f"Thinking ({counted(n_words, 'word')})", plain_text(details.thinking))


def _prompt(details: ResultDetails) -> Component | None:
    if not details.prompt:
        return None
    as_today = "" if details.is_prompt_stored else " (rendered from the current files)"
    system = plain_text(details.system_prompt) if details.system_prompt else None
    return folded(
        f"Prompt{as_today}",
        html.H4("System") if system else None,
        system,
        html.H4("User") if system else None,
        plain_text(details.prompt),
    )


def _figures(result: Result) -> Component:
    figures = {
        "Execution time": milliseconds_text(result.execution_time_ms),
        "Time to first token": milliseconds_text(result.first_token_ms),
        "Model load": milliseconds_text(result.load_ms),
        "Queue": milliseconds_text(result.queue_ms),
        "Prompt processing": milliseconds_text(result.prefill_ms),
        "Generation": milliseconds_text(result.decode_ms),
        "Prompt tokens": _count(result.prompt_tokens),
        "Completion tokens": _count(result.completion_tokens),
        "Thinking tokens": _count(result.thinking_tokens),
        "Cost": dollars_text(result.cost_usd),
        "Judge cost": dollars_text(result.judge_cost_usd),
        "Finish reason": result.finish_reason or "-",
        "Answer format": result.found or "-",
        "Sandbox": result.sandbox or "-",
        "Think": think_to_text(result.think),
        "Time of request": result.timestamp[:19].replace("T", " "),
        "Run": result.run_id or "-",
    }
    known = {name: text for name, text in figures.items() if text not in {"-", ""}}
    return html.Dl(
        [html.Div([html.Dt(name), html.Dd(text)]) for name, text in known.items()],
        className="figures",
    )


def _count(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"


def _section(title: str, *children: Component) -> Component:
    return html.Section([html.H3(title), *children])
