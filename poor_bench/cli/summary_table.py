"""The table of scores that `run`, `status` and `report` print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from poor_bench.cli.output import plain_table

if TYPE_CHECKING:
    from rich.table import Table

    from poor_bench.statistics.estimate import Estimate
    from poor_bench.statistics.summary import Summary

_COLUMNS: Sequence[str | tuple[str, str]] = (
    "LLM",
    ("Score", "right"),
    ("95 % interval", "right"),
    ("Strict", "right"),
    ("Passed", "right"),
    ("Scored", "right"),
    ("Failed", "right"),
    ("Median time", "right"),
    ("Tokens/s", "right"),
    ("Cost", "right"),
)


def summary_table(summaries: Sequence[Summary], names: Mapping[str, str]) -> Table:
    """Return a table with a row per summary, best score first.

    Args:
        summaries: Rows of any grouping.
        names: LLM id to what screens call it.
    """
    grouped = any(summary.group.class_id is not None for summary in summaries)
    leveled = any(summary.group.level is not None for summary in summaries)
    columns = [*_COLUMNS]
    columns[1:1] = (["Class"] if grouped else []) + ([("Level", "right")] if leveled else [])
    ordered = sorted(summaries, key=lambda summary: -(summary.score.value if summary.score else -1))
    rows = []
    for summary in ordered:
        group = summary.group
        where = [group.class_id or ""] if grouped else []
        where += [str(group.level or "")] if leveled else []
        rows.append([names.get(group.llm_id, group.llm_id), *where, *_figures(summary)])
    return plain_table(columns, rows)


def _figures(summary: Summary) -> list[str]:
    score, strict = summary.score, summary.strict_score
    is_strict_lower = score is not None and strict is not None and strict < score.value
    return [
        f"{score.value:.3f}" if score else "-",
        _interval(score),
        f"{strict:.3f}" if is_strict_lower else "",
        f"{summary.n_passed}/{summary.n_scored}",
        str(summary.n_scored),
        str(summary.n_failed) if summary.n_failed else "",
        f"{summary.time.median_ms / 1000:.2f} s" if summary.time else "-",
        f"{summary.tokens_per_s:.0f}" if summary.tokens_per_s else "-",
        f"${summary.cost_usd:.4f}" if summary.cost_usd is not None else "",
    ]


def _interval(score: Estimate | None) -> str:
    return f"{score.low:.2f} to {score.high:.2f}" if score else ""
