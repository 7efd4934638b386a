"""The compared tests: their list, and the parts of it that the reader chooses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from dash import html

from poor_bench.dashboard.components.badges import llm_mark, score_badge, trust_badges
from poor_bench.dashboard.components.blocks import empty_state
from poor_bench.dashboard.components.controls import page_steps
from poor_bench.dashboard.components.sheets import SheetColumn, SheetTable
from poor_bench.dashboard.components.tables import Element, write_n
from poor_bench.dashboard.components.texts import MOST_SEARCHED, mark_text
from poor_bench.dashboard.pages.compare.layout import LINKS, CompareUrl
from poor_bench.dashboard.services.compared import LLMLine, TestAnswers
from poor_bench.dashboard.text.formatting import milliseconds_text
from poor_bench.messages import write_count
from poor_bench.results.filter_text import Matches, parse_filter

if TYPE_CHECKING:
    from typing import TypeAlias

    from dash.development.base_component import Component

    from poor_bench.dashboard.services.compared import DistinctAnswer, TestAnswers
    from poor_bench.metrics.trust import TrustNote
    from poor_bench.models.test import Test

    NotesOf: TypeAlias = Callable[[LLMLine], Sequence[TrustNote]]

_MOST_TESTS, _LEAST_TESTS = 25, 10
_MOST_LINES = 100
_SHOWN_ANSWERS = 3
_SHOWN_TEXT = 160
_BEFORE_MATCH = 30


def choose_page_size(n_subjects: int) -> int:
    """Choose how many tests a page holds: fewer where each has answers of many subjects.

    Example:
        >>> choose_page_size(2), choose_page_size(7), choose_page_size(50)
        (25, 14, 10)
    """
    return min(_MOST_TESTS, max(_LEAST_TESTS, _MOST_LINES // n_subjects))


def build_test_list(
    rows: Sequence[TestAnswers],
    name_of: Callable[[str], str],
    url: CompareUrl,
    n_tests: int,
    notes_of: NotesOf,
    table: SheetTable[TestAnswers],
) -> Component:
    """Build one page of the tests.

    Args:
        rows: The tests of the page.
        name_of: LLM id to what screens call it.
        url: State of the page.
        n_tests: How many tests there are on all pages.
        notes_of: Lists what lessens the trust in the score of a model on a test.
        table: What can be shown of a test.
    """
    if not rows:
        return empty_state("Nothing matches these filters.")
    shown = {column.field for column in table.select_shown(rows, url.find_view(table.name))}
    marks = [llm_mark(number) for number in range(len(rows[0].lines))]
    page_size, sought = choose_page_size(len(marks)), Matches(parse_filter(url.text))
    badges = cache(score_badge), cache(trust_badges)
    look = _Look(url, sought, cache(name_of), notes_of, shown, marks, *badges)
    tests = html.Ol(
        [_test_row(row, look) for row in rows],
        className="test-list",
        start=str((url.page - 1) * page_size + 1),
    )
    steps = page_steps(LINKS, url, n_tests, page_size, label="Tests")
    return html.Div([table.chooser(rows, LINKS, url), tests, steps], className="choosable")


class _Look(NamedTuple):
    """How the tests are shown."""

    url: CompareUrl
    sought: Matches
    name_of: Callable[[str], str]
    notes_of: NotesOf
    shown: Collection[str]
    """Fields of the columns that the reader sees."""
    marks: Sequence[Component]
    """Of the subjects."""
    score_badge: Callable[[float | None], Component]
    """Builds alike badges once, as they are many."""
    trust_badges: Callable[[tuple[TrustNote, ...]], Component | None]


def _test_row(row: TestAnswers, look: _Look) -> Component:
    is_open = row.test_id == look.url.test
    search = look.url.change(test="" if is_open else row.test_id).search
    level = f"{row.test.class_id}, level {row.test.level}" if row.test else "removed test"
    text = html.P(mark_text(_test_text(row.test), look.sought.find), className="test-text")
    about = [
        LINKS.link(row.test_id, search, className="test-name"),
        html.Span(level, className="quiet") if "class" in look.shown else None,
        text if "text" in look.shown else None,
    ]
    lines: list[Any] = [_line(line, number, look) for number, line in enumerate(row.lines)]
    return html.Li(
        [html.Div(about, className="test-about"), html.Div(lines, className="test-lines")],
        className="test-row is-open" if is_open else "test-row",
    )


def _span(class_name: str, *children: Any, title: str | None = None) -> Element:
    """Build a part of a line: the page has a thousand of them, and components are slow to build."""
    return Element(
        "span", {"className": class_name} | ({"title": title} if title else {}), children
    )


def _line(line: LLMLine, number: int, look: _Look) -> Element:
    shown = look.shown
    answers = _answers(line.answers, look.sought) if "answers" in shown else []
    notes = tuple(look.notes_of(line))
    parts = (
        look.marks[number],
        _span("line-name", look.name_of(line.llm_id), title=line.llm_id),
        _score(line, look, is_explained=bool(notes)) if "score" in shown else _span(""),
        _change(line.change if "change" in shown else None),
        _span("line-answers", _mark_unlike(line), look.trust_badges(notes), *answers),
        _span("line-time", milliseconds_text(line.mean_ms) if "latency" in shown else ""),
    )
    return Element("div", {"className": "test-line"}, parts)


def _score(line: LLMLine, look: _Look, *, is_explained: bool) -> Element:
    """Show the mean score, and over how many trials it is if several.

    Args:
        line: The answers of a model.
        look: How it is shown.
        is_explained: True if a note beside it says why a score is missing.
    """
    if not line.answers or (line.score is None and is_explained):
        return _span("quiet", "-")
    n = write_n(line.n_scored) if line.n_scored > 1 else None
    return _span("line-score", look.score_badge(line.score), n)


def _mark_unlike(line: LLMLine) -> Element | None:
    return _span("trust-badge is-unlike", "asked differently") if line.is_unlike else None


def _change(change: float | None) -> Element:
    if change is None or abs(change) < 0.005:
        return _span("change")
    word = "better" if change > 0 else "worse"
    arrow = "▲" if change > 0 else "▼"
    return _span(f"change is-{word}", f"{arrow} {abs(change):.2f}", title=word)


def _answers(answers: Sequence[DistinctAnswer], sought: Matches) -> list[Element]:
    shown = [_answer_excerpt(answer, answers, sought) for answer in answers[:_SHOWN_ANSWERS]]
    further = len(answers) - len(shown)
    if further > 0:
        shown.append(_span("quiet", f"+{write_count(further, 'other answer')}"))
    return shown


def _answer_excerpt(
    answer: DistinctAnswer, among: Sequence[DistinctAnswer], sought: Matches
) -> Element:
    matches = sought.find(answer.text[:MOST_SEARCHED])
    start = max(0, matches[0][0] - _BEFORE_MATCH) if matches else 0
    cut = " ".join(answer.text[start : start + 4 * _SHOWN_TEXT].split())[:_SHOWN_TEXT]
    shown = f"…{cut}" if start else cut or "empty answer"
    is_repeated = len(among) > 1 or answer.n_trials > 1
    return _span(
        "answer is-failed" if answer.score is None else "answer",
        _span("answer-count", f"{answer.n_trials}x") if is_repeated else None,
        Element("span", {}, mark_text(shown, sought.find)),
    )


def _test_text(test: Test | None) -> str:
    if test is None:
        return ""
    text = " ".join((test.text or " | ".join(test.texts or ())).split())
    return text if len(text) <= _SHOWN_TEXT else f"{text[: _SHOWN_TEXT - 1]}…"


Read = Callable[[LLMLine], Any]


def define_tests(names: Sequence[str]) -> SheetTable[TestAnswers]:
    """Define the columns of the tests; a figure of a subject is a column of files.

    Args:
        names: What screens call the subjects, the baseline first.
    """
    others = names[1:]
    return SheetTable(
        name="tests",
        label="Tests",
        columns=[
            SheetColumn(field="test", heading="Test ID", value=lambda row: row.test_id),
            SheetColumn(field="class", heading="Class", value=_read_class,
                        further=[("Level", lambda row: row.test.level if row.test else None)]),
            SheetColumn(field="text", heading="Text", value=_read_text),
            _of_subjects("score", "score", names, lambda line: line.score,
                         trials=lambda line: line.n_scored),
            _of_subjects("change", "difference", others, lambda line: line.change, first=1),
            _of_subjects("answers", "answers", names, _join_answers),
            _of_subjects("latency", "latency (s)", names, _read_seconds),
        ],
    )  # fmt: skip


def _of_subjects(
    field: str,
    what: str,
    names: Sequence[str],
    read: Read,
    *,
    first: int = 0,
    trials: Read | None = None,
) -> SheetColumn[TestAnswers]:
    """Define a part of the lines: in files, one column for each subject.

    Args:
        field: Its name in the address.
        what: Follows the name of a subject.
        names: Of the subjects.
        read: Reads the value of a line.
        first: Place of the first of them among the lines.
        trials: Reads over how many trials the value is, in a column behind it.
    """
    columns: list[tuple[str, Callable[[TestAnswers], Any]]] = []
    for place, name in enumerate(names, first):
        columns.append((f"{name}: {what}", _reader(place, read)))
        if trials is not None:
            columns.append((f"{name}: trials", _reader(place, trials)))
    heading = what.partition(" (")[0].capitalize()
    if not columns:
        return SheetColumn(field=field, heading=heading, value=lambda _: None)
    (file_heading, value), *further = columns
    return SheetColumn(
        field=field, heading=heading, value=value, file_heading=file_heading, further=further
    )


def _reader(place: int, read: Read) -> Callable[[TestAnswers], Any]:
    return lambda row: read(row.lines[place])


def _read_class(row: TestAnswers) -> str:
    return row.test.class_id if row.test else "(removed)"


def _read_text(row: TestAnswers) -> str | None:
    return (row.test.text or " | ".join(row.test.texts or ())) if row.test else None


def _read_seconds(line: LLMLine) -> float | None:
    return None if line.mean_ms is None else line.mean_ms / 1000


def _join_answers(line: LLMLine) -> str | None:
    """Join the answers, the most frequent first, each with its number of trials if several."""
    if len(line.answers) < 2:
        return next((answer.text for answer in line.answers), None)
    return "\n\n".join(f"{answer.n_trials}x {answer.text}" for answer in line.answers)
