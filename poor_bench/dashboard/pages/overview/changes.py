"""What changed since the last run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import dcc, html

from poor_bench.comparison.compared_tests import ScoreChange
from poor_bench.dashboard.components.blocks import card
from poor_bench.dashboard.url_state import model_link
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from collections.abc import Callable

    from dash.development.base_component import Component

    from poor_bench.comparison.compare import ComparedGroup, LLMComparison
    from poor_bench.dashboard.services.last_run import LastRun


_SHOWN_TESTS = 6


def changes_card(last_run: LastRun, name_of: Callable[[str], str]) -> Component:
    """Return which tests the last run fixed or broke, for each LLM.

    What was asked in another way than before stands apart: there the change itself is measured.
    """
    groups = [
        (item, group)
        for item in last_run.comparisons
        for group in (item.overall, *item.by_change)
        if group is not None
    ]
    changed = [
        _change_row(item, group, name_of(item.llm_after))
        for item, group in groups
        if group.count(ScoreChange.UNCHANGED) < len(group.tests)
    ]
    new = [_new_row(llm_id, name_of(llm_id)) for llm_id in last_run.new_llm_ids]
    n_tests = sum(len(group.tests) for _, group in groups)
    n_compared = write_count(n_tests, "result")
    if not changed and not new:
        return html.P(
            f"No score changed in run {last_run.run_id}: {n_compared} compared.", className="quiet"
        )
    return card(
        "Since the last run",
        html.Ul([*changed, *new], className="change-list"),
        note=f"{n_compared} of run {last_run.run_id} compared with earlier results.",
    )


def _change_row(item: LLMComparison, group: ComparedGroup, name: str) -> Component:
    return html.Li(
        [
            dcc.Link(name, href=model_link(item.llm_after), className="change-model"),
            html.Span(_difference(group), className="change-difference"),
            html.Span(_reason(group), className="change-reason"),
            *_change_tests(item, group, ScoreChange.BROKEN, "is-broken"),
            *_change_tests(item, group, ScoreChange.FIXED, "is-fixed"),
            html.Span(_rest(group), className="quiet"),
        ]
    )


def _new_row(llm_id: str, name: str) -> Component:
    return html.Li(
        [
            dcc.Link(name, href=model_link(llm_id), className="change-model"),
            html.Span("new: no earlier results", className="change-reason"),
        ]
    )


def _reason(group: ComparedGroup) -> str:
    return ", ".join(change.text for change in group.changes)


def _difference(group: ComparedGroup) -> str:
    difference = group.difference
    verdict = "" if group.is_real() else ", not significant"
    return f"{difference.value:+.3f} ({difference.low:+.2f} to {difference.high:+.2f}{verdict})"


def _change_tests(
    item: LLMComparison, group: ComparedGroup, outcome: ScoreChange, class_name: str
) -> list[Component]:
    tests = group.with_outcome(outcome)
    if not tests:
        return []
    links: list[Component | str] = []
    for test in tests[:_SHOWN_TESTS]:
        href = model_link(item.llm_after, text=test.test_id, test=test.test_id)
        links += [dcc.Link(test.test_id, href=href), " "]
    more = len(tests) - _SHOWN_TESTS
    return [
        html.Span(
            [
                html.Strong(f"{len(tests):,} {outcome.value}: "),
                *links,
                f"and {more:,} more" if more > 0 else "",
            ],
            className=f"change-tests {class_name}",
        )
    ]


def _rest(group: ComparedGroup) -> str:
    counts = {outcome: group.count(outcome) for outcome in (ScoreChange.BETTER, ScoreChange.WORSE)}
    return ", ".join(f"{n:,} {outcome.value}" for outcome, n in counts.items() if n)
