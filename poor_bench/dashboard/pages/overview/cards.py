"""Cards below the models: what the last run changed, and scores by class."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from dash import dcc, html
from dash.development.base_component import Component

from poor_bench import metrics
from poor_bench.comparison.compare import ComparedGroup, LLMComparison
from poor_bench.comparison.compared_tests import ScoreChange
from poor_bench.dashboard.components.badges import (
    describe_score,
    heat_legend,
    list_notes,
    rerun_button,
    rerun_link,
)
from poor_bench.dashboard.components.blocks import card
from poor_bench.dashboard.components.tables import row, sheet
from poor_bench.dashboard.pages.overview.tables import ShownModels
from poor_bench.dashboard.services.past_runs import LastRun
from poor_bench.dashboard.url_state import model_link, run_link
from poor_bench.messages import write_count
from poor_bench.metrics.trust import NOT_RUN, TrustNote, list_trust_notes
from poor_bench.statistics.scores import average_scores
from poor_bench.statistics.summary import Group, Summary

_SHOWN_TESTS = 6


def changes_card(last_run: LastRun, name_of: Callable[[str], str]) -> Component:
    """Build which tests the last run fixed or broke, for each LLM.

    What was asked in another way than before stands apart: there the change itself is measured.
    """
    groups = [
        (item, group)
        for item in last_run.comparisons
        for group in (item.overall, *item.by_change)
        if group is not None
    ]
    changed = [
        _change_row(item, group, name_of(item.llm_after))
        for item, group in groups
        if group.count(ScoreChange.UNCHANGED) < len(group.tests)
    ]
    new = [_new_row(llm_id, name_of(llm_id)) for llm_id in last_run.new_llm_ids]
    n_tests = sum(len(group.tests) for _, group in groups)
    note = f"Run {last_run.run_id}: {write_count(n_tests, 'result')} compared."
    if not changed and not new:
        return html.P(["No score changed. ", note], className="quiet")
    return card(
        "Last run",
        html.Ul([*changed, *new], className="change-list"),
        note=note,
    )


def _change_row(item: LLMComparison, group: ComparedGroup, name: str) -> Component:
    return html.Li(
        [
            dcc.Link(name, href=model_link(item.llm_after), className="change-model"),
            html.Span(_difference(group), className="change-difference"),
            html.Span(_reason(group), className="change-reason"),
            *_change_tests(item, group, ScoreChange.BROKEN, "is-broken"),
            *_change_tests(item, group, ScoreChange.FIXED, "is-fixed"),
            html.Span(_rest(group), className="quiet"),
        ]
    )


def _new_row(llm_id: str, name: str) -> Component:
    return html.Li(
        [
            dcc.Link(name, href=model_link(llm_id), className="change-model"),
            html.Span("new", className="change-reason"),
        ]
    )


def _reason(group: ComparedGroup) -> str:
    return ", ".join(change.text for change in group.changes)


def _difference(group: ComparedGroup) -> str:
    difference = group.difference
    verdict = "" if group.is_real() else ", not significant"
    return f"{difference.value:+.3f} ({difference.low:+.2f} to {difference.high:+.2f}{verdict})"


def _change_tests(
    item: LLMComparison, group: ComparedGroup, outcome: ScoreChange, class_name: str
) -> list[Component]:
    tests = group.with_outcome(outcome)
    if not tests:
        return []
    links: list[Component | str] = []
    for test in tests[:_SHOWN_TESTS]:
        href = model_link(item.llm_after, text=test.test_id, test=test.test_id)
        links += [dcc.Link(test.test_id, href=href), " "]
    more = len(tests) - _SHOWN_TESTS
    return [
        html.Span(
            [
                html.Strong(f"{len(tests):,} {outcome.value}: "),
                *links,
                f"and {more:,} more" if more > 0 else "",
            ],
            className=f"change-tests {class_name}",
        )
    ]


def _rest(group: ComparedGroup) -> str:
    counts = {outcome: group.count(outcome) for outcome in (ScoreChange.BETTER, ScoreChange.WORSE)}
    return ", ".join(f"{n:,} {outcome.value}" for outcome, n in counts.items() if n)


CELL_COUNTS = (
    metrics.N_TESTS, metrics.N_PASSED, metrics.N_SCORED, metrics.N_FAILED, metrics.N_STALE,
)  # fmt: skip
"""Counts behind a cell of the heat map, in files."""
Column = tuple[str, int | None]
"""Class id, and level or None for all levels."""


def build_columns(summaries: Sequence[Summary]) -> list[Column]:
    """Find the columns that the summaries fill, in the order of classes, then levels."""
    classes = list(dict.fromkeys(summary.group.class_id or "" for summary in summaries))
    columns = {(summary.group.class_id or "", summary.group.level) for summary in summaries}
    return sorted(columns, key=lambda column: (classes.index(column[0]), column[1] or 0))


def heat_map(
    summaries: Sequence[Summary],
    columns: Sequence[Column],
    models: ShownModels,
    name_of: Callable[[str], str],
) -> Component:
    """Build a table with a coloured cell for each LLM and class (or class and level).

    Args:
        summaries: Rows by LLM and class, or by LLM, class and level.
        columns: Those to show.
        models: The lines, in their groups; one line stands for all others.
        name_of: LLM id to what screens call it.
    """
    by_group = {_key(summary.group): summary for summary in summaries}
    askable = {summary.group.llm_id for summary in summaries if rerun_link(summary)}
    lacking = {summary.group.llm_id for summary in summaries if list_trust_notes(summary)}

    def line(llm_id: str) -> Component:
        cells = [by_group.get((llm_id, *column)) for column in columns]
        is_lacking = llm_id in askable and (llm_id in lacking or None in cells)
        pending = [NOT_RUN] if llm_id in askable else []
        return row(
            _line_head(llm_id, name_of(llm_id), is_lacking=is_lacking),
            *(_cell(summary, pending) for summary in cells),
        )

    rows: list[Component] = []
    for group, llm_ids in models.groups:
        rows += [_group_line(group, len(llm_ids), len(columns))] if group else []
        rows += map(line, llm_ids)
    rows += _other_line(models.others, columns, by_group)
    heads = ["Model", *(_column_head(column) for column in columns)]
    table = sheet(heads, rows, label="Score by class", kind="heat-map")
    return html.Div([table, heat_legend()])


def _group_line(group: str, n_models: int, n_columns: int) -> Component:
    head = html.Th([group, html.Span(write_count(n_models, "model"), className="quiet")])
    return row(head, html.Td(colSpan=n_columns), class_name="heat-group")


def _other_line(
    llm_ids: Sequence[str],
    columns: Sequence[Column],
    by_group: Mapping[tuple[str, str, int | None], Summary],
) -> Iterator[Component]:
    """Yield the line of the models that have none of their own: the mean of their scores."""
    if llm_ids:
        cells = [
            _other_cell([by_group.get((llm_id, *column)) for llm_id in llm_ids])
            for column in columns
        ]
        yield row(f"{len(llm_ids):,} others, mean", *cells, class_name="heat-others")


def _other_cell(summaries: Sequence[Summary | None]) -> Component:
    found = average_scores([each.score for each in summaries if each and each.score])
    if found is None:
        return html.Td(html.Span("n/a", className="heat-cell is-empty", title="No result"))
    text = f"{found.mean:.2f}"
    title = f"lowest {found.lowest:.2f}, highest {found.highest:.2f}"
    style = {"--score": f"{found.mean:.3f}"}
    n = html.Span(write_count(found.n, "model"), className="heat-cell-n")
    return html.Td(html.Span([text, n], className="heat-cell", title=title, style=style))


def _line_head(llm_id: str, name: str, *, is_lacking: bool) -> list[Component]:
    """Link a model, and beside it the run of what its cells lack."""
    link = dcc.Link(name, href=model_link(llm_id))
    return [link, rerun_button(run_link(llm_ids=[llm_id]))] if is_lacking else [link]


def _key(group: Group) -> tuple[str, str, int | None]:
    return group.llm_id, group.class_id or "", group.level


def _column_head(column: Column) -> Component:
    class_id, level = column
    name = class_id.replace("_", " ") or "unknown class"
    lines = [html.Span(name)]
    if level is not None:
        lines.append(html.Span(f"level {level}", className="heat-map-level"))
    return html.Th(lines, scope="col", title=class_id)


def _cell(summary: Summary | None, pending: Sequence[TrustNote]) -> Component:
    if summary is None:
        said: list[Any] = ["n/a", *list_notes(pending)]
        return html.Td(html.Span(said, className="heat-cell is-empty", title="No result"))
    notes = list_trust_notes(summary)
    if summary.score is None:
        return html.Td(_link_cell(summary.group, ["n/a", *list_notes(notes)], "is-empty"))
    score = summary.score
    title = describe_score(summary)
    n = html.Span(metrics.SCORE.show_n(summary), className="heat-cell-n")
    content = [f"{score.value:.2f}", n, *list_notes(notes)]
    style = {"--score": f"{score.value:.3f}"}
    return html.Td(_link_cell(summary.group, content, title=title, style=style))


def _link_cell(group: Group, content: list[Any], kind: str = "", **further: Any) -> Component:
    levels = [] if group.level is None else [group.level]
    href = model_link(group.llm_id, classes=[group.class_id or ""], levels=levels)
    return dcc.Link(content, href=href, className=f"heat-cell {kind}".strip(), **further)
