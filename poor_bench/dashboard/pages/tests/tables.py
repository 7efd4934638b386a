"""Classes and tests as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.components.badges import score_badge
from poor_bench.dashboard.components.blocks import aria, empty_state, ticked_text
from poor_bench.dashboard.pages.tests.layout import LINKS, TestUrl
from poor_bench.statistics.levels import LevelOrder, LevelVerdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dash.development.base_component import Component

    from poor_bench.dashboard.services.test_reports import FoundFaults
    from poor_bench.models.problem import Problem
    from poor_bench.models.test import Test, TestClass
    from poor_bench.statistics.items import Item


PAGE_SIZE = 50
_CLASS_HEADINGS = (
    ("Class", ""),
    ("Tests", ""),
    ("Evaluator", "Module that scores the responses"),
    ("Difficulty by level", "1 minus the mean score of all models, for each declared level"),
    ("Problems", "Found by the checks of tests"),
)
_TEST_HEADINGS = (
    ("Test", ""),
    ("Level", "Declared difficulty"),
    ("Mean score", "Over all models that have a score"),
    (
        "Discrimination",
        "Item-rest correlation over models. Below 0: good models fail here.",
    ),
    ("Text", "What the model is asked"),
    ("Problems", "Found by the checks of tests, and by the results"),
)
_TRENDS = {
    LevelVerdict.FOLLOWS: ("harder with level", "Higher levels are harder, as they should be"),
    LevelVerdict.REVERSED: ("easier with level", "Higher levels are easier: check the levels"),
    LevelVerdict.UNCLEAR: (
        "no clear trend",
        "Too few tests, or the difficulty does not follow the level beyond chance",
    ),
}
"""What is said of the order of the levels of a class, and what it means."""


def listed_classes(
    classes: Mapping[str, TestClass],
    tests: Sequence[Test],
    orders: Mapping[str, LevelOrder] | None,
    faults: FoundFaults | None,
    url: TestUrl,
) -> Component:
    """Return the table of the classes.

    Args:
        classes: By id.
        tests: All tests.
        orders: Class id to whether hardness follows the levels; None while it is computed.
        faults: What is wrong; None while it is looked for.
        url: State of the page.
    """
    rows = [
        html.Tr(
            [
                html.Th(_class_link(class_id, url), scope="row"),
                html.Td(str(sum(test.class_id == class_id for test in tests))),
                html.Td(
                    test_class.evaluator.name if test_class.evaluator else "-", className="quiet"
                ),
                html.Td(_hardness(orders, class_id)),
                html.Td(_problems(faults.by_class.get(class_id, ()) if faults else (), class_id)),
            ]
        )
        for class_id, test_class in classes.items()
    ]
    return _sheet("Table of classes", _CLASS_HEADINGS, rows)


def _class_link(class_id: str, url: TestUrl) -> Component:
    is_chosen = class_id in url.classes
    return LINKS.link(
        class_id,
        url.toggled("classes", class_id).changed(test="").search,
        className="class-link is-active" if is_chosen else "class-link",
        **aria(current="true" if is_chosen else "false"),
    )


def _hardness(orders: Mapping[str, LevelOrder] | None, class_id: str) -> Component:
    if orders is None:
        return html.Span("computing ...", className="quiet")
    order = orders.get(class_id)
    if order is None:
        return html.Span("no results yet", className="quiet")
    trend, meaning = _TRENDS[order.verdict]
    levels = " · ".join(f"{level}: {hard:.2f}" for level, hard in order.difficulty.items())
    return html.Div([html.Span(levels), html.Div(trend, className="quiet", title=meaning)])


def listed_tests(
    tests: Sequence[Test],
    items: Mapping[str, Item],
    faults: FoundFaults | None,
    url: TestUrl,
) -> Component:
    """Return one page of the tests.

    Args:
        tests: All tests that the filters find.
        items: Test id to what the results say.
        faults: What is wrong; None while it is looked for.
        url: State of the page.
    """
    if not tests:
        return empty_state(
            "No tests", "No test matches these filters. Remove a filter to see more."
        )
    start = (url.page - 1) * PAGE_SIZE
    by_test = faults.by_test if faults else {}
    rows = [
        _test_row(test, items.get(test.test_id), by_test.get(test.test_id, ()), url)
        for test in tests[start : start + PAGE_SIZE]
    ]
    return html.Div([_sheet("Table of tests", _TEST_HEADINGS, rows), _steps(url, len(tests))])


def _test_row(
    test: Test, item: Item | None, problems: Sequence[Problem], url: TestUrl
) -> Component:
    is_open = test.test_id == url.test
    search = url.changed(test="" if is_open else test.test_id).search
    text = " ".join((test.text or " | ".join(test.texts or ())).split())
    apart = item.discrimination if item else None
    against = [item.suspicion] if item and item.suspicion else []
    return html.Tr(
        [
            html.Th(LINKS.link(test.test_id, search, className="strip-name"), scope="row"),
            html.Td(str(test.level)),
            html.Td(score_badge(item.mean_score) if item else "-"),
            html.Td(
                "-" if apart is None else f"{apart.value:+.2f}",
                title=_TEST_HEADINGS[3][1],
            ),
            html.Td(text[:140], className="quiet test-asks"),
            html.Td(_problems(problems, test.test_id, against)),
        ],
        className="is-open" if is_open else "",
    )


def _problems(
    problems: Sequence[Problem], of: str, further: Sequence[str] = ()
) -> Component | None:
    """Return what is wrong with the class or test of a row, without its name."""
    texts = [*(message_about(problem, of) for problem in problems), *further]
    if not texts:
        return None
    return html.Ul([html.Li(ticked_text(text[:200])) for text in texts], className="problem-list")


def _steps(url: TestUrl, n_tests: int) -> Component | None:
    n_pages = -(-n_tests // PAGE_SIZE)
    if n_pages <= 1:
        return None
    links = [
        LINKS.link(text, url.changed(page=page).search, className="page-step")
        if 1 <= page <= n_pages
        else html.Span(text, className="page-step is-off", **aria(disabled="true"))
        for text, page in (("Previous", url.page - 1), ("Next", url.page + 1))
    ]
    shown = html.Span(f"page {url.page:,} of {n_pages:,}", className="quiet")
    return html.Nav(
        [links[0], shown, links[1]], className="page-steps", **aria(label="Pages of tests")
    )


def _sheet(label: str, headings: Sequence[tuple[str, str]], rows: Sequence[Component]) -> Component:
    head = html.Tr([html.Th(name, scope="col", title=hint) for name, hint in headings])
    return html.Div(
        html.Table([html.Thead(head), html.Tbody(rows)], className="sheet"),
        className="sheet-frame",
        tabIndex="0",
        role="region",
        **aria(label=label),
    )


def message_about(problem: Problem, of: str) -> str:
    """Return what is wrong with the class or test `of`, without its name."""
    before, _, rest = problem.message.partition(f"`{of}`: ")
    return rest or before
