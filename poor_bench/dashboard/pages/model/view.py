"""What the page shows above and below the results: notes, figures, issues, scores by class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dash import dcc, html
from dash.development.base_component import Component

from poor_bench import metrics
from poor_bench.dashboard.components.badges import (
    describe_score,
    heat_legend,
    trust_badges,
)
from poor_bench.dashboard.components.blocks import aria, data, empty_state, no_results, tile, tiles
from poor_bench.dashboard.components.tables import row, sheet
from poor_bench.dashboard.components.texts import build_folded
from poor_bench.dashboard.pages.model.layout import ModelIds
from poor_bench.dashboard.pages.model.url import ClassOrder, ModelUrl
from poor_bench.dashboard.text.formatting import size_text
from poor_bench.dashboard.url_state import Redo, run_link, write_query
from poor_bench.issues.detector import IssueGroup
from poor_bench.messages import write_count, write_share
from poor_bench.metrics.trust import list_trust_notes
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.repeats import Reliability
from poor_bench.statistics.summary import Summary


def no_results_at_all() -> Component:
    """Build what the page shows before the first run."""
    return no_results()


def tell_no_results(name: str, llm: LLM | None, llm_id: str) -> Component:
    """Build what the page shows of a model that was never run.

    Args:
        name: Name of the model on screens.
        llm: Its entry in llms.json, if it has one.
        llm_id: Its id.
    """
    if llm is not None and not llm.enabled:
        text = "Runs skip it."
        return empty_state("Disabled model", text, _button("Models", "/llms"))
    text = f"{name}"
    return empty_state("No results yet", text, _button("Run tests", run_link(llm_ids=[llm_id])))


def no_match() -> Component:
    """Build what stands in the place of a chart where the filters find nothing."""
    return empty_state("Nothing matches these filters.")


def notes_before_reading(
    llm_id: str, llm: LLM | None, summary: Summary | None, reason: str = ""
) -> list[Component]:
    """List what a reader must know before reading the figures of a model.

    Args:
        llm_id: Its id.
        llm: Its entry in llms.json, if it still has one.
        summary: Of all its results of tests in the workspace; None without any.
        reason: Message of a failure.
    """
    notes = []
    if llm is None:
        notes.append(_note("Removed model", ""))
    elif not llm.enabled:
        text = "Runs skip it."
        notes.append(_note("Disabled model", text, _link("Models", "/llms")))
    if summary is None:
        text = "Its tests were removed."
        notes.append(_note("No current results", text))
    elif not summary.n_scored and (n_failed := summary.n_failed - summary.n_unjudged):
        text = f"{write_count(n_failed, 'trial')} failed to run. {_sentence(reason)}"
        link = _link("Re-run these", run_link(llm_ids=[llm_id], redo=Redo.FAILED))
        notes.append(_note("No scores yet", text, link))
    return notes


_LONGEST_REASON = 160


def _sentence(reason: str) -> str:
    line = " ".join(reason.split())[:_LONGEST_REASON]
    return f"First failure: {line.rstrip('.')}. " if line else ""


def _note(title: str, text: str, link: Component | None = None) -> Component:
    return html.P([html.Strong(f"{title}. "), text, " ", link], className="model-note")


def _link(text: str, href: str) -> Component:
    return dcc.Link(text, href=href)


def _button(text: str, href: str) -> Component:
    return dcc.Link(text, href=href, className="button-link")


_FURTHER = (
    metrics.FIRST_TOKEN, metrics.THROUGHPUT, metrics.GENERATION_SPEED, metrics.COST,
    metrics.JUDGE_COST,
)  # fmt: skip
"""Figures that not every model has."""


def model_tiles(
    summary: Summary,
    llm: LLM | None,
    repeated: Reliability | None = None,
    *,
    scope: str = "",
    rerun: str = "",
) -> Component:
    """Build the figures of the results that the filters find; the less common ones are folded.

    Args:
        summary: Of these trials.
        llm: The entry of the model in llms.json, if it still has one.
        repeated: What several trials of its tests show, if there are some.
        scope: Which results these are.
        rerun: Address of the page Run for what they lack; empty for no link.
    """
    shown = [
        _tile(metrics.SCORE, summary, _interval(metrics.SCORE, summary)),
        _tile(metrics.PASS_RATE, summary, _interval(metrics.PASS_RATE, summary)),
        _tile(metrics.N_TESTS, summary, f"{write_count(summary.n_scored, 'trial')} scored"),
        _tile(
            metrics.N_FAILED,
            summary,
            _failure_note(summary),
            is_warning=summary.n_failed > summary.n_unjudged,
        ),
        _tile(
            metrics.MEDIAN_TIME,
            summary,
            f"{metrics.P95_TIME.label} {metrics.P95_TIME.show(summary)}, "
            f"{metrics.MEDIAN_TIME.show_n(summary)}"
            if summary.time
            else "",
        ),
    ]
    if metrics.STRICT_SCORE.is_shown([summary]):
        n = metrics.STRICT_SCORE.show_n(summary)
        shown.insert(2, _tile(metrics.STRICT_SCORE, summary, n))
    further = _reliability_tiles(repeated) if repeated is not None else []
    further += [
        _tile(metric, summary, metric.show_n(summary))
        for metric in _FURTHER
        if metric.value(summary) is not None
    ]
    if llm is not None and llm.size:
        further.append(tile("Size", size_text(llm.size), "parameters"))
    about = [
        html.Span(scope, className="quiet"),
        trust_badges(list_trust_notes(summary), rerun),
        build_folded("More figures", tiles(*further)) if further else None,
    ]
    return html.Div([tiles(*shown), html.Div(about, className="about-tiles")])


def issue_strip(groups: Sequence[IssueGroup], chosen: str) -> Component:
    """Build a small button for each issue, the most costly first.

    Args:
        groups: The issues of the results that the filters find.
        chosen: Detector id of the issue that the results are limited to; may be empty.
    """
    chips = [_issue_chip(group, is_chosen=group.detector_id == chosen) for group in groups]
    none = html.Span("No issues", className="quiet")
    return html.Div(
        [html.Span("Issues", className="chip-row-label"), *(chips or [none])],
        className="chip-row",
        role="group",
        **aria(label="Issues"),
    )


def _issue_chip(group: IssueGroup, *, is_chosen: bool) -> Component:
    lost = f"{write_share(group.lost_share)} of lost score. " if group.lost_share else ""
    return html.Button(
        [
            html.Span(className=f"severity severity-{group.severity.value}"),
            html.Span(group.title),
            html.Span(f"{group.n_trials:,}", className="chip-count"),
        ],
        type="button",
        className="chip is-active" if is_chosen else "chip",
        title=f"{group.severity.value} severity. {lost}{group.meaning} {group.advice}",
        **aria(pressed="true" if is_chosen else "false"),
        **data(choose_store=ModelIds.ISSUE, choose_value="" if is_chosen else group.detector_id),
    )


def _reliability_tiles(repeated: Reliability) -> list[Component]:
    k = repeated.k
    every, one, flips = repeated.pass_hat_k, repeated.pass_at_k, repeated.flip_rate
    return [
        tile(f"All of {k} trials pass", _percent(every), _describe_repeats(f"pass^{k}", every)),
        tile(f"One of {k} trials passes", _percent(one), _describe_repeats(f"pass@{k}", one)),
        tile("Flip rate", _percent(flips), _describe_repeats("mixed outcomes", flips)),
    ]


def _describe_repeats(meaning: str, estimate: Estimate) -> str:
    return f"{meaning}; {estimate.basis}, {_interval_text(estimate)}"


def _failure_note(summary: Summary) -> str:
    kinds = [
        f"{n} {kind.value.replace('_', ' ')}"
        for kind, n in summary.failures.items()
        if kind is not FailureKind.JUDGE
    ]
    if summary.n_newer_failed:
        kinds.append(f"{write_count(summary.n_newer_failed, 'newer attempt')} of scored trials")
    return ", ".join(kinds)


def _tile(
    metric: metrics.Metric, summary: Summary, note: str, *, is_warning: bool = False
) -> Component:
    figure = metric.show(summary, "n/a")
    return tile(metric.label, figure, note, title=metric.meaning, is_warning=is_warning)


def _interval(metric: metrics.Metric, summary: Summary) -> str:
    interval, groups = metric.show_interval(summary), metric.show_groups(summary)
    n = groups or metric.show_n(summary)
    return f"95 % CI {interval}, {n}" if interval else n


def _percent(estimate: Estimate) -> str:
    return write_share(estimate.value, 1)


def _interval_text(estimate: Estimate) -> str:
    """Write the confidence interval of a share in percent."""
    return f"95 % CI {estimate.low * 100:.0f} to {estimate.high * 100:.0f}"


CLASSES_AT_ONCE = 20
_ORDERS = {
    ClassOrder.LOWEST: "Lowest",
    ClassOrder.HIGHEST: "Highest",
    ClassOrder.NAME: "Name",
}
REMOVED = "removed tests"


def build_breakdown(
    classes: Sequence[Summary], cells: Iterable[Summary], url: ModelUrl
) -> Component:
    """Build the table of one model.

    Args:
        classes: Rows by class.
        cells: Rows by class and level.
        url: Order and page of the classes.
    """
    ordered = sort_classes(classes, url.by)
    n_pages = max(1, -(-len(ordered) // CLASSES_AT_ONCE))
    page = min(url.at, n_pages)
    shown = ordered[(page - 1) * CLASSES_AT_ONCE : page * CLASSES_AT_ONCE]
    by_place = {(each.group.class_id, each.group.level): each for each in cells}
    levels = sorted({level for _, level in by_place if level is not None})
    rows = [_row(each, levels, by_place) for each in shown]
    heads = [
        "Class",
        *(["All levels"] if len(levels) > 1 else []),
        *(f"Level {level}" for level in levels),
    ]
    return html.Div(
        [
            html.Div([_orders(url), _steps(url, page, n_pages, len(ordered))], className="bar"),
            sheet(heads, rows, label="Score by class", kind="heat-map"),
            heat_legend(),
        ],
        className="breakdown",
    )


def sort_classes(classes: Sequence[Summary], order: ClassOrder) -> list[Summary]:
    """Sort rows by class; those without a score come last."""
    if order is ClassOrder.NAME:
        return sorted(classes, key=lambda each: each.group.class_id or "")
    sign = 1 if order is ClassOrder.LOWEST else -1
    return sorted(
        classes,
        key=lambda each: (each.score is None, sign * each.score.value if each.score else 0.0),
    )


def _row(
    of_class: Summary,
    levels: Sequence[int],
    by_place: Mapping[tuple[str | None, int | None], Summary],
) -> Component:
    class_id = of_class.group.class_id
    name = (class_id or REMOVED).replace("_", " ")
    cells = [_cell(by_place.get((class_id, level)), f"{name}, level {level}") for level in levels]
    whole = [_cell(of_class, name)] if len(levels) > 1 else []
    return row(html.Th(name, scope="row"), *whole, *cells)


def _cell(summary: Summary | None, name: str) -> Component:
    if summary is None:
        return html.Td(html.Span("-", className="heat-cell is-empty"))
    score = metrics.SCORE.show(summary)
    stale = f", {metrics.N_STALE.show(summary)} stale" if summary.n_stale else ""
    n = html.Span(f"{metrics.SCORE.show_n(summary) or 'failed'}{stale}", className="heat-cell-n")
    group = summary.group
    place = [("class", group.class_id or ""), ("level", str(group.level or ""))]
    color = {"--score": f"{summary.score.value:.3f}"} if summary.score else {}
    button = html.Button(
        [html.Span(score or "n/a"), n],
        type="button",
        className="heat-cell" if summary.score else "heat-cell is-empty",
        title=describe_score(summary),
        style=color,
        disabled=not group.class_id,
        **aria(label=f"{name}: score {score or 'n/a'}"),
        **data(choose_store=ModelIds.DRILL, choose_value=write_query(place)),
    )
    return html.Td(button)


def _orders(url: ModelUrl) -> Component:
    buttons = [
        _switch(text, url.order.change(by=order, at=1), order is url.by)
        for order, text in _ORDERS.items()
    ]
    return html.Div(
        [html.Span("Sort by", className="chip-row-label"), *buttons],
        className="chip-row",
        role="group",
        **aria(label="Sort by"),
    )


def _steps(url: ModelUrl, page: int, n_pages: int, n_classes: int) -> Component | None:
    if n_pages == 1:
        return None
    first, last = (page - 1) * CLASSES_AT_ONCE + 1, min(page * CLASSES_AT_ONCE, n_classes)
    shown = f"{first} to {last} of {write_count(n_classes, 'class')}"
    return html.Div(
        [
            _switch("Previous", url.order.change(at=page - 1), is_off=page == 1),
            html.Span(shown, className="quiet"),
            _switch("Next", url.order.change(at=page + 1), is_off=page == n_pages),
        ],
        className="chip-row",
        role="group",
        **aria(label="Classes"),
    )


def _switch(
    text: str, order: ModelUrl, is_active: bool = False, *, is_off: bool = False
) -> Component:
    return html.Button(
        text,
        type="button",
        className="chip is-active" if is_active else "chip",
        disabled=is_off,
        **aria(pressed="true" if is_active else "false"),
        **data(choose_store=ModelIds.ORDER, choose_value=order.search),
    )
