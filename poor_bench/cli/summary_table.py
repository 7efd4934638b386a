"""The table of scores that `run`, `status` and `report` print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from poor_bench.cli.output import plain_table

if TYPE_CHECKING:
    from rich.table import Table

    from poor_bench.statistics.intervals import Estimate
    from poor_bench.statistics.scores import Coverage
    from poor_bench.statistics.summary import Summary

_LEFT = frozenset({"Model", "Class", "Tied"})
_NOBODY: Mapping[str, str] = {}
_NOTHING: Mapping[str, Estimate] = {}
_NO_COVERAGE: Mapping[str, Coverage] = {}


def summary_table(
    summaries: Sequence[Summary],
    names: Mapping[str, str],
    ties: Mapping[str, str] = _NOBODY,
    stratified: Mapping[str, Estimate] = _NOTHING,
    coverage: Mapping[str, Coverage] = _NO_COVERAGE,
) -> Table:
    """Return a table with a row per summary, best score first; after all, what is not comparable.

    Args:
        summaries: Rows of any grouping.
        names: LLM id to what screens call it.
        ties: LLM id to letters; LLMs that share one cannot be told apart.
        stratified: LLM id to its score with test classes as strata.
        coverage: LLM id to the share of the tests that it was scored on.
    """

    def place(summary: Summary) -> tuple[bool, float]:
        known = coverage.get(summary.group.llm_id)
        is_apart = known is not None and not known.is_comparable
        return is_apart, -(summary.score.value if summary.score else -1)

    is_partial = any(each.n_tests < each.n_all for each in coverage.values())
    cells = [
        _cells(summary, names, ties, stratified)
        | {"Tests": _tests_text(coverage.get(summary.group.llm_id)) if is_partial else ""}
        for summary in sorted(summaries, key=place)
    ]
    shown = [name for name in cells[0] if any(row[name] for row in cells)] if cells else []
    columns = [(name, "left" if name in _LEFT else "right") for name in shown]
    return plain_table(columns, [[row[name] for name in shown] for row in cells])


def _cells(
    summary: Summary,
    names: Mapping[str, str],
    ties: Mapping[str, str],
    stratified: Mapping[str, Estimate],
) -> dict[str, str]:
    """Return a row by heading; a column that is empty in every row is left out."""
    group, score, strict = summary.group, summary.score, summary.strict_score
    is_strict_lower = (
        score is not None and strict is not None and f"{strict:.3f}" < f"{score.value:.3f}"
    )
    return {
        "Model": names.get(group.llm_id, group.llm_id),
        "Class": group.class_id or "",
        "Level": str(group.level or ""),
        "Score": f"{score.value:.3f}" if score else "-",
        "95 % CI": f"{score.low:.2f}-{score.high:.2f}" if score else "",
        "Stratified": _stratified_text(stratified.get(group.llm_id)),
        "Tied": ties.get(group.llm_id, ""),
        "Tests": "",
        "Strict": f"{strict:.3f}" if is_strict_lower else "",
        "Passed": f"{summary.n_passed}/{summary.n_scored}",
        "Failed": str(summary.n_failed or ""),
        "Newer attempt failed": str(summary.n_newer_failed or ""),
        "Median": f"{summary.time.median_ms / 1000:.2f} s" if summary.time else "",
        "Tokens/s": _speed(summary.tokens_per_s),
        "Generation tokens/s": _speed(summary.generation_tokens_per_s),
        "Cost": _dollars(summary.cost_usd),
        "Judge": _dollars(summary.judge_cost_usd),
    }


def _dollars(usd: float | None) -> str:
    return "" if usd is None else f"${usd:.4f}"


def _stratified_text(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    return f"{estimate.value:.3f} ({estimate.low:.2f}-{estimate.high:.2f})"


def _speed(tokens_per_s: float | None) -> str:
    return f"{tokens_per_s:.0f}" if tokens_per_s else ""


def _tests_text(coverage: Coverage | None) -> str:
    return f"{coverage.n_tests}/{coverage.n_all}" if coverage else ""
