"""Classes and tests as tables."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.components.badges import score_badge
from poor_bench.dashboard.components.blocks import empty_state, set_code
from poor_bench.dashboard.components.controls import class_link, page_steps
from poor_bench.dashboard.components.tables import quiet, row, sheet
from poor_bench.dashboard.pages.tests.layout import LINKS, TestUrl
from poor_bench.statistics.items import LevelOrder, LevelVerdict

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


def build_test_table(
    tests: Sequence[Test],
    items: Mapping[str, Item],
    faults: FoundFaults | None,
    url: TestUrl,
) -> Component:
    """Build one page of the tests.

    Args:
        tests: All tests that the filters find.
        items: Test id to what the results say.
        faults: Problems; None while they are looked for.
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
    return html.Div(
        [
            sheet(_TEST_HEADINGS, rows, label="Table of tests"),
            page_steps(LINKS, url, len(tests), PAGE_SIZE, label="Pages of tests"),
        ]
    )


def _test_row(
    test: Test, item: Item | None, problems: Sequence[Problem], url: TestUrl
) -> Component:
    is_open = test.test_id == url.test
    search = url.change(test="" if is_open else test.test_id).search
    text = " ".join((test.text or " | ".join(test.texts or ())).split())
    apart = item.discrimination if item else None
    against = [item.suspicion] if item and item.suspicion else []
    return row(
        LINKS.link(test.test_id, search, className="strip-name"),
        str(test.level),
        score_badge(item.mean_score) if item else "-",
        html.Td("-" if apart is None else f"{apart.value:+.2f}", title=_TEST_HEADINGS[3][1]),
        quiet(text[:140], "test-asks"),
        _problems(problems, test.test_id, against),
        is_open=is_open,
    )


def _problems(
    problems: Sequence[Problem], of: str, further: Sequence[str] = ()
) -> Component | None:
    """Describe what is wrong with the class or test of a row, without its name."""
    texts = [*(message_about(problem, of) for problem in problems), *further]
    if not texts:
        return None
    return html.Ul([html.Li(set_code(text[:200])) for text in texts], className="problem-list")


def message_about(problem: Problem, of: str) -> str:
    """Describe what is wrong with the class or test `of`, without its name."""
    before, _, rest = problem.message.partition(f"`{of}`: ")
    return rest or before
