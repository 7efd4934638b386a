"""Tables of the HTML report: the leaderboard, and what changed since the baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from poor_bench.comparison.compare import ComparedGroup, LLMComparison
from poor_bench.comparison.compared_tests import ScoreChange
from poor_bench.comparison.messages import describe_mismatches, verdict, write_p_value
from poor_bench.messages import join_names, write_count
from poor_bench.metrics import score_text, time_text, write_signed
from poor_bench.reports.findings import name_ties
from poor_bench.reports.html.charts import write_percent
from poor_bench.reports.report_data import ReportData
from poor_bench.statistics.summary import Summary


class LeaderRow(NamedTuple):
    """One model; texts are empty where nothing is known."""

    name: str
    summary: Summary
    ranks: str
    letters: str
    coverage_text: str
    """Warning beside its score, such as `48 of 64 tests`; empty where no test is missing."""
    x: str
    """Places of score and interval on a scale from 0 to 1."""
    x_low: str
    x_high: str
    change_text: str
    change_kind: str
    """`better`, `worse` or empty."""


def build_leaderboard(data: ReportData) -> list[LeaderRow]:
    """Build a row for every model, best score first."""
    letters = name_ties(data)
    ranks = {rank.llm_id: _rank_text(rank.best, rank.worst) for rank in data.ranking.ranks}
    rows = []
    for summary in data.summaries():
        llm_id, score = summary.group.llm_id, summary.score
        change_text, change_kind = _describe_change(llm_id, data)
        rows.append(
            LeaderRow(
                data.name(llm_id),
                summary,
                ranks.get(llm_id, ""),
                letters.get(llm_id, ""),
                data.write_missing(summary),
                write_percent(score.value) if score else "",
                write_percent(score.low) if score else "",
                write_percent(score.high) if score else "",
                change_text,
                change_kind,
            )
        )
    return rows


def _rank_text(best: int, worst: int) -> str:
    return str(best) if best == worst else f"{best}-{worst}"


def _describe_change(llm_id: str, data: ReportData) -> tuple[str, str]:
    item = data.base.of_llm(llm_id) if data.base else None
    if item is None or item.overall is None:
        return "", ""
    kind = verdict(item.overall) if item.overall.is_real() else ""
    return write_signed(item.overall.difference.value), kind


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


class ChangedRow(NamedTuple):
    """Changes of one LLM."""

    name: str
    verdict: str
    kind: str
    rows: list[ChangeRow]
    lists: list[ChangedTests]
    notes: list[str]


def list_changes(data: ReportData) -> list[ChangedRow]:
    """Describe the change of each LLM, significant losses first; empty without a baseline."""
    found = [_build_change(item, data) for item in (data.base.llms if data.base else ())]
    return sorted(found, key=lambda change: _ORDER.index(change.kind))


def _build_change(item: LLMComparison, data: ReportData) -> ChangedRow:
    whole = [item.overall] if item.overall else []
    classes = item.by_class if len(item.by_class) > 1 else ()
    groups = [*whole, *classes, *item.by_change]
    edge = _find_edge(groups)
    lists = [
        ChangedTests(
            f"{title} ({len(tests)})",
            [(test.test_id, f"{test.before or 0:.2f} → {test.after or 0:.2f}") for test in tests],
        )
        for title, outcome in _LISTED
        if (tests := item.with_outcome(outcome))
    ]
    return ChangedRow(
        name=data.name(item.llm_after),
        verdict=verdict(item.overall) if item.overall else "nothing is comparable",
        kind=_choose_kind(item.overall) if item.overall else "",
        rows=[_build_row(group, edge) for group in groups],
        lists=lists,
        notes=list(_list_notes(item)),
    )


def _find_edge(groups: Sequence[ComparedGroup]) -> float:
    """Find where the scale ends on both sides of zero."""
    reach = [abs(limit) for g in groups for limit in (g.difference.low, g.difference.high)]
    return max([_LEAST_SCALE, *reach])


def _build_row(group: ComparedGroup, edge: float) -> ChangeRow:
    estimate = group.difference
    x, x_low, x_high = (
        write_percent(0.5 + limit / edge / 2)
        for limit in (estimate.value, estimate.low, estimate.high)
    )
    scope = "all" if group.class_id is None else group.class_id or "(unknown class)"
    outcomes = (ScoreChange.FIXED, ScoreChange.BROKEN, ScoreChange.BETTER, ScoreChange.WORSE)
    return ChangeRow(
        scope=f"({describe_mismatches(group.changes)})" if group.changes else scope,
        is_whole=group.class_id is None and not group.changes,
        n_tests=len(group.tests),
        before=score_text(group.mean_before),
        after=score_text(group.mean_after),
        difference=write_signed(estimate.value),
        x=x,
        x_low=x_low,
        x_high=x_high,
        p=write_p_value(group.p_adjusted),
        counts=[str(group.count(outcome) or "") for outcome in outcomes],
        kind=_choose_kind(group),
    )


def _choose_kind(group: ComparedGroup) -> str:
    return verdict(group) if group.is_real() else ""


def _list_notes(item: LLMComparison) -> Iterator[str]:
    for reasons, test_ids in item.not_comparable().items():
        n_tests = write_count(len(test_ids), "test")
        yield f"Not compared, {describe_mismatches(reasons)}: {n_tests} ({join_names(test_ids)})"
    for change, count in item.despite_changes().items():
        yield f"Compared although {change.text}: {write_count(count, 'test')}"
    if item.n_unverified:
        n_tests = write_count(item.n_unverified, "test")
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
