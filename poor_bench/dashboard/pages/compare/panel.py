"""One test beside the list: what was asked, what each LLM answered, how two answers differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from dash import dcc, html

from poor_bench.dashboard.components.answer_difference import answer_difference
from poor_bench.dashboard.components.attributes import aria
from poor_bench.dashboard.components.icon import icon
from poor_bench.dashboard.components.llm_mark import llm_mark
from poor_bench.dashboard.components.plain_text import folded, plain_text
from poor_bench.dashboard.components.score import score_badge, weak_sandbox_badge
from poor_bench.dashboard.components.stay_link import StayLinks, chip_row
from poor_bench.dashboard.links import model_link
from poor_bench.dashboard.pages.compare.ids import CompareIds as Ids
from poor_bench.dashboard.pages.compare.selection import CompareSelection
from poor_bench.dashboard.services.compared_tests import ComparedTest, DistinctAnswer, LLMLine
from poor_bench.dashboard.services.result_details import ResultDetails
from poor_bench.dashboard.text.safe_markdown import safe_markdown
from poor_bench.messages import counted
from poor_bench.models.result import Result
from poor_bench.scoring.verdict import MAX_DETAILS

if TYPE_CHECKING:
    from dash.development.base_component import Component

_LINKS = StayLinks(Ids.SEARCH)


def panel(
    row: ComparedTest,
    details_of: Callable[[Result], ResultDetails],
    name_of: Callable[[str], str],
    selection: CompareSelection,
    neighbours: tuple[str, str],
) -> list[Component]:
    """Return the panel of one test.

    Args:
        row: The test with its lines.
        details_of: Result to everything that belongs to it.
        name_of: LLM id to what screens call it.
        selection: State of the page.
        neighbours: Test before and after in the list; empty where there is none.
    """
    first = next((line.answers[0].results[0] for line in row.lines if line.answers), None)
    details = details_of(first) if first is not None else None
    return [
        _head(row, selection, neighbours),
        html.Div(
            [
                _asked(row, details),
                _difference(row, name_of, selection),
                *(
                    _of_llm(line, number, details_of, name_of)
                    for number, line in enumerate(row.lines)
                ),
            ],
            className="details-body",
        ),
    ]


def _head(row: ComparedTest, selection: CompareSelection, neighbours: tuple[str, str]) -> Component:
    level = (
        f"{row.test.class_id} · level {row.test.level}" if row.test else "no longer in tests.json"
    )
    steps = zip(neighbours, ("previous", "next"), ("K", "J"), strict=True)
    buttons = [
        _LINKS.link(
            icon(name),
            selection.changed(test=test_id).search,
            label=f"{name.capitalize()} test ({key})",
            key=name,
            className="panel-button",
            title=f"{name.capitalize()} test ({key})",
        )
        for test_id, name, key in steps
        if test_id
    ]
    close = _LINKS.link(
        icon("close"),
        selection.changed(test="").search,
        label="Close (Escape)",
        key="escape",
        className="panel-button",
        title="Close (Escape)",
    )
    return html.Div(
        [
            html.Div([html.H2(row.test_id), html.P(level)], className="details-title"),
            *buttons,
            close,
        ],
        className="details-head",
    )


def _asked(row: ComparedTest, details: ResultDetails | None) -> Component | None:
    if details is None:
        return None
    expected = (
        html.Section([html.H3("Expected"), plain_text(details.expected)])
        if details.expected
        else None
    )
    prompt = details.prompt or (row.test.text or "" if row.test else "")
    return html.Div([folded("Prompt", plain_text(prompt)) if prompt else None, expected])


def _difference(
    row: ComparedTest, name_of: Callable[[str], str], selection: CompareSelection
) -> Component | None:
    answered = {line.llm_id: line.answers[0] for line in row.lines if _has_answer(line)}
    if len(answered) < 2:
        return None
    ids = list(answered)
    left = selection.left if selection.left in answered else ids[0]
    right = selection.right if selection.right in answered else ""
    if not right or right == left:
        right = _most_unlike(left, answered)
    sides = (("left", "Left", left), ("right", "Right", right))
    return html.Section(
        [
            html.H3("Difference of two answers"),
            *(
                chip_row(
                    heading,
                    [
                        _LINKS.chip(
                            name_of(llm_id),
                            selection.changed(**{side: llm_id}).search,
                            is_active=llm_id == chosen,
                        )
                        for llm_id in ids
                    ],
                )
                for side, heading, chosen in sides
            ),
            answer_difference(answered[left].text, answered[right].text),
        ]
    )


def _most_unlike(llm_id: str, answered: Mapping[str, DistinctAnswer]) -> str:
    """Return the LLM whose answer is worth comparing with that of another."""
    own = answered[llm_id]
    others = [other for other in answered if other != llm_id]
    return min(
        others,
        key=lambda other: (answered[other].score == own.score, answered[other].text == own.text),
    )


def _has_answer(line: LLMLine) -> bool:
    return bool(line.answers) and line.answers[0].score is not None


def _of_llm(
    line: LLMLine,
    number: int,
    details_of: Callable[[Result], ResultDetails],
    name_of: Callable[[str], str],
) -> Component:
    href = model_link(line.llm_id, test=_test_of(line.answers))
    return html.Section(
        [
            html.H3(
                [
                    llm_mark(number),
                    dcc.Link(name_of(line.llm_id), href=href),
                    score_badge(line.score) if line.answers else None,
                ],
                className="panel-llm",
            ),
            *(_answer(answer, details_of(answer.results[0])) for answer in line.answers),
            html.P("No result yet.", className="quiet") if not line.answers else None,
        ],
        **aria(label=name_of(line.llm_id)),
    )


def _test_of(answers: Sequence[DistinctAnswer]) -> str:
    return answers[0].results[0].test_id if answers else ""


def _answer(answer: DistinctAnswer, details: ResultDetails) -> Component:
    if answer.score is None:
        return html.Div(
            [html.Strong("Failed to run"), html.P(answer.text)], className="failure-box"
        )
    trials = ", ".join(str(result.trial) for result in answer.results)
    n_words = len(details.thinking.split())
    weak_levels = sorted({result.weak_sandbox for result in answer.results} - {""})
    return html.Div(
        [
            *map(weak_sandbox_badge, weak_levels),
            html.P(
                f"{counted(answer.n_trials, 'trial')} with the same response ({trials}), "
                f"score {answer.score:.2f}",
                className="quiet",
            )
            if answer.n_trials > 1
            else None,
            plain_text(details.answer, details.answer_span),
            dcc.Markdown(
                safe_markdown(details.result.details[:MAX_DETAILS]), className="evaluator-says"
            ),
            folded(f"Thinking ({counted(n_words, 'word')})", plain_text(details.thinking))
            if details.thinking
            else None,
        ],
        className="panel-answer",
    )
