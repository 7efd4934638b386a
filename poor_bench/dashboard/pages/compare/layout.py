"""Layout of the page: ids, state of the address, cards and filters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

from dash import dcc, html
from dash.development.base_component import Component

from poor_bench.comparison.result_set import ComparedSubject
from poor_bench.dashboard.components.blocks import (
    aria,
    card,
    loading_state,
    page_head,
)
from poor_bench.dashboard.components.controls import (
    StayLinks,
    chip_row,
    file_buttons,
    search_box,
    single_choice,
)
from poor_bench.dashboard.components.tables import still_place
from poor_bench.dashboard.page import build_wait_clock
from poor_bench.dashboard.result_panel.rating_bar import build_rating_bar
from poor_bench.dashboard.services.compare_service import Likeness
from poor_bench.dashboard.url_state import ListUrl, query_field
from poor_bench.results.grid import Facet, Show
from poor_bench.results.grid_lines import GridSort, has_models, read_order


class CompareIds(StrEnum):
    """What callbacks of the page refer to."""

    SEARCH = "compare-search-store"
    RATED = "compare-rated-store"
    """The answer that the open test lets people rate, as `RatingIds.TARGET`."""
    NOTE = "compare-note-text"
    ADD = "compare-add-select"
    SUBJECTS = "compare-subjects-body"
    TEXT = "compare-text-input"
    STRIP = "compare-strip-body"
    CLASSES = "compare-classes-body"
    HEAD = "compare-head-store"
    """Query of `CompareUrl.head`; `assets/compare.js` changes it."""
    CLASS_HEAD = "compare-class-head-store"
    """Query of `CompareUrl.class_head`; it follows once the tests are drawn."""
    CHARTS = "compare-charts-body"
    CHIPS = "compare-chips-body"
    TESTS = "compare-tests-body"
    PANEL = "compare-details-panel"
    DETAILS = "compare-details-body"
    WAIT = "compare-wait-interval"
    STRIP_CSV = "compare-strip-csv-button"
    CLASSES_CSV = "compare-classes-csv-button"
    TESTS_CSV = "compare-tests-csv-button"
    DOWNLOAD = "compare-file-download"


DEFAULT_LLMS = 3
_SOME_PAGE, _SOME_TEST = 2, "-"
"""Stand for any page of the list and any open test in `CompareUrl.head`: a link that leaves them
differs from it, so that `assets/stay.js` drops them from the address."""
FACET_FIELDS = {
    Facet.CLASS: "classes",
    Facet.LEVEL: "levels",
    Facet.CAUSE: "causes",
    Facet.LATENCY: "latencies",
    Facet.CHANGE: "changes",
}
"""Field of `CompareUrl` that holds the chosen values of a facet with a chart."""


@dataclass(frozen=True, kw_only=True)
class CompareUrl(ListUrl):
    """The state of the page."""

    STAYS_ON_PAGE = frozenset(
        {"test", "left", "right", "prompts_of", "apart", "whole", "rated", "class_page"}
    )

    llm_ids: tuple[str, ...] = query_field("llm", ())
    """Compared subjects, as `ComparedSubject.parse` reads them; none means the best models."""
    base: str = ""
    """What the others are compared with; empty means the first."""
    show: Show = Show.ALL
    levels: tuple[int, ...] = query_field("level", (), kind=int)
    causes: tuple[str, ...] = query_field("cause", ())
    latencies: tuple[str, ...] = query_field("latency", ())
    changes: tuple[str, ...] = query_field("change", ())
    order: str = GridSort.FILE.value
    """As `read_order` reads it."""
    order_of: str = query_field("order-of")
    """Subject whose figures sort the tests; empty for all."""
    alike: bool = False
    """True for the tests only that all subjects of the base's model were asked alike."""
    left: str = ""
    """LLM on the left of the difference of answers; empty means the base."""
    right: str = ""
    """LLM on the right of the difference of answers; empty means the first other one."""
    prompts_of: str = query_field("prompts")
    """Model whose prompt versions can be added; may be empty."""
    apart: bool = False
    """True if answers side by side scroll each for itself."""
    whole: bool = False
    """True if answers side by side are shown in full height."""

    class_page: int = query_field("columns", 1)
    """Which of the scores by class are shown, where the classes are many."""
    rated: str = ""
    """Model whose answer the rating bar is about; empty for none."""

    @property
    def chosen(self) -> dict[Facet, tuple[str, ...]]:
        """The values of each facet that are let through; empty for all."""
        charts = {
            facet: tuple(map(str, getattr(self, field))) for facet, field in FACET_FIELDS.items()
        }
        return {Facet.SHOW: (self.show.value,), **charts}

    @property
    def head(self) -> CompareUrl:
        """The part of the state that all above the scores by class depends on."""
        return CompareUrl(
            llm_ids=self.llm_ids,
            base=self.base,
            alike=self.alike,
            left=self.left,
            right=self.right,
            prompts_of=self.prompts_of,
            tables=self.tables,
            class_page=self.class_page,
            page=_SOME_PAGE,
            test=_SOME_TEST,
        )

    @property
    def class_head(self) -> CompareUrl:
        """The part of the state that the scores by class depend on."""
        return replace(self.head, classes=self.classes)

    def with_llm_ids(self, find_id: Callable[[str], str]) -> Self:
        """Copy the state with the ids of the models that its subjects name."""

        def find(name: str) -> str:
            subject = ComparedSubject.parse(name)
            return subject.of_llm(find_id(subject.llm_id)).text if name else ""

        return replace(
            self,
            llm_ids=tuple(map(find, self.llm_ids)),
            base=find(self.base),
            left=find(self.left),
            right=find(self.right),
            order_of=find(self.order_of),
            rated=find(self.rated),
        )

    def add(self, names: Sequence[str], columns: Sequence[str]) -> Self:
        """Copy the state with more subjects; what is compared now stays."""
        chosen = tuple(dict.fromkeys((*columns, *names)))
        return self.change(llm_ids=chosen, base=self.base or next(iter(columns), ""))

    def remove(self, name: str, columns: Sequence[str]) -> Self:
        """Copy the state without a subject."""
        others = tuple(each for each in columns if each != name)
        return self.change(llm_ids=others, base="" if self.base == name else self.base)

    def columns(self, best_first: Sequence[str]) -> tuple[str, ...]:
        """List the subjects to compare, the base first.

        Args:
            best_first: All LLMs that have results.
        """
        known = [name for name in self.llm_ids if ComparedSubject.parse(name).llm_id in best_first]
        chosen = list(dict.fromkeys(known)) or list(best_first[:DEFAULT_LLMS])
        base = self.base if self.base in chosen else next(iter(chosen), "")
        return tuple(sorted(chosen, key=lambda llm_id: llm_id != base))


LINKS = StayLinks(CompareIds.SEARCH)
_SHOW = {
    Show.ALL: "All",
    Show.DIFFERENCES: "Differences",
    Show.REGRESSIONS: "Regressions",
    Show.IMPROVEMENTS: "Improvements",
    Show.TIES: "Ties",
    Show.UNSTABLE: "Unstable",
    Show.FORMAT: "Wrong format",
    Show.FAILED: "Failed to run",
}
_SORTS = {
    GridSort.FILE: "File order",
    GridSort.TEST: "Test",
    GridSort.CLASS: "Class",
    GridSort.LEVEL: "Level",
    GridSort.SCORE: "Score",
    GridSort.DIFFERENCE: "Difference",
    GridSort.SPREAD: "Spread",
    GridSort.LATENCY: "Latency",
    GridSort.FAILED: "Failed",
}


OVERALL_TITLE = "Overall"
OVERALL_NOTE = "Common tests; significance corrected for all pairs."


def layout(url: CompareUrl) -> Component:
    """Build the page without data, its controls set as the address says."""
    return html.Div(
        [
            page_head("Compare", html.Span(id=CompareIds.NOTE)),
            html.Div(
                [
                    single_choice(CompareIds.ADD, "Model or run", placeholder="Add"),
                    html.Div(id=CompareIds.SUBJECTS, className="chip-rows"),
                ],
                className="filter-bar is-wide",
            ),
            card(
                OVERALL_TITLE,
                html.Div(loading_state(3, has_columns=True), id=CompareIds.STRIP),
                note=OVERALL_NOTE,
                tools=file_buttons(CompareIds.STRIP_CSV),
            ),
            card(
                "Score by class",
                html.Div(loading_state(3, has_columns=True), id=CompareIds.CLASSES),
                note="Bold: significant, not corrected.",
                tools=file_buttons(CompareIds.CLASSES_CSV),
                class_name="if-filled",
            ),
            _tests_card(url),
            dcc.Store(id=CompareIds.SEARCH, data=url.search),
            dcc.Store(id=CompareIds.RATED),
            dcc.Store(id=CompareIds.HEAD, data=url.head.search),
            dcc.Store(id=CompareIds.CLASS_HEAD, data=url.class_head.search),
            build_wait_clock(CompareIds.WAIT),
            dcc.Download(id=CompareIds.DOWNLOAD),
        ],
        className="page-body",
    )


def _tests_card(url: CompareUrl) -> Component:
    words = search_box(
        CompareIds.TEXT,
        "Words, /regex/, score>0.5, cause:name",
        "Words, /regex/, score>0.5, cause:name",
        url.text,
    )
    return html.Div(
        [
            card(
                "By test",
                html.Div(id=CompareIds.CHARTS),
                html.Div(id=CompareIds.CHIPS, className="chip-rows"),
                html.Div(loading_state(6, has_columns=True), id=CompareIds.TESTS),
                tools=[words, file_buttons(CompareIds.TESTS_CSV)],
                class_name="if-filled",
            ),
            html.Aside(
                [
                    html.Div(still_place(CompareIds.DETAILS), className="compare-details"),
                    build_rating_bar(),
                ],
                id=CompareIds.PANEL,
                className="details",
                **aria(label="Test"),
            ),
        ],
        className="results-and-details",
    )


def filter_chips(counts: Mapping[str, int], url: CompareUrl) -> list[Component]:
    """Build the switches above the tests.

    Args:
        counts: How many tests each kind shows under the other filters.
        url: State of the page.
    """
    show = [
        LINKS.chip(
            text,
            url.change(show=kind).search,
            is_active=url.show is kind,
            count=counts[kind],
        )
        for kind, text in _SHOW.items()
        if counts[kind] or kind is url.show
    ]
    return [chip_row("Show", show)]


def sort_chips(columns: Sequence[str], name_of: Callable[[str], str], url: CompareUrl) -> Component:
    """Build the columns that sort the tests, and the models whose figures they are.

    A second click turns the order round.
    """
    chosen, is_descending = read_order(url.order)
    chips = []
    for sort, text in _SORTS.items():
        is_active = sort is chosen
        turned = f"-{sort.value}" if is_active and not is_descending else sort.value
        order = sort.value if sort is GridSort.FILE else turned
        arrow = (" ▼" if is_descending else " ▲") if is_active and sort is not GridSort.FILE else ""
        of = url.order_of if has_models(sort) else ""
        search = url.change(order=order, order_of=of).search
        chips.append(LINKS.chip(f"{text}{arrow}", search, is_active=is_active))
    rows = [chip_row("Sort by", chips)]
    if has_models(chosen):
        rows.append(chip_row("Figures of", list(_of_chips(columns, name_of, url))))
    return html.Div(rows, className="chip-rows")


def _of_chips(
    columns: Sequence[str], name_of: Callable[[str], str], url: CompareUrl
) -> Iterator[Component]:
    for name in ("", *columns):
        search = url.change(order_of=name).search
        text = name_of(name) if name else "All"
        yield LINKS.chip(text, search, is_active=url.order_of == name)


def alike_chips(likeness: Likeness | None, url: CompareUrl) -> Component | None:
    """Build the switch to tests that were asked alike; None where nothing can differ."""
    if likeness is None:
        return None
    n_all = likeness.n_alike + likeness.n_different + likeness.n_unknown
    chips = [
        LINKS.chip("All", url.change(alike=False).search, is_active=not url.alike,
                   count=n_all),
        LINKS.chip("Same", url.change(alike=True).search, is_active=url.alike,
                   count=likeness.n_alike),
    ]  # fmt: skip
    told = f"{likeness.n_different:,} asked differently, {likeness.n_unknown:,} not known"
    return html.Div([chip_row("Request", chips), html.P(told, className="quiet")])
