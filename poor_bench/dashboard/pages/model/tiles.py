"""The strip of figures and issues at the top of the page; it follows the filters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from poor_bench import metrics
from poor_bench.dashboard.components.badges import rerun_link, trust_badges
from poor_bench.dashboard.components.blocks import aria, data, tile, tiles
from poor_bench.dashboard.components.texts import build_folded
from poor_bench.dashboard.pages.model.ids import ModelIds
from poor_bench.dashboard.text.formatting import size_text
from poor_bench.messages import write_count
from poor_bench.metrics.trust import list_trust_notes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dash.development.base_component import Component

    from poor_bench.issues.detector import IssueGroup
    from poor_bench.models.llm import LLM
    from poor_bench.statistics.intervals import Estimate
    from poor_bench.statistics.repeats import Reliability
    from poor_bench.statistics.summary import Summary

_FURTHER = (
    (metrics.FIRST_TOKEN, "median"),
    (metrics.THROUGHPUT, "of execution time"),
    (metrics.GENERATION_SPEED, "by the server"),
    (metrics.COST, "of all results"),
    (metrics.JUDGE_COST, "not included in cost"),
)
"""Figures that not every model has, and what stands below them."""


def model_tiles(
    summary: Summary, llm: LLM | None, repeated: Reliability | None = None, *, scope: str = ""
) -> Component:
    """Return the figures of the results that the filters find; the less common ones are folded.

    Args:
        summary: Of these trials.
        llm: The entry of the model in llms.json, if it still has one.
        repeated: What several trials of its tests show, if there are some.
        scope: Which results these are.
    """
    shown = [
        _tile(metrics.SCORE, summary, _interval(metrics.SCORE, summary)),
        _tile(metrics.PASS_RATE, summary, _interval(metrics.PASS_RATE, summary)),
        _tile(metrics.N_TESTS, summary, f"{write_count(summary.n_scored, 'trial')} scored"),
        _tile(metrics.N_FAILED, summary, _failure_note(summary), is_warning=summary.n_failed > 0),
        _tile(
            metrics.MEDIAN_TIME,
            summary,
            f"{metrics.P95_TIME.label} {metrics.P95_TIME.show(summary)}, "
            f"{metrics.MEDIAN_TIME.show_n(summary)}"
            if summary.time
            else "",
        ),
    ]
    if summary.n_stale:
        note = f"of {write_count(summary.n_scored, 'scored trial')}"
        shown.insert(4, _tile(metrics.N_STALE, summary, note, is_warning=True))
    if metrics.STRICT_SCORE.is_shown([summary]):
        note = _over("with format rules", metrics.STRICT_SCORE, summary)
        shown.insert(2, _tile(metrics.STRICT_SCORE, summary, note))
    further = _reliability_tiles(repeated) if repeated is not None else []
    further += [
        _tile(metric, summary, _over(note, metric, summary))
        for metric, note in _FURTHER
        if metric.value(summary) is not None
    ]
    if llm is not None and llm.size:
        further.append(tile("Size", size_text(llm.size), "parameters"))
    about = [
        html.Span(scope, className="quiet"),
        trust_badges(list_trust_notes(summary), rerun_link(summary)),
        build_folded("More figures", tiles(*further)) if further else None,
    ]
    return html.Div([tiles(*shown), html.Div(about, className="about-tiles")])


def issue_strip(groups: Sequence[IssueGroup], chosen: str) -> Component:
    """Return a small button for each issue, the most costly first.

    Args:
        groups: The issues of the results that the filters find.
        chosen: Detector id of the issue that the results are limited to; may be empty.
    """
    chips = [_issue_chip(group, is_chosen=group.detector_id == chosen) for group in groups]
    none = html.Span("No issue was detected in these results.", className="quiet")
    return html.Div(
        [html.Span("Issues", className="chip-row-label"), *(chips or [none])],
        className="chip-row",
        role="group",
        **aria(label="Issues"),
    )


def _issue_chip(group: IssueGroup, *, is_chosen: bool) -> Component:
    lost = f"{group.lost_share:.0%} of the lost score. " if group.lost_share else ""
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
        tile(
            "Flip rate", _percent(flips), _describe_repeats("tests with different outcomes", flips)
        ),
    ]


def _describe_repeats(meaning: str, estimate: Estimate) -> str:
    return f"{meaning}; {estimate.basis}, {_interval_text(estimate)}"


def _failure_note(summary: Summary) -> str:
    kinds = [f"{n} {kind.value.replace('_', ' ')}" for kind, n in summary.failures.items()]
    if summary.n_newer_failed:
        kinds.append(
            f"plus {write_count(summary.n_newer_failed, 'newer attempt')} of scored trials"
        )
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


def _over(note: str, metric: metrics.Metric, summary: Summary) -> str:
    """Add to a note over how many tests or trials a figure is."""
    return f"{note}, {metric.show_n(summary)}"


def _percent(estimate: Estimate) -> str:
    return f"{estimate.value * 100:.1f} %"


def _interval_text(estimate: Estimate) -> str:
    """Write the confidence interval of a share in percent."""
    return f"95 % CI {estimate.low * 100:.0f} to {estimate.high * 100:.0f}"
