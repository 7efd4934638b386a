"""Handlers of the page, and its first paint: ask the services, call the layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component

from poor_bench import metrics
from poor_bench.dashboard.components.blocks import card, no_results, page_head
from poor_bench.dashboard.components.controls import COLUMNS_AT_ONCE, page_steps, test_options
from poor_bench.dashboard.components.grids import (
    choose_columns,
    name_unseen,
    sort_rows,
)
from poor_bench.dashboard.components.tables import number, row, sheet, still
from poor_bench.dashboard.figures.frontier import FrontierPoint
from poor_bench.dashboard.figures.scores import MOST_LINES
from poor_bench.dashboard.page import bind_address, bind_controls, on_data
from poor_bench.dashboard.pages.overview import layout
from poor_bench.dashboard.pages.overview.cards import (
    CELL_COUNTS,
    build_columns,
    changes_card,
    heat_map,
)
from poor_bench.dashboard.pages.overview.layout import (
    LEADERBOARD_TITLE,
    LINKS,
    Leaderboard,
    OverviewUrl,
)
from poor_bench.dashboard.pages.overview.layout import OverviewIds as Ids
from poor_bench.dashboard.pages.overview.tables import (
    FIGURES,
    INTERVAL,
    ShownModels,
    build_floor_rows,
    build_rows,
    columns_for,
    file_heading,
    find_models,
    show_models,
)
from poor_bench.dashboard.services.past_runs import select_repeated
from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.table_files import TableFile, bind_files, table_file
from poor_bench.dashboard.url_state import GridUrl, model_link
from poor_bench.messages import write_count, write_disabled_tests, write_removed_tests
from poor_bench.models.test import Test
from poor_bench.statistics.groups import number_groups
from poor_bench.statistics.intervals import write_basis
from poor_bench.statistics.summary import GroupBy
from poor_bench.statistics.trials import find_newer_failures


def _count_tests(tests: Sequence[Test]) -> str:
    """Write how many tests there are, and in how many groups if some share one."""
    n_groups = max(number_groups(len(tests), [test.group for test in tests]), default=-1) + 1
    return write_basis(len(tests), n_groups if n_groups < len(tests) else None)


def note(services: Services) -> str:
    """Write one line about what there is."""
    table, workspace = services.results.table(), services.files.workspace()
    n_trials = len(table) - int(find_newer_failures(table).sum())
    parts = [
        write_count(n_trials, "trial"),
        write_count(len(table.llm_ids), "model"),
        _count_tests(workspace.enabled_tests),
        write_count(len(workspace.test_classes), "class"),
    ]
    n_removed = services.results.n_removed()
    if n_removed:
        parts.append(write_removed_tests(n_removed))
    n_disabled = len(workspace.tests) - len(workspace.enabled_tests)
    if n_disabled:
        parts.append(write_disabled_tests(n_disabled))
    newest = table.latest
    return " · ".join([*parts, f"last {newest[:16].replace('T', ' ')} UTC"] if newest else parts)


def leaderboard(services: Services, search: str | None = "", view: str | None = "") -> Leaderboard:
    """Find what the model comparison shows."""
    url = OverviewUrl.read(search)
    models = choose_models(services, url)
    rows = _rows_of(services, models)
    asked = set(services.results.table().llm_ids)
    enabled = (llm.id for llm in services.files.workspace().llms if llm.enabled)
    whole = OverviewUrl.read("&".join(filter(None, (search or "?", (view or "")[1:]))))
    return Leaderboard(
        columns_for(rows, is_grouped=bool(url.grouping)),
        rows,
        build_floor_rows(services.tests.floor()),
        {llm_id: services.llms.name(llm_id) for llm_id in enabled if llm_id not in asked},
        layout.others_note(len(models.others), whole) if models.others else None,
    )


def show_leaderboard(
    services: Services, search: str | None, view: str | None, drawn: str | None
) -> tuple[Any, Any, list[Component], str]:
    """Build the table, or only its rows where the browser has it: a new one takes far longer.

    Args:
        services: Have the results.
        search: The state of the page.
        view: What the reader chose in the table; one that is there keeps it by itself.
        drawn: The frame of the table that is there.

    Returns:
        The table, its rows, the lines below it, and its frame.
    """
    version = services.version()
    found = leaderboard(services, search, view)
    frame, notes = found.frame(version), found.notes()
    if frame == drawn:
        return no_update, name_unseen(found.rows), notes, frame
    return found.draw(GridUrl.read(view)), no_update, notes, frame


def leaderboard_rows(services: Services, url: OverviewUrl | None = None) -> list[dict[str, Any]]:
    """Build the rows of the models that the page shows: best score first, group by group."""
    return _rows_of(services, choose_models(services, url or OverviewUrl()))


def _rows_of(services: Services, models: ShownModels) -> list[dict[str, Any]]:
    rows = build_rows(
        services.results.summaries(GroupBy.LLM, models.llm_ids),
        services.files.workspace().llms_by_id,
        services.llms.name,
        services.results.ranking(),
    )
    places = {llm_id: place for place, llm_id in enumerate(models.llm_ids)}
    rows.sort(key=lambda row: places[row["id"]])
    return [row | {"group": models.group_of[row["id"]]} for row in rows]


def choose_models(services: Services, url: OverviewUrl) -> ShownModels:
    """Find the models that the page shows, best first, in groups."""
    summaries = services.results.summaries(GroupBy.LLM)
    ranking = services.results.ranking()
    best_first = [each.group.llm_id for each in ranking.sort(ranking.adjust(summaries))]
    found = find_models(best_first, url.text, services.llms.name)
    return show_models(found, url.grouping, url.top, services.files.workspace().llms_by_id)


def scores_by_class(services: Services, search: str | None) -> Component:
    """Build the heat map, and the links to further columns where they are many."""
    url = OverviewUrl.read(search)
    models = choose_models(services, url)
    llm_ids = [*models.llm_ids, *models.others]
    summaries = services.results.summaries(_detail(url), llm_ids)
    columns = [
        column for column in build_columns(summaries) if not url.classes or column[0] in url.classes
    ]
    start = (url.column_page - 1) * COLUMNS_AT_ONCE
    shown = columns[start : start + COLUMNS_AT_ONCE]
    steps = page_steps(
        LINKS, url, len(columns), COLUMNS_AT_ONCE, label="Columns", field="column_page"
    )
    return html.Div([heat_map(summaries, shown, models, services.llms.name), steps])


def _detail(url: OverviewUrl) -> GroupBy:
    return GroupBy.LLM_CLASS_LEVEL if url.detail else GroupBy.LLM_CLASS


def class_options(services: Services) -> list[dict[str, str]]:
    """List the test classes that the heat map can be limited to."""
    return test_options(services.files.workspace())[0]


def charts(services: Services, search: str | None = "") -> list[Component]:
    """Build score against size and time; models that are not comparable are left out."""
    models = choose_models(services, OverviewUrl.read(search))
    coverage = services.results.ranking().coverage
    llm_ids = [*models.llm_ids, *models.others]
    by_size: list[FrontierPoint] = []
    by_time: list[FrontierPoint] = []
    for summary in services.results.summaries(GroupBy.LLM, llm_ids):
        llm_id = summary.group.llm_id
        if summary.score is None or not coverage[llm_id].is_comparable:
            continue
        llm = services.llms.get(llm_id)
        median_s = summary.time.median_ms / 1000 if summary.time else None
        for points, x in ((by_size, llm.size if llm else None), (by_time, median_s)):
            if x:
                name = services.llms.name(llm_id)
                point = FrontierPoint(llm_id=llm_id, name=name, x=x, score=summary.score)
                points.append(replace(point, is_minor=llm_id in models.others))
    n_apart = sum(not coverage[llm_id].is_comparable for llm_id in llm_ids)
    return layout.charts(by_size, by_time, n_apart)


def trend(services: Services, search: str | None = "") -> tuple[Component | None, bool]:
    """Show the scores over runs of the best shown models, and say if they are current."""
    models = choose_models(services, OverviewUrl.read(search).change(top="all"))
    answer = services.trends.ask()
    found = select_repeated(answer.value or {}, models.llm_ids)
    drawn = dict(islice(found.items(), MOST_LINES))
    return layout.trend(drawn, len(found) - len(drawn), services.llms.name), answer.is_current


def changes(services: Services) -> Component | None:
    """Show the changes of the last run; nothing without an earlier run."""
    last_run = services.last_run.changes()
    return None if last_run is None else changes_card(last_run, services.llms.name)


def leaderboard_csv(
    services: Services, search: str | None = "", view: str | None = ""
) -> TableFile:
    """Write the model comparison as a file: the shown columns, with the intervals of scores."""
    url, chosen = OverviewUrl.read(search), GridUrl.read(view)
    rows = leaderboard_rows(services, url.change(top="all"))
    defined = columns_for(rows, is_grouped=bool(url.grouping))
    shown = [
        (field, file_heading(field, heading)) for field, heading in choose_columns(defined, chosen)
    ]
    interval = INTERVAL if "average_score" in dict(shown) else ()
    columns = [("id", "Model ID"), *shown, *interval]
    return table_file("models", sort_rows(rows, defined, chosen), columns)


def heat_map_csv(services: Services, search: str | None = "") -> TableFile:
    """Write the scores by class of all models and classes that the filters find as a file."""
    url = OverviewUrl.read(search)
    models = choose_models(services, url.change(top="all"))
    rows = [
        {
            "id": summary.group.llm_id,
            "model": services.llms.name(summary.group.llm_id),
            "class": summary.group.class_id,
            "level": summary.group.level,
            "score": summary.score.value if summary.score else None,
            "low": summary.score.low if summary.score else None,
            "high": summary.score.high if summary.score else None,
            **{metric.name: metric.value(summary) for metric in CELL_COUNTS},
        }
        for summary in services.results.summaries(_detail(url), models.llm_ids)
        if not url.classes or summary.group.class_id in url.classes
    ]
    counts = [(metric.name, metric.file_heading) for metric in CELL_COUNTS]
    level = [("level", "Level")] if url.detail else []
    named = [("id", "Model ID"), ("model", "Model"), ("class", "Class"), *level]
    score = [("score", metrics.SCORE.file_heading), *INTERVAL]
    return table_file("scores_by_class", rows, [*named, *score, *counts])


def nothing_yet(services: Services) -> tuple[Component | None, bool]:
    """Say what to do before the first run, and whether the rest of the page is hidden."""
    if services.results.table().llm_ids:
        return None, False
    return no_results(), True


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    bind_controls(
        app,
        Ids.SEARCH,
        OverviewUrl,
        text=Ids.TEXT,
        grouping=Ids.GROUPING,
        top=Ids.TOP,
        detail=Ids.HEAT_MAP_LEVELS,
        classes=Ids.CLASSES,
    )
    bind_address(app, Ids.SEARCH)
    _register_parts(app, services)
    search, view = State(Ids.SEARCH, "data"), State(Ids.VIEW, "data")
    bind_files(app, services, Ids.DOWNLOAD, {Ids.LEADERBOARD_CSV: leaderboard_csv}, search, view)
    bind_files(app, services, Ids.DOWNLOAD, {Ids.HEAT_MAP_CSV: heat_map_csv}, search)

    @app.callback(
        Output(Ids.COMPARE, "children"),
        Input(Ids.LEADERBOARD, "selectedRows"),
        prevent_initial_call=True,
    )
    def _show_compare(rows: list[dict[str, Any]] | None) -> Any:
        return layout.compare_button([row["id"] for row in rows or ()])


def _register_parts(app: Dash, services: Services) -> None:
    @on_data(
        app,
        Output(Ids.NOTE, "children"),
        Output(Ids.BELOW, "data"),
        Output(Ids.LEADERBOARD_BODY, "children"),
        Output(Ids.LEADERBOARD, "rowData"),
        Output(Ids.LEADERBOARD_NOTES, "children"),
        Output(Ids.LEADERBOARD_FRAME, "data"),
        Input(Ids.SEARCH, "data"),
        State(Ids.BELOW, "data"),
        State(Ids.VIEW, "data"),
        State(Ids.LEADERBOARD_FRAME, "data"),
    )
    def _show(search: str, below: str, view: str | None, drawn: str | None) -> Any:
        follows = no_update if below == search else search
        return note(services), follows, *show_leaderboard(services, search, view, drawn)

    @on_data(
        app,
        Output(Ids.EMPTY, "children"),
        Output(Ids.BODY, "hidden"),
        Output(Ids.FILTERS, "hidden"),
        Output(Ids.CLASSES, "data"),
    )
    def _show_empty() -> Any:
        nothing, is_empty = nothing_yet(services)
        return nothing, is_empty, is_empty, class_options(services)

    @on_data(app, Output(Ids.CHANGES, "children"))
    def _show_changes() -> Any:
        return changes(services)

    @on_data(app, Output(Ids.HEAT_MAP, "children"), Input(Ids.SEARCH, "data"))
    def _show_heat_map(search: str) -> Any:
        return still(scores_by_class(services, search), search=search)

    @on_data(
        app,
        Output(Ids.CHARTS, "children"),
        Input(Ids.CHARTS_SEEN, "data"),
        Input(Ids.BELOW, "data"),
        prevent_initial_call=True,
    )
    def _show_charts(seen: bool | None, search: str) -> Any:
        return charts(services, search) if seen else no_update

    @on_data(
        app,
        Output(Ids.TREND, "children"),
        Output(Ids.TREND_WAIT, "disabled"),
        Input(Ids.CHARTS_SEEN, "data"),
        Input(Ids.BELOW, "data"),
        Input(Ids.TREND_WAIT, "n_intervals"),
        prevent_initial_call=True,
    )
    def _show_trend(seen: bool | None, search: str, _waited: int | None) -> Any:
        return trend(services, search) if seen else (no_update, no_update)


_MOST_ROWS = 30
"""More than a window shows."""


def sketch(services: Services, url: OverviewUrl) -> Component | None:
    """Build head and model comparison of the page; None without results."""
    rows = leaderboard_rows(services, url)
    if not rows:
        return None
    defined = columns_for(rows, is_grouped=bool(url.grouping))
    figures = [each for each in choose_columns(defined, url) if each[0] in FIGURES]
    lines = [
        row(
            dcc.Link(line["model"], href=model_link(line["id"])),
            *(number(_text(line, field)) for field, _ in figures),
        )
        for line in sort_rows(rows, defined, url)[:_MOST_ROWS]
    ]
    heads = ["Model", *(html.Th(title, scope="col", className="number") for _, title in figures)]
    table = sheet(heads, lines, label=LEADERBOARD_TITLE)
    return html.Div(
        [
            page_head("Overview", note(services)),
            html.Span(className="first-paint-controls"),
            card(LEADERBOARD_TITLE, table),
        ],
        className="page-body",
    )


def _text(line: Mapping[str, Any], field: str) -> str:
    """Write a figure as the table does."""
    return line["texts"][field] or "-"
