"""The figures of one model at the top of its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poor_bench import metrics
from poor_bench.dashboard.components.blocks import tile, tiles
from poor_bench.dashboard.text.formatting import size_text
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from dash.development.base_component import Component

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
    summary: Summary, llm: LLM | None, repeated: Reliability | None = None
) -> Component:
    """Return the figures of an LLM over all its results.

    Args:
        summary: Of all its trials.
        llm: Its entry in llms.json, if it still has one.
        repeated: What several trials of its tests show, if there are some.
    """
    shown = [
        _tile(metrics.SCORE, summary, _interval(metrics.SCORE, summary)),
        _tile(metrics.PASS_RATE, summary, _interval(metrics.PASS_RATE, summary)),
        _tile(metrics.N_TESTS, summary, f"{write_count(summary.n_scored, 'trial')} scored"),
        _tile(metrics.N_FAILED, summary, _failure_note(summary), is_warning=summary.n_failed > 0),
        _tile(
            metrics.MEDIAN_TIME,
            summary,
            f"{metrics.P95_TIME.label} {metrics.P95_TIME.show(summary)}" if summary.time else "",
        ),
    ]
    if summary.n_stale:
        note = f"of {write_count(summary.n_scored, 'scored trial')}"
        shown.insert(4, _tile(metrics.N_STALE, summary, note, is_warning=True))
    if metrics.STRICT_SCORE.is_shown([summary]):
        shown.insert(2, _tile(metrics.STRICT_SCORE, summary, "with format rules"))
    if repeated is not None:
        shown += _reliability_tiles(repeated)
    shown += [
        _tile(metric, summary, note)
        for metric, note in _FURTHER
        if metric.value(summary) is not None
    ]
    if llm is not None and llm.size:
        shown.append(tile("Size", size_text(llm.size), "parameters"))
    return tiles(*shown)


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
    return f"{meaning}; {estimate.basis}, {_interval_text(estimate, 100)}"


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
    figure = metric.show(summary, "-")
    return tile(metric.label, figure, note, title=metric.meaning, is_warning=is_warning)


def _interval(metric: metrics.Metric, summary: Summary) -> str:
    interval, groups = metric.show_interval(summary), metric.show_groups(summary)
    text = f"95 % CI {interval}" if interval else ""
    return f"{text}, {groups}" if groups else text


def _percent(estimate: Estimate | None) -> str:
    return f"{estimate.value * 100:.1f} %" if estimate else "-"


def _interval_text(estimate: Estimate | None, scale: float) -> str:
    if estimate is None:
        return ""
    digits = 2 if scale == 1 else 0
    low, high = estimate.low * scale, estimate.high * scale
    return f"95 % CI {low:.{digits}f} to {high:.{digits}f}"
