"""A conversation with feedback of judges and people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.components.card import card
from poor_bench.judge.history.summary import CaseSummary
from poor_bench.judge.labels.label import Label
from poor_bench.judge.subject import Turn

if TYPE_CHECKING:
    from dash.development.base_component import Component


def case_card(case: CaseSummary, labels: Sequence[Label]) -> Component:
    """Build a conversation with all feedback.

    Args:
        case: The case.
        labels: What people gave it.
    """
    talk = case.conversation
    title = talk.case_id if case.score is None else f"{talk.case_id}: {case.score:.2f}"
    return card(
        title,
        *_remarks(case),
        html.Ol([_turn(turn) for turn in talk.turns], className="judge-turns"),
        *_feedback(case),
        *_labels(labels),
        note=f"Expected: {talk.expected_behavior}" if talk.expected_behavior else None,
    )


def _remarks(case: CaseSummary) -> Iterator[Component]:
    failure = case.conversation.failure
    if failure is not None:
        yield html.P(f"Stopped early: {failure.message}", className="judge-broken")
    for rule in case.conversation.broken_rules:
        yield html.P(f"Broken rule: {rule}", className="judge-broken")


def _turn(turn: Turn) -> Component:
    return html.Li(
        [html.Span(turn.speaker, className="judge-who"), html.Div(turn.text or "(said nothing)")],
        className=f"judge-turn is-{turn.speaker}",
    )


def _feedback(case: CaseSummary) -> Iterator[Component]:
    if case.feedback:
        yield html.H3("Judges")
    for item in case.feedback:
        passed = "passed" if item.passed else "not passed"
        yield html.P(
            [
                html.Strong(f"{item.score:.1f}"),
                html.Span(f" {item.judge}, {passed}: ", className="quiet"),
                item.text,
            ],
            className="judge-feedback",
        )


def _labels(labels: Sequence[Label]) -> Iterator[Component]:
    if labels:
        yield html.H3("People")
    for label in labels:
        score = html.Strong(f"{label.score:.1f}")
        ending = ": " if label.note else ""
        who = html.Span(f" {label.who}{ending}", className="quiet")
        yield html.P([score, who, label.note], className="judge-feedback")
