"""The panel of one compared test: its answers side by side, and how two of them differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import dcc, html

from poor_bench.comparison.result_set import ComparedSubject, SubjectKind
from poor_bench.dashboard.components.badges import (
    failure_box,
    llm_mark,
    score_badge,
    trust_badges,
    weak_sandbox_badge,
)
from poor_bench.dashboard.components.blocks import aria, data
from poor_bench.dashboard.components.controls import chip_row
from poor_bench.dashboard.components.texts import (
    answer_difference,
    build_folded,
    mark_all,
    plain_text,
)
from poor_bench.dashboard.pages.compare.layout import LINKS, CompareUrl
from poor_bench.dashboard.result_panel.answers import build_answer, build_thinking
from poor_bench.dashboard.text.markdown import build_markdown
from poor_bench.dashboard.url_state import model_link
from poor_bench.messages import write_count
from poor_bench.results.filter_text import Matches, parse_filter
from poor_bench.scoring.verdict import MAX_DETAILS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from dash.development.base_component import Component

    from poor_bench.dashboard.components.texts import Find
    from poor_bench.dashboard.services.compared import DistinctAnswer, LLMLine, TestAnswers
    from poor_bench.dashboard.services.trial_search import ResultDetails
    from poor_bench.metrics.trust import TrustNote
    from poor_bench.models.result import Result

    NotesOf: TypeAlias = Callable[[LLMLine], Sequence[TrustNote]]


def panel(
    row: TestAnswers,
    details_of: Callable[[Result], ResultDetails],
    name_of: Callable[[str], str],
    url: CompareUrl,
    neighbours: tuple[str, str],
    notes_of: NotesOf,
) -> list[Component]:
    """Build the panel of one test.

    Args:
        row: The test with its lines.
        details_of: Result to everything that belongs to it.
        name_of: LLM id to what screens call it.
        url: State of the page.
        neighbours: Test before and after in the list; empty where there is none.
        notes_of: Lists what lessens the trust in the score of a model on the test.
    """
    find = Matches(parse_filter(url.text)).find
    first = next((line.answers[0].results[0] for line in row.lines if line.answers), None)
    details = details_of(first) if first is not None else None
    return [
        _head(row, url, neighbours),
        html.Div(
            [
                mark_all(_build_request(row, details), find),
                _difference(row, name_of, url),
                _build_columns(row, details_of, name_of, url, find, notes_of),
            ],
            className="details-body",
            key=row.test_id,  # another test opens as it is, not as the reader left this one
        ),
    ]


def _head(row: TestAnswers, url: CompareUrl, neighbours: tuple[str, str]) -> Component:
    level = f"{row.test.class_id} · level {row.test.level}" if row.test else "removed test"
    steps = zip(neighbours, ("previous", "next"), ("K", "J"), strict=True)
    buttons = [
        LINKS.key_link(name, url.change(test=test_id).search, label=f"{name.capitalize()} ({key})")
        for test_id, name, key in steps
        if test_id
    ]
    search = url.change(test="").search
    close = LINKS.key_link("close", search, label="Close (Escape)", key="escape")
    return html.Div(
        [
            html.Div([html.H2(row.test_id), html.P(level)], className="details-title"),
            *buttons,
            close,
        ],
        className="details-head",
    )


def _build_request(row: TestAnswers, details: ResultDetails | None) -> Component | None:
    if details is None:
        return None
    expected = (
        html.Section([html.H3("Expected"), plain_text(details.expected)])
        if details.expected
        else None
    )
    prompt = details.prompt or (row.test.text or "" if row.test else "")
    return html.Div([build_folded("Prompt", plain_text(prompt)) if prompt else None, expected])


def _difference(
    row: TestAnswers, name_of: Callable[[str], str], url: CompareUrl
) -> Component | None:
    answered = {line.llm_id: line.answers[0] for line in row.lines if _has_answer(line)}
    if len(answered) < 2:
        return None
    ids = list(answered)
    left = url.left if url.left in answered else ids[0]
    right = url.right if url.right in answered else ""
    if not right or right == left:
        right = _most_unlike(left, answered)
    sides = (("left", "Left", left), ("right", "Right", right))
    return html.Section(
        [
            html.H3("Differences"),
            *(
                chip_row(
                    heading,
                    [
                        LINKS.chip(
                            name_of(llm_id),
                            url.change(**{side: llm_id}).search,
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
    """Choose the LLM whose answer is worth comparing with that of another."""
    own = answered[llm_id]
    others = [other for other in answered if other != llm_id]
    return min(
        others,
        key=lambda other: (answered[other].score == own.score, answered[other].text == own.text),
    )


def _has_answer(line: LLMLine) -> bool:
    return bool(line.answers) and line.answers[0].score is not None


def _build_columns(
    row: TestAnswers,
    details_of: Callable[[Result], ResultDetails],
    name_of: Callable[[str], str],
    url: CompareUrl,
    find: Find,
    notes_of: NotesOf,
) -> Component:
    """Show the answers side by side, with what the search finds marked.

    They scroll together unless the reader wants them apart.
    """
    switches = (
        ("Scroll together", url.change(apart=not url.apart).search, not url.apart),
        ("Full height", url.change(whole=not url.whole).search, url.whole),
    )
    columns = html.Div(
        [
            _of_llm(line, number, details_of, name_of, url, find, notes_of(line))
            for number, line in enumerate(row.lines)
        ],
        className="answer-columns is-whole" if url.whole else "answer-columns",
        **data(scroll_group="" if url.apart else "answers"),
    )
    chips = [LINKS.chip(text, search, is_active=is_on) for text, search, is_on in switches]
    return html.Section([html.H3("Answers"), chip_row("Columns", chips), columns])


def _of_llm(
    line: LLMLine,
    number: int,
    details_of: Callable[[Result], ResultDetails],
    name_of: Callable[[str], str],
    url: CompareUrl,
    find: Find,
    notes: Sequence[TrustNote],
) -> Component:
    href = model_link(ComparedSubject.parse(line.llm_id).llm_id, test=_find_test_id(line.answers))
    return html.Section(
        [
            html.H3(
                [
                    llm_mark(number),
                    dcc.Link(name_of(line.llm_id), href=href),
                    None if line.score is None else score_badge(line.score),
                    trust_badges(notes),
                    _rate_switch(line, url),
                ],
                className="panel-llm",
            ),
            html.Div(
                [
                    *(
                        mark_all(_answer(answer, details_of(answer.results[0])), find)
                        for answer in line.answers
                    ),
                    html.P("No result", className="quiet") if not line.answers else None,
                ],
                className="answer-column-body",
                tabIndex="0",
            ),
        ],
        className="answer-column",
        key=line.llm_id,
        **aria(label=name_of(line.llm_id)),
    )


def _rate_switch(line: LLMLine, url: CompareUrl) -> Component | None:
    if find_rated(line) is None:
        return None
    is_rated = url.rated == line.llm_id
    search = url.change(rated="" if is_rated else line.llm_id).search
    return LINKS.chip("Rate", search, is_active=is_rated)


def find_rated(line: LLMLine) -> list[Any] | None:
    """Find the most frequent answer of a model as `RatingIds.TARGET`; None if it has none."""
    if ComparedSubject.parse(line.llm_id).kind is not SubjectKind.MODEL or not _has_answer(line):
        return None
    result = line.answers[0].results[0]
    return [line.llm_id, result.test_id, result.trial, False]


def _find_test_id(answers: Sequence[DistinctAnswer]) -> str:
    return answers[0].results[0].test_id if answers else ""


def _answer(answer: DistinctAnswer, details: ResultDetails) -> Component:
    if (failure := answer.results[0].failure) is not None:
        return failure_box(failure)
    trials = ", ".join(str(result.trial) for result in answer.results)
    weak_levels = sorted({result.weak_sandbox for result in answer.results} - {""})
    return html.Div(
        [
            *map(weak_sandbox_badge, weak_levels),
            html.P(
                f"{write_count(answer.n_trials, 'trial')} ({trials}), score {answer.score:.2f}",
                className="quiet",
            )
            if answer.n_trials > 1
            else None,
            build_answer(details),
            html.Div(
                build_markdown(details.result.details[:MAX_DETAILS]), className="evaluator-says"
            ),
            build_thinking(details),
        ],
        className="panel-answer",
    )
