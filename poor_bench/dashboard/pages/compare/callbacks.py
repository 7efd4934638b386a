"""Handlers of the page, its tables as files, and its first paint."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dash import Dash, Input, Output, State, html, no_update
from dash.development.base_component import Component

from poor_bench.comparison.result_set import ComparedSubject, SubjectKind
from poor_bench.dashboard.components.blocks import card, empty_state, no_results, page_head
from poor_bench.dashboard.components.controls import build_options
from poor_bench.dashboard.components.sheets import head_limits
from poor_bench.dashboard.components.tables import still, trees
from poor_bench.dashboard.page import (
    bind_address,
    bind_computed_view,
    bind_controls,
    bind_script,
    bind_view,
    on_data,
)
from poor_bench.dashboard.pages.compare.layout import (
    OVERALL_NOTE,
    OVERALL_TITLE,
    CompareUrl,
)
from poor_bench.dashboard.pages.compare.layout import CompareIds as Ids
from poor_bench.dashboard.pages.compare.strip import define_strip, strip
from poor_bench.dashboard.pages.compare.view import open_view
from poor_bench.dashboard.result_panel.rating_bar import RatingIds
from poor_bench.dashboard.services.computations import wait_for_value
from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.table_files import TableFile, bind_files, table_file
from poor_bench.errors import ConfigError
from poor_bench.messages import write_count


def show_strip(services: Services, search: str | None) -> tuple[Any, Any, bool]:
    """Build a line about the comparison, the LLMs, and whether all is computed."""
    view = open_view(services, search)
    if not view.columns:
        return "", no_results(), True
    answer = view.comparison()
    lines = view.strip_lines(answer.value)
    kinds = {ComparedSubject.parse(name).kind for name in view.columns}
    count = write_count(len(view.columns), "model" if kinds == {SubjectKind.MODEL} else "subject")
    note = f"{count}, baseline: {lines[0].name}"
    if lacking := [name for name in view.url.llm_ids if name not in view.columns]:
        note += f". No results: {', '.join(map(view.name, lacking))}"
    has_changes = services.compare.changes(view.columns).is_current
    table = strip(lines, view.url, is_ready=answer.value is not None)
    return note, table, answer.is_current and has_changes


def show_subjects(services: Services, search: str | None) -> Any:
    """Build the chosen subjects and quick picks."""
    view = open_view(services, search)
    return view.subjects() if view.columns else None


_OFFERED_RUNS = 5


def subject_options(services: Services) -> list[dict[str, str]]:
    """List the models with results and then their newest runs, to be added."""
    llm_ids, name_of = services.compare.best_first(), services.llms.name
    runs = (
        ComparedSubject(llm_id=llm_id, kind=SubjectKind.RUN, version=run.run_id)
        for llm_id in llm_ids
        for run in services.compare.subjects.runs(llm_id)[:_OFFERED_RUNS]
    )
    subjects = (*(ComparedSubject(llm_id=llm_id) for llm_id in llm_ids), *runs)
    return build_options((each.text, each.label(name_of(each.llm_id))) for each in subjects)


def show_classes(services: Services, search: str | None) -> Any:
    """Build the scores by class."""
    view = open_view(services, search)
    return view.classes() if view.columns else None


def show_tests(services: Services, search: str | None) -> tuple[Any, Any, Any]:
    """Build the charts, the switches, and a page of the tests."""
    view = open_view(services, search)
    if not view.columns:
        return None, None, None
    try:
        return *view.filters(), view.tests()
    except ConfigError as error:
        return None, None, empty_state("Invalid filter", f"{error}. {error.hint}")


def show_panel(services: Services, search: str | None) -> tuple[Any, list[Any] | None]:
    """Build the panel of the open test, and find its answer to be rated; None without one."""
    view = open_view(services, search)
    try:
        return view.panel() if view.columns and view.url.test else (None, None)
    except ConfigError:
        return None, None  # the list says what is wrong


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    _register_state(app, services)
    _register_parts(app, services)
    _register_files(app, services)


def _register_state(app: Dash, services: Services) -> None:
    @on_data(app, Output(Ids.ADD, "data"))
    def _options() -> Any:
        return subject_options(services)

    @app.callback(
        Output(Ids.SEARCH, "data", allow_duplicate=True),
        Output(Ids.ADD, "value"),
        Input(Ids.ADD, "value"),
        State(Ids.SEARCH, "data"),
        prevent_initial_call=True,
    )
    def _add(name: str | None, search: str) -> Any:
        if not name:
            return no_update, no_update
        view = open_view(services, search)
        return view.url.add([name], view.columns).search, None

    bind_controls(app, Ids.SEARCH, CompareUrl, text=Ids.TEXT)
    bind_address(app, Ids.SEARCH)


def _register_parts(app: Dash, services: Services) -> None:
    _register_head(app, services)

    @on_data(
        app,
        *(Output(part, "children") for part in (Ids.CHARTS, Ids.CHIPS, Ids.TESTS)),
        Output(Ids.DETAILS, "trees"),  # what was opened in it stays open when news come
        Output(Ids.DETAILS, "search"),
        Output(Ids.RATED, "data"),
        Input(Ids.SEARCH, "data"),
        State(Ids.RATED, "data"),
    )
    def _draw_tests(search: str, known: list[Any] | None) -> Any:
        """Answer one request with the list and the panel: each request of a click delays both."""
        panel, rated = show_panel(services, search)
        parts = (still(part, search=search) for part in show_tests(services, search))
        kept = no_update if rated == known else rated
        return *parts, trees(panel or []), search, kept

    # By a store of this page: page Model has the bar, too, and not what this page shows.
    bind_script(
        app,
        "rating",
        "follow",
        Output(RatingIds.TARGET, "data", allow_duplicate=True),
        Input(Ids.RATED, "data"),
        prevent_initial_call=True,
    )


def _register_head(app: Dash, services: Services) -> None:
    """Draw what stands above the tests only when it changes: it is the most of the page."""
    search = Ids.SEARCH, "data"
    # The tests come first where a chart is clicked: their classes only mark the scores by class.
    drawn = Input(Ids.TESTS, "children"), State(*search)
    for head, keep, asked in (
        (Ids.HEAD, "keep_head", (Input(*search),)),
        (Ids.CLASS_HEAD, "keep_class_head", drawn),
    ):
        state = State(head, "data")
        output = Output(head, "data")
        bind_script(app, "compare", keep, output, *asked, state, prevent_initial_call=True)
    drawn_strip = partial(show_strip, services)
    bind_computed_view(app, Ids.HEAD, (Ids.NOTE, Ids.STRIP), Ids.WAIT, drawn_strip)
    for head, part, show in (
        (Ids.HEAD, Ids.SUBJECTS, show_subjects),
        (Ids.CLASS_HEAD, Ids.CLASSES, show_classes),
    ):
        bind_view(app, head, (part,), partial(_draw_part, services, show))


def _draw_part(services: Services, show: Callable[[Services, str], Any], search: str) -> tuple[Any]:
    return (still(show(services, search), search=search),)


def _register_files(app: Dash, services: Services) -> None:
    files = {Ids.STRIP_CSV: strip_csv, Ids.CLASSES_CSV: classes_csv, Ids.TESTS_CSV: tests_csv}
    bind_files(app, services, Ids.DOWNLOAD, files, State(Ids.SEARCH, "data"))


def sketch(services: Services, url: CompareUrl) -> Component | None:
    """Build head and overall comparison of the page; None without results."""
    note, table, _ = show_strip(services, url.search)
    if not note:
        return None
    parts = [
        page_head("Compare", note),
        html.Div(
            [
                html.Div(className="single-choice first-paint-controls"),
                html.Div(show_subjects(services, url.search), className="chip-rows"),
            ],
            className="filter-bar is-wide",
        ),
        card(OVERALL_TITLE, table, note=OVERALL_NOTE),
    ]
    return html.Div(parts, className="page-body")


_CLASS_COLUMNS = (
    ("class_id", "Class"), ("llm_id", "Subject"), ("model", "Model"), ("score", "Score"),
    ("n", "Tests"), ("difference", "Difference"),
    *zip(("low", "high"), head_limits("Difference"), strict=True), ("common", "Common tests"),
)  # fmt: skip


def strip_csv(services: Services, search: str | None) -> TableFile | None:
    """Write the comparison of the models as a file, once all of it is computed."""
    view = open_view(services, search)
    if not view.columns:
        return None
    wait_for_value(lambda: services.compare.changes(view.columns))
    lines = view.strip_lines(wait_for_value(view.comparison))
    return define_strip().file("comparison", lines, view.url)


def classes_csv(services: Services, search: str | None) -> TableFile | None:
    """Write the scores by class as a file."""
    view = open_view(services, search)
    if not view.columns:
        return None
    return table_file("compared_classes", view.class_rows(), _CLASS_COLUMNS)


def tests_csv(services: Services, search: str | None) -> TableFile | None:
    """Write all tests that the filters find, with scores and answers, as a file."""
    view = open_view(services, search)
    if not view.columns:
        return None
    return view.define_tests().join_file("compared_tests", view.all_tests(), view.url)
