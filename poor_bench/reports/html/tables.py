"""Tables of the HTML report: the leaderboard, and what changed since the baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from poor_bench.comparison.compare import ComparedGroup, LLMComparison
from poor_bench.comparison.compared_tests import ScoreChange
from poor_bench.comparison.messages import mismatches_text, names_text, p_text, verdict
from poor_bench.messages import counted
from poor_bench.reports.findings import tie_letters
from poor_bench.reports.html.charts import percent
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
        _leader_row(summary, efforts[summary.group.llm_id], data, ranks, letters)
        for summary in data.summaries()
    ]


def _leader_row(
    summary: Summary,
    effort: Effort,
    data: ReportData,
    ranks: dict[str, str],
    letters: dict[str, str],
) -> LeaderRow:
    llm_id, score = summary.group.llm_id, summary.score
    change_text, change_kind = _describe_change(llm_id, data)
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


def _describe_change(llm_id: str, data: ReportData) -> tuple[str, str]:
    item = data.base.of_llm(llm_id) if data.base else None
    if item is None or item.overall is None:
        return "", ""
    kind = verdict(item.overall) if item.overall.is_real() else ""
    return f"{item.overall.difference.value:+.3f}", kind


_ORDER = ("worse", "better", "")
_LEAST_SCALE = 0.1
_LISTED = (
    ("Broken", ScoreChange.BROKEN),
    ("Fixed", ScoreChange.FIXED),
    ("Scored less", ScoreChange.WORSE),
    ("Scored more", ScoreChange.BETTER),
)


class ChangeRow(NamedTuple):
    """A group of tests before and after."""

    scope: str
    is_whole: bool
    n_tests: int
    before: str
    after: str
    difference: str
    x: str
    """Places of difference and interval on a scale around zero."""
    x_low: str
    x_high: str
    p: str
    counts: list[str]
    """Fixed, broken, better, worse; empty for none."""
    kind: str
    """`better` or `worse` where that is established, else empty."""


class ChangedTests(NamedTuple):
    """The tests of one outcome."""

    title: str
    tests: list[tuple[str, str]]
    """Test id and its scores before and after."""


class Change(NamedTuple):
    """What became of one LLM."""

    name: str
    verdict: str
    kind: str
    rows: list[ChangeRow]
    lists: list[ChangedTests]
    notes: list[str]


def changes(data: ReportData) -> list[Change]:
    """Return what became of each LLM, established losses first; nothing without a base."""
    found = [_change(item, data) for item in (data.base.llms if data.base else ())]
    return sorted(found, key=lambda change: _ORDER.index(change.kind))


def _change(item: LLMComparison, data: ReportData) -> Change:
    whole = [item.overall] if item.overall else []
    classes = item.by_class if len(item.by_class) > 1 else ()
    groups = [*whole, *classes, *item.by_change]
    edge = _edge(groups)
    lists = [
        ChangedTests(
            f"{title} ({len(tests)})",
            [(test.test_id, f"{test.before or 0:.2f} → {test.after or 0:.2f}") for test in tests],
        )
        for title, outcome in _LISTED
        if (tests := item.with_outcome(outcome))
    ]
    return Change(
        name=data.name(item.llm_after),
        verdict=verdict(item.overall) if item.overall else "nothing is comparable",
        kind=_kind(item.overall) if item.overall else "",
        rows=[_row(group, edge) for group in groups],
        lists=lists,
        notes=list(_notes(item)),
    )


def _edge(groups: Sequence[ComparedGroup]) -> float:
    """Return where the scale ends on both sides of zero."""
    reach = [abs(limit) for g in groups for limit in (g.difference.low, g.difference.high)]
    return max([_LEAST_SCALE, *reach])


def _row(group: ComparedGroup, edge: float) -> ChangeRow:
    estimate = group.difference
    x, x_low, x_high = (
        percent(0.5 + limit / edge / 2) for limit in (estimate.value, estimate.low, estimate.high)
    )
    scope = "all" if group.class_id is None else group.class_id or "(unknown class)"
    outcomes = (ScoreChange.FIXED, ScoreChange.BROKEN, ScoreChange.BETTER, ScoreChange.WORSE)
    return ChangeRow(
        scope=f"({mismatches_text(group.changes)})" if group.changes else scope,
        is_whole=group.class_id is None and not group.changes,
        n_tests=len(group.tests),
        before=f"{group.mean_before:.3f}",
        after=f"{group.mean_after:.3f}",
        difference=f"{estimate.value:+.3f}",
        x=x,
        x_low=x_low,
        x_high=x_high,
        p=p_text(group.p_adjusted),
        counts=[str(group.count(outcome) or "") for outcome in outcomes],
        kind=_kind(group),
    )


def _kind(group: ComparedGroup) -> str:
    return verdict(group) if group.is_real() else ""


def _notes(item: LLMComparison) -> Iterator[str]:
    for reasons, test_ids in item.not_comparable().items():
        n_tests = counted(len(test_ids), "test")
        yield f"Not compared, {mismatches_text(reasons)}: {n_tests} ({names_text(test_ids)})"
    for change, count in item.despite_changes().items():
        yield f"Compared although {change.text}: {counted(count, 'test')}"
    if item.n_unverified:
        n_tests = counted(item.n_unverified, "test")
        yield f"{n_tests} with older results that do not record prompt and evaluator"
    times = item.times.times
    if times is None:
        yield f"Times are not compared: {item.times.problem}"
    else:
        yield (
            f"Time: median {time_text(times.median_before_ms)} → "
            f"{time_text(times.median_after_ms)}, per test {times.ratio.value:.2f}-fold "
            f"({times.ratio.low:.2f} to {times.ratio.high:.2f})"
        )
