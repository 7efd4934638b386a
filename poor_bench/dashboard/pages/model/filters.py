"""The filters of the page: the usual ones in a row, the others behind one button."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
from dash import html

from poor_bench.dashboard.components.blocks import aria
from poor_bench.dashboard.components.controls import range_boxes, search_box
from poor_bench.dashboard.pages.model.ids import ModelIds
from poor_bench.results.query import Outcome, RatingFilter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dash.development.base_component import Component

    from poor_bench.dashboard.pages.model.url import ModelUrl


_OUTCOMES = [
    {"value": "", "label": "All"},
    {"value": Outcome.PASSED.value, "label": "Passed"},
    {"value": Outcome.NOT_PASSED.value, "label": "Not passed"},
    {"value": Outcome.FAILED_TO_RUN.value, "label": "Failed to run"},
]
_RATINGS = [
    {"value": RatingFilter.RATED.value, "label": "Rated"},
    {"value": RatingFilter.UNRATED.value, "label": "Not rated"},
    {"value": RatingFilter.DISPUTED.value, "label": "People disagree"},
]
CONTROLS = (
    ModelIds.LLM, ModelIds.CLASSES, ModelIds.LEVELS, ModelIds.THINKS, ModelIds.OUTCOME,
    ModelIds.CAUSES, ModelIds.MIN_SCORE, ModelIds.MAX_SCORE, ModelIds.MIN_S, ModelIds.MAX_S,
    ModelIds.STALE, ModelIds.RATING, ModelIds.TEXT,
)  # fmt: skip
"""Controls whose `value` is part of the query, in the order in which `assets/model.js` reads them.
"""
CLEARED: tuple[Any, ...] = ([], [], [], "", [], "", "", "", "", "", None, "")
"""Values of all but the first of them without any filter."""


def build_filters(url: ModelUrl) -> Component:
    """Build the filters as the address sets them."""
    return html.Div(
        [
            _multi_select(ModelIds.CLASSES, url.classes, "All classes", "Test classes"),
            _multi_select(ModelIds.LEVELS, map(str, url.levels), "All levels", "Levels"),
            dmc.SegmentedControl(
                id=ModelIds.OUTCOME,
                data=_OUTCOMES,
                value=next(iter(url.outcomes), ""),
                size="xs",
                **aria(label="Outcome"),
            ),
            search_box(
                ModelIds.TEXT,
                "Search in test ids, details and responses",
                "Search ids, details, responses",
                url.text,
            ),
            _further(url),
            html.Div(id=ModelIds.ISSUE_CHIP),
            dmc.Button("Clear", id=ModelIds.CLEAR, size="xs", variant="subtle", color="gray"),
        ],
        className="filters",
        role="search",
        **aria(label="Filters"),
    )


def _further(url: ModelUrl) -> Component:
    """Build the button and what it opens; the browser makes the controls when they are opened."""
    target = dmc.Button("More filters", id=ModelIds.MORE, size="xs", variant="default")
    box: Component = dmc.Popover(
        [
            dmc.PopoverTarget(target),
            dmc.PopoverDropdown(
                html.Div(
                    _further_controls(url),
                    className="more-filters",
                    role="group",
                    **aria(label="More filters"),
                )
            ),
        ],
        withRoles=False,  # they would stand on a frame around the button, which has no role
        position="bottom-start",
        withArrow=False,
        shadow="md",
        trapFocus=True,
        returnFocus=True,
        closeOnEscape=True,
    )
    return box


def _further_controls(url: ModelUrl) -> list[Component]:
    return [
        range_boxes(
            "Score",
            (ModelIds.MIN_SCORE, url.min_score),
            (ModelIds.MAX_SCORE, url.max_score),
            most=1,
        ),
        range_boxes("Latency in s", (ModelIds.MIN_S, url.min_s), (ModelIds.MAX_S, url.max_s)),
        _multi_select(ModelIds.CAUSES, url.causes, "Any cause", "Cause of lost score"),
        _multi_select(ModelIds.THINKS, url.thinks, "Any think setting", "Think"),
        dmc.SegmentedControl(
            id=ModelIds.STALE,
            data=[{"value": "", "label": "All scores"}, {"value": "yes", "label": "Stale only"}],
            value="yes" if url.is_stale else "",
            size="xs",
            fullWidth=True,
            **aria(label="Stale scores"),
        ),
        dmc.Select(
            id=ModelIds.RATING,
            value=next(iter(url.ratings), None),
            data=_RATINGS,
            placeholder="Any rating",
            clearable=True,
            size="xs",
            comboboxProps={"withinPortal": False},
            **aria(label="Rating"),
        ),
    ]


def _multi_select(select_id: ModelIds, value: Iterable[str], placeholder: str, label: str) -> Any:
    chosen = list(value)
    return dmc.MultiSelect(
        id=select_id,
        value=chosen,
        data=chosen,
        placeholder=placeholder,
        searchable=True,
        limit=100,
        clearable=True,
        size="xs",
        comboboxProps={"withinPortal": False} if select_id in _IN_POPOVER else None,
        **aria(label=label),
    )


_IN_POPOVER = frozenset({ModelIds.CAUSES, ModelIds.THINKS})
"""Their lists belong to the popover: a click into another portal would close it."""
