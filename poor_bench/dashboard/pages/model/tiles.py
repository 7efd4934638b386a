"""The figures of one LLM at the top of its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poor_bench.dashboard.components.tile import tile, tiles
from poor_bench.dashboard.text.figures_text import dollars_text, milliseconds_text, size_text
from poor_bench.messages import counted
from poor_bench.models.llm import LLM
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.repeats import Reliability
from poor_bench.statistics.summary import Summary

if TYPE_CHECKING:
    from dash.development.base_component import Component


def model_tiles(
    summary: Summary, llm: LLM | None, repeated: Reliability | None = None
) -> Component:
    """Return the figures of an LLM over all its results.

    Args:
        summary: Of all its trials.
        llm: Its entry in llms.json, if it still has one.
        repeated: What several trials of its tests show, if there are some.
    """
    time = summary.time
    shown = [
        tile("Average score", _value(summary.score, 1), _interval(summary.score, 1)),
        tile("Pass rate", _percent(summary.pass_rate), _interval(summary.pass_rate, 100)),
        tile("Tests", f"{summary.n_tests:,}", f"{counted(summary.n_scored, 'trial')} scored"),
        tile(
            "Failed to run",
            f"{summary.n_failed:,}",
            _failure_note(summary),
            is_warning=summary.n_failed > 0,
        ),
        tile(
            "Median time",
            milliseconds_text(time.median_ms if time else None),
            f"p95 {milliseconds_text(time.p95_ms)}" if time else "",
        ),
    ]
    if _costs_format(summary):
        shown.insert(2, tile("Strict score", f"{summary.strict_score:.3f}", "with format rules"))
    if repeated is not None:
        shown += _reliability_tiles(repeated)
    if summary.tokens_per_s:
        shown.append(tile("Throughput", f"{summary.tokens_per_s:,.0f}", "tokens/s"))
    if summary.generation_tokens_per_s:
        speed = f"{summary.generation_tokens_per_s:,.0f}"
        shown.append(tile("Generation", speed, "tokens/s, by the server"))
    if summary.cost_usd is not None:
        shown.append(tile("Cost", dollars_text(summary.cost_usd), "of all results"))
    if summary.judge_cost_usd is not None:
        shown.append(
            tile("Judge cost", dollars_text(summary.judge_cost_usd), "not included in cost")
        )
    if llm is not None and llm.size:
        shown.append(tile("Size", size_text(llm.size), "parameters"))
    return tiles(*shown)


def _reliability_tiles(repeated: Reliability) -> list[Component]:
    k = repeated.k
    every, one, flips = repeated.pass_hat_k, repeated.pass_at_k, repeated.flip_rate
    return [
        tile(f"All of {k} trials pass", _percent(every), _repeated_note(f"pass^{k}", every)),
        tile(f"One of {k} trials passes", _percent(one), _repeated_note(f"pass@{k}", one)),
        tile("Flip rate", _percent(flips), _repeated_note("tests with different outcomes", flips)),
    ]


def _repeated_note(meaning: str, estimate: Estimate) -> str:
    return f"{meaning}; {counted(estimate.n, 'test')}, {_interval(estimate, 100)}"


def _failure_note(summary: Summary) -> str:
    kinds = [f"{n} {kind.value.replace('_', ' ')}" for kind, n in summary.failures.items()]
    if summary.n_newer_failed:
        kinds.append(f"plus {counted(summary.n_newer_failed, 'newer attempt')} of scored trials")
    return ", ".join(kinds)


def _costs_format(summary: Summary) -> bool:
    score, strict = summary.score, summary.strict_score
    return score is not None and strict is not None and strict < score.value - 1e-9


def _value(estimate: Estimate | None, scale: float) -> str:
    return f"{estimate.value * scale:.3f}" if estimate else "-"


def _percent(estimate: Estimate | None) -> str:
    return f"{estimate.value * 100:.1f} %" if estimate else "-"


def _interval(estimate: Estimate | None, scale: float) -> str:
    if estimate is None:
        return ""
    digits = 2 if scale == 1 else 0
    low, high = estimate.low * scale, estimate.high * scale
    return f"95 % CI {low:.{digits}f} to {high:.{digits}f}"
