"""Rows of the leaderboard: ranks as ranges, scores with intervals, what they cost."""

from __future__ import annotations

from typing import NamedTuple

from poor_bench.comparison.messages import verdict
from poor_bench.reports.findings import tie_letters
from poor_bench.reports.html.scale import percent
from poor_bench.reports.number_text import cost_text, count_text, time_text
from poor_bench.reports.report_data import ReportData
from poor_bench.statistics.effort import Effort
from poor_bench.statistics.summary import Summary


class LeaderRow(NamedTuple):
    """One LLM; texts are empty where nothing is known."""

    llm_id: str
    name: str
    ranks: str
    letters: str
    score: float
    """-1 where nothing was scored, so that sorting puts it last."""
    score_text: str
    interval_text: str
    coverage_text: str
    """Why its score is not comparable; empty where it is."""
    x: str
    """Places of score and interval on a scale from 0 to 1."""
    x_low: str
    x_high: str
    strict_text: str
    passed_text: str
    failed_text: str
    median_ms: float
    median_text: str
    p95_text: str
    speed_text: str
    """Tokens per second of execution time."""
    generation_speed_text: str
    """Tokens per second of generating, as the server tells."""
    cost: float
    cost_text: str
    judge_cost: float
    judge_cost_text: str
    change_text: str
    change_kind: str
    """`better`, `worse` or empty."""


def leaderboard(data: ReportData) -> list[LeaderRow]:
    """Return a row for every LLM, best score first."""
    letters = tie_letters(data)
    ranks = {rank.llm_id: _rank_text(rank.best, rank.worst) for rank in data.ranking.ranks}
    efforts = {effort.llm_id: effort for effort in data.efforts}
    return [
        _row(summary, efforts[summary.group.llm_id], data, ranks, letters)
        for summary in data.summaries()
    ]


def _row(
    summary: Summary,
    effort: Effort,
    data: ReportData,
    ranks: dict[str, str],
    letters: dict[str, str],
) -> LeaderRow:
    llm_id, score = summary.group.llm_id, summary.score
    change_text, change_kind = _change(llm_id, data)
    return LeaderRow(
        llm_id=llm_id,
        name=data.name(llm_id),
        ranks=ranks.get(llm_id, ""),
        letters=letters.get(llm_id, ""),
        score=score.value if score else -1.0,
        score_text=f"{score.value:.3f}" if score else "-",
        interval_text=f"{score.low:.2f} to {score.high:.2f}" if score else "nothing scored",
        coverage_text="" if data.is_comparable(llm_id) else data.coverage[llm_id].text,
        x=percent(score.value) if score else "",
        x_low=percent(score.low) if score else "",
        x_high=percent(score.high) if score else "",
        strict_text=_strict_text(summary),
        passed_text=f"{summary.n_passed}/{summary.n_scored}",
        failed_text=count_text(summary.n_failed),
        median_ms=effort.median_ms or 0.0,
        median_text=time_text(effort.median_ms),
        p95_text=time_text(effort.p95_ms),
        speed_text=count_text(summary.tokens_per_s),
        generation_speed_text=count_text(effort.decode_tokens_per_s),
        cost=effort.cost_usd or 0.0,
        cost_text=cost_text(effort.cost_usd),
        judge_cost=effort.judge_cost_usd or 0.0,
        judge_cost_text=cost_text(effort.judge_cost_usd),
        change_text=change_text,
        change_kind=change_kind,
    )


def _strict_text(summary: Summary) -> str:
    """Return the strict score where it differs visibly."""
    if summary.score is None or summary.strict_score is None:
        return ""
    lost = summary.score.value - summary.strict_score
    return f"{summary.strict_score:.3f}" if lost >= 0.0005 else ""


def _rank_text(best: int, worst: int) -> str:
    return str(best) if best == worst else f"{best}-{worst}"


def _change(llm_id: str, data: ReportData) -> tuple[str, str]:
    item = data.base.of_llm(llm_id) if data.base else None
    if item is None or item.overall is None:
        return "", ""
    kind = verdict(item.overall) if item.overall.is_real() else ""
    return f"{item.overall.difference.value:+.3f}", kind
