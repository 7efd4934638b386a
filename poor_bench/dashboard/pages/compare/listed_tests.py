"""The tests one by one, with a line for each LLM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.components.attributes import aria
from poor_bench.dashboard.components.llm_mark import llm_mark
from poor_bench.dashboard.components.score import score_badge
from poor_bench.dashboard.components.states import empty_state
from poor_bench.dashboard.components.stay_link import StayLinks
from poor_bench.dashboard.pages.compare.ids import CompareIds as Ids
from poor_bench.dashboard.pages.compare.selection import CompareSelection
from poor_bench.dashboard.services.compared_tests import ComparedTest, DistinctAnswer, LLMLine
from poor_bench.dashboard.text.figures_text import milliseconds_text
from poor_bench.messages import counted
from poor_bench.models.test import Test

if TYPE_CHECKING:
    from dash.development.base_component import Component

PAGE_SIZE = 25
_LINKS = StayLinks(Ids.SEARCH)
_SHOWN_ANSWERS = 3
_SHOWN_TEXT = 160


def listed_tests(
    rows: Sequence[ComparedTest],
    name_of: Callable[[str], str],
    selection: CompareSelection,
    n_tests: int,
) -> Component:
    """Return one page of the tests.

    Args:
        rows: The tests of the page.
        name_of: LLM id to what screens call it.
        selection: State of the page.
        n_tests: How many tests there are on all pages.
    """
    if not rows:
        return empty_state(
            "No tests", "No test matches these filters. Remove a filter to see more."
        )
    return html.Div(
        [
            html.Ol(
                [_row(row, name_of, selection) for row in rows],
                className="test-list",
                start=str((selection.page - 1) * PAGE_SIZE + 1),
            ),
            _pages(selection, n_tests),
        ]
    )


def _row(
    row: ComparedTest, name_of: Callable[[str], str], selection: CompareSelection
) -> Component:
    is_open = row.test_id == selection.test
    search = selection.changed(test="" if is_open else row.test_id).search
    level = (
        f"{row.test.class_id}, level {row.test.level}" if row.test else "no longer in tests.json"
    )
    return html.Li(
        [
            html.Div(
                [
                    _LINKS.link(row.test_id, search, className="test-name"),
                    html.Span(level, className="quiet"),
                    html.P(_asked(row.test), className="test-text"),
                ],
                className="test-about",
            ),
            html.Div(
                [_line(line, number, name_of) for number, line in enumerate(row.lines)],
                className="test-lines",
            ),
        ],
        className="test-row is-open" if is_open else "test-row",
    )


def _line(line: LLMLine, number: int, name_of: Callable[[str], str]) -> Component:
    return html.Div(
        [
            llm_mark(number),
            html.Span(name_of(line.llm_id), className="line-name", title=line.llm_id),
            score_badge(line.score) if line.answers else html.Span("-", className="quiet"),
            _change(line.change),
            html.Span(_answers(line.answers), className="line-answers"),
            html.Span(milliseconds_text(line.mean_ms), className="line-time"),
        ],
        className="test-line",
    )


def _change(change: float | None) -> Component:
    if change is None or abs(change) < 0.005:
        return html.Span(className="change")
    word = "better" if change > 0 else "worse"
    return html.Span(
        f"{'▲' if change > 0 else '▼'} {abs(change):.2f}",
        className=f"change is-{word}",
        title=f"{word} than the baseline",
    )


def _answers(answers: Sequence[DistinctAnswer]) -> list[Component]:
    if not answers:
        return [html.Span("no result", className="quiet")]
    shown = [_answer(answer, answers) for answer in answers[:_SHOWN_ANSWERS]]
    further = len(answers) - len(shown)
    if further > 0:
        shown.append(html.Span(f"+{counted(further, 'other answer')}", className="quiet"))
    return shown


def _answer(answer: DistinctAnswer, among: Sequence[DistinctAnswer]) -> Component:
    text = " ".join(answer.text[: 4 * _SHOWN_TEXT].split())
    is_repeated = len(among) > 1 or answer.n_trials > 1
    return html.Span(
        [
            html.Span(f"{answer.n_trials}x", className="answer-count") if is_repeated else None,
            html.Span(text[:_SHOWN_TEXT] or "empty answer"),
        ],
        className="answer is-failed" if answer.score is None else "answer",
    )


def _asked(test: Test | None) -> str:
    if test is None:
        return ""
    text = " ".join((test.text or " | ".join(test.texts or ())).split())
    return text if len(text) <= _SHOWN_TEXT else f"{text[: _SHOWN_TEXT - 1]}…"


def _pages(selection: CompareSelection, n_tests: int) -> Component | None:
    n_pages = -(-n_tests // PAGE_SIZE)
    if n_pages <= 1:
        return None
    start = (selection.page - 1) * PAGE_SIZE
    steps = [("Previous", selection.page - 1), ("Next", selection.page + 1)]
    links = [
        _LINKS.link(text, selection.changed(page=page).search, className="page-step")
        if 1 <= page <= n_pages
        else html.Span(text, className="page-step is-off", **aria(disabled="true"))
        for text, page in steps
    ]
    shown = f"{start + 1:,} to {min(start + PAGE_SIZE, n_tests):,} of {n_tests:,}"
    return html.Nav(
        [links[0], html.Span(shown, className="quiet"), links[1]],
        className="page-steps",
        **aria(label="Pages of tests"),
    )
