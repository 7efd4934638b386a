"""Layout of the page: ids, state of the address, cards."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import dash_mantine_components as dmc
from dash import dcc, html
from dash.development.base_component import Component

from poor_bench.dashboard.components.blocks import (
    MAY_BE_LATE,
    aria,
    card,
    computing,
    data,
    late_button,
    loading_state,
    page_head,
)
from poor_bench.dashboard.components.controls import (
    StayLinks,
    file_buttons,
    range_boxes,
    search_box,
)
from poor_bench.dashboard.page import build_wait_clock
from poor_bench.dashboard.url_state import ListUrl, query_field
from poor_bench.dashboard.url_values import Signed
from poor_bench.issues.detector import IssueSeverity


class TestsIds(StrEnum):
    """What callbacks of the page refer to."""

    SEARCH = "tests-search-store"
    NOTE = "tests-note-text"
    TEXT = "tests-text-input"
    CLASSES = "tests-classes-body"
    PICTURE = "tests-picture-body"
    PICTURED = "tests-pictured-store"
    """The version of the results that the picture shows."""
    PICTURE_GRAPH = "tests-picture-graph"
    MIN_MEAN = "tests-min-mean-input"
    MAX_MEAN = "tests-max-mean-input"
    MIN_DISCRIMINATION = "tests-min-discrimination-input"
    MAX_DISCRIMINATION = "tests-max-discrimination-input"
    MIN_FLAKINESS = "tests-min-flakiness-input"
    MAX_FLAKINESS = "tests-max-flakiness-input"
    CHIPS = "tests-chips-body"
    GROUPS = "tests-groups-body"
    SCOPE = "tests-scope-text"
    ACTION = "tests-action-select"
    TAG = "tests-tag-input"
    APPLY = "tests-apply-button"
    UNDO = "tests-undo-button"
    EDITED = "tests-edited-text"
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
    """Make the id of a part of the form of a test."""
    return {"type": kind, "index": test_id}


class SortBy(StrEnum):
    """Figures that sort the tests."""

    LEVEL = "level"
    MEAN = "mean"
    DISCRIMINATION = "discrimination"
    FLAKINESS = "flakiness"
    SEVERITY = "severity"
    """The worst finding first."""
    KIND = "kind"
    """By the title of the worst finding."""


class TestState(StrEnum):
    """Which tests runs ask."""

    ENABLED = "enabled"
    DISABLED = "disabled"


@dataclass(frozen=True, kw_only=True)
class TestUrl(ListUrl):
    """The state of the page."""

    STAYS_ON_PAGE = frozenset({"test", "ticked"})
    levels: tuple[int, ...] = query_field("level", (), kind=int)
    kind: str = ""
    """Kind of finding; see `TestFinding`."""
    severity: str = query_field("severity", kind=IssueSeverity)
    state: str = query_field("state", kind=TestState)
    below_zero: bool = query_field("below-zero", False)
    """Only tests whose discrimination is below 0."""
    min_mean: float | None = query_field("min-mean", None, kind=float)
    max_mean: float | None = query_field("max-mean", None, kind=float)
    min_discrimination: float | None = query_field("min-discrimination", None, kind=Signed)
    max_discrimination: float | None = query_field("max-discrimination", None, kind=Signed)
    min_flakiness: float | None = query_field("min-flakiness", None, kind=float)
    """In percent, as the next one."""
    max_flakiness: float | None = query_field("max-flakiness", None, kind=float)
    sort: str = query_field("sort", kind=SortBy)
    descending: bool = False
    ticked: tuple[str, ...] = query_field("tick", (), is_packed=True)
    """Tests that bulk edits change; empty for all that the filters find."""


LINKS = StayLinks(TestsIds.SEARCH)


def layout(url: TestUrl) -> Component:
    """Build the page without data, its filters set as the address says."""
    words = search_box(TestsIds.TEXT, "Search", "Search", url.text)
    return html.Div(
        [
            page_head("Tests", html.Span(id=TestsIds.NOTE)),
            *_build_first_cards(
                html.Div(loading_state(3, has_columns=True), id=TestsIds.CLASSES),
                html.Div(loading_state(4), id=TestsIds.GROUPS, className=MAY_BE_LATE),
                tools=file_buttons(TestsIds.CLASSES_CSV),
            ),
            card(
                "Discrimination",
                html.Div(
                    computing(),
                    id=TestsIds.PICTURE,
                    className=MAY_BE_LATE,
                    **data(discards=""),
                ),
                tools=late_button(),
            ),
            html.Div(
                [
                    card(
                        "Tests",
                        html.Div(id=TestsIds.CHIPS, className="chip-rows"),
                        _ranges(url),
                        _bulk_bar(),
                        html.Div(loading_state(6, has_columns=True), id=TestsIds.LISTED),
                        tools=[words, file_buttons(TestsIds.CSV)],
                    ),
                    html.Aside(id=TestsIds.DETAILS, className="details", **aria(label="Test")),
                ],
                className="results-and-details",
            ),
            dcc.Store(id=TestsIds.SEARCH, data=url.search),
            dcc.Store(id=TestsIds.PICTURED),
            build_wait_clock(TestsIds.WAIT),
            dcc.Download(id=TestsIds.DOWNLOAD),
        ],
        className="page-body",
    )


def sketch_page(note: str, classes: Component, findings: Component) -> Component:
    """Build plain elements of what the page shows first."""
    controls = html.Span(className="first-paint-controls")
    cards = _build_first_cards(classes, findings, tools=controls)
    return html.Div([page_head("Tests", note), *cards], className="page-body")


def _build_first_cards(
    classes: Component, findings: Component, *, tools: Component
) -> tuple[Component, Component]:
    return (
        card("Classes", classes, note="Difficulty: 1 minus mean score.", tools=tools),
        card("Findings", findings, tools=late_button()),
    )


def _ranges(url: TestUrl) -> Component:
    """Build the boxes for the limits of the figures."""
    return html.Div(
        [
            range_boxes(
                "Mean score",
                (TestsIds.MIN_MEAN, url.min_mean),
                (TestsIds.MAX_MEAN, url.max_mean),
                most=1,
            ),
            range_boxes(
                "Discrimination",
                (TestsIds.MIN_DISCRIMINATION, url.min_discrimination),
                (TestsIds.MAX_DISCRIMINATION, url.max_discrimination),
                least=-1,
                most=1,
            ),
            range_boxes(
                "Flakiness (%)",
                (TestsIds.MIN_FLAKINESS, url.min_flakiness),
                (TestsIds.MAX_FLAKINESS, url.max_flakiness),
                most=100,
            ),
        ],
        className="range-row",
    )


def _bulk_bar() -> Component:
    """Build the controls that change many tests in one step."""
    action = dmc.Select(
        id=TestsIds.ACTION,
        placeholder="Change tests",
        searchable=True,
        clearable=True,
        size="xs",
        className="bulk-action",
        **aria(label="Change tests"),
    )
    tag = dmc.TextInput(
        id=TestsIds.TAG, placeholder="Tag", size="xs", className="bulk-tag", **aria(label="Tag")
    )
    return html.Div(
        [
            html.Span(id=TestsIds.SCOPE, className="bulk-scope"),
            action,
            tag,
            dmc.Button("Apply", id=TestsIds.APPLY, size="compact-sm", n_clicks=0),
            dmc.Button("Undo", id=TestsIds.UNDO, size="compact-sm", variant="default", n_clicks=0),
            html.Div(id=TestsIds.EDITED, className="bulk-edited", role="status"),
        ],
        className="bulk-bar",
        role="group",
        **aria(label="Change tests"),
    )


def parts() -> list[Component]:
    """Build one of each component that callbacks put into the page."""
    return [dcc.Graph(id=TestsIds.PICTURE_GRAPH)]
