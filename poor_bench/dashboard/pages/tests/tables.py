"""Classes and tests as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from dash import dcc, html
from dash.development.base_component import Component

from poor_bench import metrics
from poor_bench.dashboard.components.badges import score_badge
from poor_bench.dashboard.components.blocks import COMPUTING, aria, computing, empty_state, set_code
from poor_bench.dashboard.components.controls import class_link, page_steps
from poor_bench.dashboard.components.sheets import (
    SheetColumn,
    SheetTable,
    head_limits,
    in_percent,
    sort_head,
)
from poor_bench.dashboard.components.tables import number, quiet, write_n
from poor_bench.dashboard.pages.tests.filters import KnownTests
from poor_bench.dashboard.pages.tests.layout import LINKS, SortBy, TestUrl
from poor_bench.dashboard.services.test_findings import TestFinding, message_about, rate_severity
from poor_bench.dashboard.services.test_reports import FoundFaults
from poor_bench.dashboard.url_state import compare_link
from poor_bench.messages import write_share
from poor_bench.models.problem import Problem
from poor_bench.models.test import Test, TestClass
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.items import Item, LevelOrder, LevelVerdict

PAGE_SIZE = 50
NO_CHOICE = TestUrl()
_TRENDS = {
    LevelVerdict.FOLLOWS: "harder with level",
    LevelVerdict.REVERSED: "easier with level",
    LevelVerdict.UNCLEAR: "no clear trend",
}
"""What is said of the order of the levels of a class."""


class ClassLine(NamedTuple):
    """One class with what is known of it by now."""

    class_id: str
    evaluator: str | None
    n_tests: int
    order: LevelOrder | None
    """None where nothing is scored, or while it is computed."""
    is_computed: bool
    problems: Sequence[Problem]


def list_classes(
    classes: Mapping[str, TestClass],
    tests: Sequence[Test],
    orders: Mapping[str, LevelOrder] | None,
    faults: FoundFaults | None,
) -> list[ClassLine]:
    """Collect what is known of the classes.

    Args:
        classes: By id.
        tests: All tests.
        orders: Class id to the order of its levels; None while it is computed.
        faults: Problems; None while they are looked for.
    """
    n_tests = Counter(test.class_id for test in tests)
    return [
        ClassLine(
            class_id,
            test_class.evaluator.name if test_class.evaluator else None,
            n_tests[class_id],
            (orders or {}).get(class_id),
            orders is not None,
            faults.by_class.get(class_id, ()) if faults else (),
        )
        for class_id, test_class in classes.items()
    ]


def define_classes(lines: Sequence[ClassLine], url: TestUrl = NO_CHOICE) -> SheetTable[ClassLine]:
    """Define the table of the classes; files have a column for each level."""
    levels = sorted({level for line in lines if line.order for level in line.order.difficulty})
    return SheetTable(
        name="classes",
        label="Classes",
        columns=[
            SheetColumn(field="class", heading="Class", value=lambda line: line.class_id,
                        cell=lambda line: class_link(LINKS, url, line.class_id,
                                                     line.class_id)),
            SheetColumn(field="tests", heading="Tests", value=lambda line: line.n_tests),
            SheetColumn(field="evaluator", heading="Evaluator", value=lambda line: line.evaluator,
                        cell=lambda line: quiet(line.evaluator or "-"),
                        ),
            SheetColumn(field="difficulty", heading="Difficulty by level", cell=_hardness,
                        hint="n: tests",
                        file_heading="Levels",
                        value=lambda line: _TRENDS[line.order.verdict] if line.order else None,
                        further=[column for level in levels for column in _of_level(level)]),
            SheetColumn(field="problems", heading="Problems",
                        value=lambda line: " | ".join(_list_problems(line)) or None,
                        cell=_show_problems),
        ],
    )  # fmt: skip


def _of_level(level: int) -> list[tuple[str, Callable[[ClassLine], float | None]]]:
    """List what files hold of a level."""
    return [
        (f"Difficulty level {level}",
         lambda line: line.order.difficulty.get(level) if line.order else None),
        (f"Tests level {level}",
         lambda line: line.order.n_tests.get(level) if line.order else None),
    ]  # fmt: skip


def _hardness(line: ClassLine) -> Component:
    if line.order is None:
        known = html.Span("no results yet", className="quiet")
        return html.Div(known if line.is_computed else computing(), className="level-order")
    trend = _TRENDS[line.order.verdict]
    levels: list[Any] = []
    for level, hard in line.order.difficulty.items():
        apart = " · " if levels else ""
        levels += [f"{apart}{level}: {hard:.2f} ", write_n(line.order.n_tests[level])]
    return html.Div(
        [html.Span(levels), html.Div(trend, className="quiet")], className="level-order"
    )


def define_tests(known: KnownTests, url: TestUrl = NO_CHOICE) -> SheetTable[Test]:
    """Define the table of the tests; `TestUrl` has their order."""

    def read(get: Callable[[Item], Any]) -> Callable[[Test], Any]:
        return lambda test: get(item) if (item := known.items.get(test.test_id)) else None

    def bound(name: str) -> Callable[[Test], Any]:
        return read(lambda item: getattr(item.discrimination, name, None))

    def link(test: Test) -> Component:
        search = url.change(test="" if test.test_id == url.test else test.test_id).search
        return html.Td(_name(test, LINKS.link(test.test_id, search, className="strip-name")))

    tick_head = html.Th(
        html.Span("Select", className="only-heard"), scope="col", className="tick-cell"
    )
    return SheetTable(
        name="tests",
        label="Tests",
        columns=[
            SheetColumn(field="tick", heading="Select", value=lambda _: None, head=tick_head,
                        cell=lambda test: html.Th(_tick(test.test_id, url), className="tick-cell"),
                        is_on_screen_only=True),
            SheetColumn(field="test", heading="Test", value=lambda test: test.test_id, cell=link,
                        file_heading="Test ID", is_fixed=True, head=html.Th("Test", scope="col"),
                        further=[("Class", lambda test: test.class_id),
                                 ("Enabled", lambda test: test.enabled),
                                 ("Tags", lambda test: " ".join(test.tags))]),
            SheetColumn(field="level", heading="Level", value=lambda test: test.level,
                        head=_sort_head(url, SortBy.LEVEL, "Level")),
            SheetColumn(field="mean", heading="Mean score",
                        value=read(lambda item: item.mean_score),
                        cell=lambda test: _mean(test.test_id, known),
                        head=_sort_head(url, SortBy.MEAN, "Mean score"),
                        further=[("Models", read(lambda item: item.n_llms)),
                                 (metrics.PASS_RATE.file_heading,
                                  read(lambda item: in_percent(item.pass_rate)))]),
            SheetColumn(field="discrimination", heading="Discrimination", value=bound("value"),
                        cell=lambda test: _figure(read(lambda item: item.discrimination)(test),
                                                  known.missing),
                        head=_sort_head(url, SortBy.DISCRIMINATION, "Discrimination",
                                        "Item-rest correlation. Below 0: good models fail."),
                        further=list(zip(head_limits("Discrimination"),
                                         (bound("low"), bound("high")), strict=True))),
            SheetColumn(field="flakiness", heading="Flakiness",
                        value=read(lambda item: in_percent(item.flip_rate)),
                        file_heading="Flakiness (%)",
                        cell=lambda test: _flakiness(test.test_id, known),
                        head=_sort_head(url, SortBy.FLAKINESS, "Flakiness",
                                        "Chance that two trials differ"),
                        further=[("Models with several trials",
                                  read(lambda item: item.n_repeated))]),
            SheetColumn(field="text", heading="Text", value=_read_text,
                        cell=lambda test: quiet(" ".join(_read_text(test).split())[:140],
                                                "test-asks"),
                        head=html.Th("Text", scope="col", title="Prompt")),
            SheetColumn(field="findings", heading="Findings",
                        value=lambda test: " | ".join(
                            each.text for each in known.findings.get(test.test_id, ())),
                        cell=lambda test: _list_findings(known.findings.get(test.test_id, ())),
                        head=_findings_head(url),
                        further=[("Severity", lambda test: _rate(test, known))]),
        ],
    )  # fmt: skip


def _rate(test: Test, known: KnownTests) -> str | None:
    worst = rate_severity(known.findings.get(test.test_id, ()))
    return worst.value if worst else None


def _read_text(test: Test) -> str:
    return test.text or " | ".join(test.texts or ())


def build_test_table(tests: Sequence[Test], known: KnownTests, url: TestUrl) -> Component:
    """Build one page of the tests.

    Args:
        tests: All tests that the filters find, in their order.
        known: What is known about them.
        url: State of the page.
    """
    if not tests and not known.has_figures:
        return html.P(COMPUTING, className="quiet")
    if not tests:
        return empty_state("Nothing matches these filters.")
    start = (url.page - 1) * PAGE_SIZE

    def style(test: Test) -> dict[str, Any]:
        class_name = "" if test.enabled else "is-off"
        return {"is_open": test.test_id == url.test, "class_name": class_name}

    page, kind = tests[start : start + PAGE_SIZE], "sheet tests-sheet"
    return html.Div(
        [
            define_tests(known, url).draw(page, LINKS, url, style=style, kind=kind),
            page_steps(LINKS, url, len(tests), PAGE_SIZE, label="Tests"),
        ]
    )


def _findings_head(url: TestUrl) -> html.Th:
    """Build the heading that sorts by severity, and beside it the one that sorts by kind."""
    head, kind = _sort_head(url, SortBy.SEVERITY, "Findings"), _sort_head(url, SortBy.KIND, "Kind")
    head.children = [head.children, " · ", kind.children]
    if url.sort == SortBy.KIND:
        setattr(head, "aria-sort", getattr(kind, "aria-sort"))
    return head


def _sort_head(url: TestUrl, sort: SortBy, text: str, hint: str = "") -> html.Th:
    """Build a heading that sorts: ascending, then descending, then as in the file."""
    is_sorted = url.sort == sort
    if not is_sorted:
        search = url.change(sort=sort, descending=False).search
    elif url.descending:
        search = url.change(sort="", descending=False).search
    else:
        search = url.change(descending=True).search
    return sort_head(LINKS, text, hint, search, url.descending if is_sorted else None)


def _tick(test_id: str, url: TestUrl) -> Component:
    is_ticked = test_id in url.ticked
    return LINKS.link(
        "",
        url.toggle("ticked", test_id).search,
        label=f"Select {test_id}",
        className="tick is-ticked" if is_ticked else "tick",
        role="checkbox",
        **aria(checked="true" if is_ticked else "false"),
    )


def _name(test: Test, link: Component) -> list[Any]:
    labels = [*test.tags, *(() if test.enabled else ("disabled",))]
    return [link, *(html.Span(label, className="test-label") for label in labels)]


def _mean(test_id: str, known: KnownTests) -> Component:
    """Show the mean score, with a link to the answers of the models side by side."""
    item = known.items.get(test_id)
    if item is None:
        return quiet(known.missing)
    link = dcc.Link(
        f"n={item.n_llms}",
        href=compare_link((), test=test_id),
        className="figure-n",
        title="Compare",
    )
    return html.Td([score_badge(item.mean_score), " ", link], className="number")


def _figure(estimate: Estimate | None, missing: str) -> Component:
    if estimate is None:
        return quiet(missing)
    return number(f"{estimate.value:+.2f}", n=estimate.n)


def _flakiness(test_id: str, known: KnownTests) -> Component:
    item = known.items.get(test_id)
    if item is None or item.flip_rate is None:
        return quiet(known.missing)
    return number(write_share(item.flip_rate), n=item.n_repeated)


def _list_findings(findings: Sequence[TestFinding]) -> Component | None:
    if not findings:
        return None
    return html.Ul(
        [
            html.Li(
                [
                    html.Span(each.severity.value, className=f"grade is-{each.severity.value}"),
                    " ",
                    *set_code(each.text[:200]),
                ]
            )
            for each in findings
        ],
        className="problem-list",
    )


def _list_problems(line: ClassLine) -> list[str]:
    """Describe what is wrong with the class of a row, without its name."""
    return [message_about(problem, line.class_id) for problem in line.problems]


def _show_problems(line: ClassLine) -> Component | None:
    texts = _list_problems(line)
    if not texts:
        return None
    return html.Ul([html.Li(set_code(text[:200])) for text in texts], className="problem-list")
