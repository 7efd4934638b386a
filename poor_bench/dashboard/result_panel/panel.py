"""What the result panel shows of one result, from top to bottom."""

from __future__ import annotations

from collections.abc import Callable

from dash import dcc, html
from dash.development.base_component import Component

from poor_bench import metrics
from poor_bench.dashboard.components.badges import (
    failure_box,
    score_badge,
    trust_badges,
    weak_sandbox_badge,
)
from poor_bench.dashboard.components.blocks import aria, data, figures_list, set_emphasis
from poor_bench.dashboard.components.texts import build_folded, difference, plain_text
from poor_bench.dashboard.result_panel.addresses import curl_address, text_address
from poor_bench.dashboard.result_panel.answers import build_answer, build_others, build_thinking
from poor_bench.dashboard.services.panel_results import PanelResult, TextPart
from poor_bench.dashboard.text.differences import compare_texts
from poor_bench.dashboard.text.markdown import build_markdown
from poor_bench.dashboard.url_state import Redo, compare_link, edit_test_link, result_link, run_link
from poor_bench.judge.judgement import read_answer_parts
from poor_bench.judge.prompt import LARGEST_SCORE
from poor_bench.messages import write_count
from poor_bench.models.result import Result
from poor_bench.results.query import think_to_text
from poor_bench.scoring.verdict import MAX_DETAILS


def build_title(panel: PanelResult) -> list[Component]:
    """Name the result that is open."""
    details, result = panel.details, panel.details.result
    level = f" · level {details.level}" if details.level is not None else ""
    trial = f" · trial {result.trial}" if result.trial > 1 else ""
    return [
        html.H2(result.test_id),
        html.P(f"{details.class_id or 'removed test'}{level}{trial}"),
    ]


def build_panel(panel: PanelResult, name_of: Callable[[str], str] = str) -> Component:
    """Build everything about one result, for a `still_place`.

    Args:
        panel: The result with what belongs to it.
        name_of: Model id to what screens call it.
    """
    key = curl_address(panel.details.result)
    if panel.is_pending:
        return html.Div(_build_pending(panel, name_of), className="panel-sections", key=key)
    answer, expected = build_answer(panel.details), build_expected(panel)
    reported = panel.reported
    sections = [
        build_links(panel),
        html.Div(["Reported: ", reported], className="failure-box") if reported else None,
        build_prompt(panel),
        html.Div([answer, expected], className="answer-and-expected"),
        build_verdict(panel),
        build_thinking(panel.details),
        build_others(panel, name_of),
        html.Section([html.H3("Figures"), _figures(panel.details.result)]),
    ]
    return html.Div(sections, className="panel-sections", key=key)


def _build_pending(panel: PanelResult, name_of: Callable[[str], str]) -> list[Component | None]:
    """Show what a trial without a result will be asked, and where to ask it."""
    expected = panel.details.expected
    pending = html.Span("Pending", className="warning-badge")
    return [
        build_links(panel),
        html.Div(pending, className="verdict-line is-pending"),
        build_prompt(panel),
        html.Section([html.H3("Expected"), plain_text(expected)]) if expected else None,
        build_others(panel, name_of),
    ]


def _figures(result: Result) -> Component:
    figures = {
        **{metric.label: metric.show_trial(result) for metric in metrics.TRIAL},
        "Finish reason": result.finish_reason or "-",
        "Answer format": result.found or "-",
        "Sandbox": result.sandbox or "-",
        "Think": think_to_text(result.think),
        "Time of request": result.timestamp[:19].replace("T", " "),
        "Run": result.run_id or "-",
    }
    return figures_list(figures)


_COMPARED = 2


def build_links(panel: PanelResult) -> Component:
    """Link to where the next question is answered: compare, edit, re-run, copy."""
    result, key = panel.details.result, panel.key
    others = list(dict.fromkeys(each.llm_id for each in panel.others))[:_COMPARED]
    own = result_link(result.llm_id, key.test_id, trial=key.trial, is_failure=key.is_failure)
    redo = Redo.PENDING if panel.is_pending else Redo.ALL
    rerun = run_link(llm_ids=[result.llm_id], tests=[key.test_id], trials=key.trial, redo=redo)
    name = "Run" if panel.is_pending else "Re-run"
    is_known = bool(panel.details.class_id)
    return html.Nav(
        [
            dcc.Link("Compare", href=compare_link([result.llm_id, *others], test=key.test_id))
            if others
            else None,
            dcc.Link("Edit test", href=edit_test_link(key.test_id)) if is_known else None,
            dcc.Link(name, href=rerun, title="Nothing starts yet.") if is_known else None,
            _copy_button("Copy link", copy_link=own),
            _copy_button("Copy as cURL", _CURL, copy_from=curl_address(result))
            if panel.details.prompt and panel.is_http and not panel.is_pending
            else None,
        ],
        className="panel-links",
        **aria(label="Result"),
    )


_CURL = "Keys stay $VARIABLES."


def _copy_button(text: str, title: str | None = None, **what: str) -> Component:
    return html.Button(text, type="button", title=title, className="quiet-button", **data(**what))


def build_prompt(panel: PanelResult) -> Component | None:
    """Show what was sent: system prompt, user message, and the template behind it."""
    details = panel.details
    if not details.prompt:
        return None
    prompt = plain_text(details.prompt, whole=text_address(details.result, TextPart.PROMPT))
    system = plain_text(details.system_prompt, whole=text_address(details.result, TextPart.SYSTEM))
    return html.Section(
        [
            html.H3(["Prompt", _build_badge(panel)]),
            *([html.H4("System"), system, html.H4("User")] if details.system_prompt else []),
            prompt,
            _build_changes(panel),
            _build_template(panel),
        ]
    )


def _build_badge(panel: PanelResult) -> Component | None:
    if panel.is_pending:
        return None
    if not panel.details.is_prompt_stored:
        title = "Built from current files."
        return html.Span("not stored", className="warning-badge", title=title)
    if panel.prompt.changed_to is not None:
        return html.Span("changed since", className="warning-badge")
    return None


def _build_changes(panel: PanelResult) -> Component | None:
    if panel.prompt.changed_to is None:
        return None
    sent = panel.details.system_prompt, panel.details.prompt
    before, now = ("\n\n".join(filter(None, each)) for each in (sent, panel.prompt.changed_to))
    return build_folded(
        "Changes",
        html.P([html.Del("sent"), " ", html.Ins("today")], className="difference-key"),
        difference(compare_texts(before, now)),
    )


def _build_template(panel: PanelResult) -> Component | None:
    facts = panel.prompt
    if not facts.template:
        return None
    kind = f"override for {facts.override}" if facts.override is not None else "default"
    since = ", current" if facts.changed_to or not panel.details.is_prompt_stored else ""
    title = f"Template of {panel.details.class_id}: {kind}{since}"
    return build_folded(title, plain_text(facts.template))


_SHORT = 60
"""Characters of texts that stand beside each other: `42` and `41` compared would read `4241`."""


def build_verdict(panel: PanelResult) -> Component:
    """Show score, format score, flags and what the evaluator says; or why the trial failed."""
    details, result = panel.details, panel.details.result
    if result.failure is not None:
        return failure_box(result.failure)
    strict = result.strict_score
    issues = [
        html.Li([f"{title}: ", *set_emphasis(evidence)]) for title, evidence in details.issues
    ]
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
                        f"strict {strict:.2f}: wrong format",
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
            html.H3("Expected, actual"),
            html.P([html.Del("expected"), " ", html.Ins("actual")], className="difference-key"),
            difference(compare_texts(details.expected, details.got)),
        ]
    )
