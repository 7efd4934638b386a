"""Layout of the page: ids, state of the address, cards."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from dash import dcc, html

from poor_bench.dashboard.components.blocks import aria, card, loading_state, page_head
from poor_bench.dashboard.components.controls import StayLinks, file_buttons, search_box
from poor_bench.dashboard.url_state import ListUrl, query_field

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from dash.development.base_component import Component

    from poor_bench.models.test import Test


class TestsIds(StrEnum):
    """What callbacks of the page refer to."""

    SEARCH = "tests-search-store"
    NOTE = "tests-note-text"
    TEXT = "tests-text-input"
    CLASSES = "tests-classes-body"
    PICTURE = "tests-picture-body"
    PICTURE_GRAPH = "tests-picture-graph"
    CHIPS = "tests-chips-body"
    LISTED = "tests-listed-body"
    DETAILS = "tests-details-panel"
    WAIT = "tests-wait-interval"
    CSV = "tests-csv-button"
    CLASSES_CSV = "tests-classes-csv-button"
    DOWNLOAD = "tests-file-download"


class FormIds(StrEnum):
    """Types of the ids of the form, which is there only while a test is open."""

    TEXT = "tests-form-text-input"
    LEVEL = "tests-form-level-input"
    REFERENCE = "tests-form-reference-input"
    PARAMETERS = "tests-form-parameters-input"
    SAVE = "tests-form-save-button"
    TEMPLATE = "tests-form-template-input"
    SAVE_TEMPLATE = "tests-form-template-button"
    RESULT = "tests-form-result-body"
    FACTS = "tests-form-facts-body"


def form_id(kind: FormIds, test_id: str) -> dict[str, str]:
    """Return the id of a part of the form of a test."""
    return {"type": kind, "index": test_id}


@dataclass(frozen=True, kw_only=True)
class TestUrl(ListUrl):
    """The state of the page."""

    only_suspicious: bool = query_field("suspicious", False)


def chosen_tests(tests: Iterable[Test], url: TestUrl, suspicious: Collection[str]) -> list[Test]:
    """Return the tests that the filters find, in their order.

    Args:
        tests: All tests.
        url: The filters.
        suspicious: Ids of the tests with something against them.
    """
    words = url.text.casefold()
    return [
        test
        for test in tests
        if (not url.classes or test.class_id in url.classes)
        and (not url.only_suspicious or test.test_id in suspicious)
        and (not words or words in _build_searched_text(test))
    ]


def _build_searched_text(test: Test) -> str:
    parts = (test.test_id, test.text or "", *(test.texts or ()), *test.tags)
    return "\n".join(parts).casefold()


WAIT_MS = 500
LINKS = StayLinks(TestsIds.SEARCH)


def layout(url: TestUrl) -> Component:
    """Return the page without data, its filters set as the address says."""
    words = search_box(TestsIds.TEXT, "Search in ids and texts", "Search ids and texts", url.text)
    return html.Div(
        [
            page_head("Tests", html.Span(id=TestsIds.NOTE)),
            card(
                "Classes",
                html.Div(loading_state(3), id=TestsIds.CLASSES),
                note="Choose a class to filter the tests. Difficulty is 1 minus the mean score.",
                tools=file_buttons(TestsIds.CLASSES_CSV, "the classes"),
            ),
            html.Div(id=TestsIds.PICTURE),
            html.Div(
                [
                    card(
                        "Tests",
                        html.Div(id=TestsIds.CHIPS, className="chip-rows"),
                        html.Div(loading_state(6), id=TestsIds.LISTED),
                        note="Choose a test to read its prompt or edit it.",
                        tools=[words, file_buttons(TestsIds.CSV, "these tests")],
                    ),
                    html.Aside(id=TestsIds.DETAILS, className="details", **aria(label="Test")),
                ],
                className="results-and-details",
            ),
            dcc.Store(id=TestsIds.SEARCH, data=url.search),
            dcc.Interval(id=TestsIds.WAIT, interval=WAIT_MS, disabled=True),
            dcc.Download(id=TestsIds.DOWNLOAD),
        ],
        className="page-body",
    )


def parts() -> list[Component]:
    """Return one of each component that callbacks put into the page."""
    return [dcc.Graph(id=TestsIds.PICTURE_GRAPH)]
