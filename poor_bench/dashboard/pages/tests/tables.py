"""Classes and tests as tables."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from dash import dcc, html

from poor_bench.dashboard.components.badges import score_badge
from poor_bench.dashboard.components.blocks import aria, empty_state, set_code
from poor_bench.dashboard.components.controls import class_link, page_steps
from poor_bench.dashboard.components.tables import number, quiet, row, sheet
from poor_bench.dashboard.pages.tests.layout import LINKS, SortBy, TestUrl
from poor_bench.dashboard.services.test_findings import message_about
from poor_bench.dashboard.url_state import compare_link
from poor_bench.statistics.items import LevelOrder, LevelVerdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dash.development.base_component import Component

    from poor_bench.dashboard.pages.tests.find import KnownTests
    from poor_bench.dashboard.services.test_findings import TestFinding
    from poor_bench.dashboard.services.test_reports import FoundFaults
    from poor_bench.models.problem import Problem
    from poor_bench.models.test import Test, TestClass
    from poor_bench.statistics.intervals import Estimate
    from poor_bench.statistics.items import Item


PAGE_SIZE = 50
_CLASS_HEADINGS = (
    ("Class", ""),
    ("Tests", ""),
    ("Evaluator", "Module that scores the responses"),
    ("Difficulty by level", "1 minus the mean score of all models, for each declared level"),
    ("Problems", "Found by the checks of tests"),
)
_SORTED_HEADINGS = (
    (SortBy.LEVEL, "Level", "Declared difficulty"),
    (SortBy.MEAN, "Mean score", "Mean over models, and how many have a score"),
    (
        SortBy.DISCRIMINATION,
        "Discrimination",
        "Item-rest correlation over models. Below 0: good models fail here.",
    ),
    (
        SortBy.FLAKINESS,
        "Flakiness",
        "Chance that two trials of a model end differently; n: models with several trials",
    ),
)
_UNKNOWN = "n/a"
_TRENDS = {
    LevelVerdict.FOLLOWS: ("harder with level", "Higher levels are harder, as declared"),
    LevelVerdict.REVERSED: ("easier with level", "Higher levels are easier: check the levels"),
    LevelVerdict.UNCLEAR: (
        "no clear trend",
        "Too few tests, or no significant trend",
    ),
}
"""What is said of the order of the levels of a class, and what it means."""


def build_class_table(
    classes: Mapping[str, TestClass],
    tests: Sequence[Test],
    orders: Mapping[str, LevelOrder] | None,
    faults: FoundFaults | None,
    url: TestUrl,
) -> Component:
    """Build the table of the classes.

    Args:
        classes: By id.
        tests: All tests.
        orders: Class id to the order of its levels; None while it is computed.
        faults: Problems; None while they are looked for.
        url: State of the page.
    """
    n_tests = Counter(test.class_id for test in tests)
    rows = [
        row(
            class_link(LINKS, url, class_id, class_id),
            str(n_tests[class_id]),
            quiet(test_class.evaluator.name if test_class.evaluator else "-"),
            _hardness(orders, class_id),
            _problems(faults.by_class.get(class_id, ()) if faults else (), class_id),
        )
        for class_id, test_class in classes.items()
    ]
    return sheet(_CLASS_HEADINGS, rows, label="Table of classes")


def _hardness(orders: Mapping[str, LevelOrder] | None, class_id: str) -> Component:
    if orders is None:
        return html.Span("computing ...", className="quiet")
    order = orders.get(class_id)
    if order is None:
        return html.Span("no results yet", className="quiet")
    trend, meaning = _TRENDS[order.verdict]
    levels = " · ".join(f"{level}: {hard:.2f}" for level, hard in order.difficulty.items())
    return html.Div([html.Span(levels), html.Div(trend, className="quiet", title=meaning)])


def build_test_table(tests: Sequence[Test], known: KnownTests, url: TestUrl) -> Component:
    """Build one page of the tests.

    Args:
        tests: All tests that the filters find, in their order.
        known: What is known about them.
        url: State of the page.
    """
    if not tests:
        return empty_state(
            "No tests", "No test matches these filters. Remove a filter to see more."
        )
    start = (url.page - 1) * PAGE_SIZE
    rows = [_test_row(test, known, url) for test in tests[start : start + PAGE_SIZE]]
    return html.Div(
        [
            sheet(_build_headings(url), rows, label="Table of tests", kind="sheet tests-sheet"),
            page_steps(LINKS, url, len(tests), PAGE_SIZE, label="Pages of tests"),
        ]
    )


def _build_headings(url: TestUrl) -> list[Any]:
    figures = [_sort_heading(url, *heading) for heading in _SORTED_HEADINGS]
    findings = _sort_heading(url, SortBy.SEVERITY, "Findings", "The worst first")
    tick = html.Th(html.Span("Select", className="only-heard"), scope="col", className="tick-cell")
    return [tick, "Test", *figures, ("Text", "Prompt of the test"), findings]


def _sort_heading(url: TestUrl, sort: SortBy, text: str, hint: str) -> Component:
    """Build a heading that sorts: ascending, then descending, then as in the file."""
    is_sorted = url.sort == sort
    if not is_sorted:
        search = url.change(sort=sort, descending=False).search
    elif url.descending:
        search = url.change(sort="", descending=False).search
    else:
        search = url.change(descending=True).search
    arrow = (
        (" \N{DOWNWARDS ARROW}" if url.descending else " \N{UPWARDS ARROW}") if is_sorted else ""
    )
    order = ("descending" if url.descending else "ascending") if is_sorted else "none"
    link = LINKS.link(f"{text}{arrow}", search, className="sort-link")
    return html.Th(link, scope="col", title=hint, **aria(sort=order))


def _test_row(test: Test, known: KnownTests, url: TestUrl) -> Component:
    is_open = test.test_id == url.test
    search = url.change(test="" if is_open else test.test_id).search
    text = " ".join((test.text or " | ".join(test.texts or ())).split())
    item = known.items.get(test.test_id)
    return row(
        html.Th(_tick(test.test_id, url), className="tick-cell"),
        html.Td(_name(test, LINKS.link(test.test_id, search, className="strip-name"))),
        str(test.level),
        _mean(test.test_id, item),
        _figure(None if item is None else item.discrimination),
        _flakiness(item),
        quiet(text[:140], "test-asks"),
        _list_findings(known.findings.get(test.test_id, ())),
        is_open=is_open,
        class_name="" if test.enabled else "is-off",
    )


def _tick(test_id: str, url: TestUrl) -> Component:
    is_ticked = test_id in url.ticked
    return LINKS.link(
        "",
        url.toggle("ticked", test_id).search,
        label=f"Tick {test_id}",
        className="tick is-ticked" if is_ticked else "tick",
        role="checkbox",
        **aria(checked="true" if is_ticked else "false"),
    )


def _name(test: Test, link: Component) -> list[Any]:
    labels = [*test.tags, *(() if test.enabled else ("disabled",))]
    return [link, *(html.Span(label, className="test-label") for label in labels)]


def _mean(test_id: str, item: Item | None) -> Component:
    """Show the mean score, with a link to the answers of the models side by side."""
    if item is None:
        return quiet(_UNKNOWN)
    link = dcc.Link(
        f"n={item.n_llms}",
        href=compare_link((), test=test_id),
        className="figure-n",
        title="Compare the answers of the models",
    )
    return html.Td([score_badge(item.mean_score), " ", link], className="number")


def _figure(estimate: Estimate | None) -> Component:
    if estimate is None:
        return quiet(_UNKNOWN)
    return number(f"{estimate.value:+.2f}", n=estimate.n)


def _flakiness(item: Item | None) -> Component:
    if item is None or item.flip_rate is None:
        return quiet(_UNKNOWN)
    return number(f"{item.flip_rate:.0%}", n=item.n_repeated)


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


def _problems(problems: Sequence[Problem], of: str) -> Component | None:
    """Describe what is wrong with the class of a row, without its name."""
    texts = [message_about(problem, of) for problem in problems]
    if not texts:
        return None
    return html.Ul([html.Li(set_code(text[:200])) for text in texts], className="problem-list")
