"""A short report for a pull request; all text that is not ours is in code spans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from poor_bench import metrics
from poor_bench.comparison.compare import LLMComparison
from poor_bench.comparison.compared_tests import ComparedTest, ScoreChange
from poor_bench.comparison.messages import describe_mismatches, verdict, write_change
from poor_bench.messages import write_count, write_share
from poor_bench.reports.findings import list_findings, name_ties
from poor_bench.reports.markdown_text import quote_code, write_details, write_table
from poor_bench.reports.report_data import ReportData
from poor_bench.statistics.summary import GroupBy, Summary

_LISTED = 15


def report_to_markdown(data: ReportData, by: GroupBy = GroupBy.LLM) -> str:
    """Write the report as GitHub Flavored Markdown, far below GitHub's limit for a comment.

    Args:
        data: The report.
        by: What a row of the table of scores stands for.
    """
    n_tests = len({result.test_id for result in data.results})
    n_llms = len({result.llm_id for result in data.results})
    parts = [
        f"## poor_bench: {write_count(n_llms, 'model')}, {write_count(n_tests, 'test')}",
        "\n".join(f"- {sentence}" for sentence in list_findings(data, quote_code)),
        _write_scores(data, by),
        *_list_changes(data),
        *write_folded_parts(data, by),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


_GROUP_HEADINGS = ("Model", "Class", "Level", "Tied")


def _write_scores(data: ReportData, by: GroupBy) -> str:
    letters = name_ties(data) if by is GroupBy.LLM else {}
    summaries = data.summaries(by)
    figures = [metric for metric in metrics.LEADERBOARD if metric.is_shown(summaries)]
    rows = [_score_row(summary, data, letters, figures) for summary in summaries]
    used = [name for name in rows[0] if any(row[name] for row in rows)] if rows else []
    floor = data.floor if by is GroupBy.LLM and rows else ()
    rows += [
        dict.fromkeys(rows[0], "")
        | {"Model": f"*{row.name}*", "Score": metrics.score_text(row.score)}
        for row in floor
    ]
    n_left = sum(name in _GROUP_HEADINGS for name in used)
    return write_table(used, [[row[name] for name in used] for row in rows], right=n_left)


def _score_row(
    summary: Summary, data: ReportData, letters: dict[str, str], figures: Sequence[metrics.Metric]
) -> dict[str, str]:
    """Cells by heading; a column that is empty in every row is left out."""
    group, score = summary.group, metrics.SCORE.show(summary)
    return {
        "Model": quote_code(data.name(group.llm_id)),
        "Class": quote_code(group.class_id or ""),
        "Level": str(group.level or ""),
        "Tied": letters.get(group.llm_id, ""),
        "Score": f"**{score}**" if score else "",
        "Coverage": data.write_missing(summary),
        "95 % CI": metrics.SCORE.show_interval(summary),
        "Before": _write_before(summary, data),
        **{metric.label: metric.show(summary) for metric in figures[1:]},
    }


def _write_before(summary: Summary, data: ReportData) -> str:
    """Write the baseline's score on the comparable tests, and the difference."""
    item = data.base.of_llm(summary.group.llm_id) if data.base else None
    if item is None or item.overall is None or summary.group.class_id is not None:
        return ""
    sign = {"better": " ▲", "worse": " ▼"}.get(verdict(item.overall), "")
    return (
        f"{metrics.score_text(item.overall.mean_before)} "
        f"({metrics.write_signed(item.overall.difference.value)}{sign})"
    )


def _list_changes(data: ReportData) -> Iterator[str]:
    """Yield what became of each LLM since the base; broken tests are not folded up."""
    for item in data.base.llms if data.base else ():
        lines = [*_list_outcome_lines(item), *_list_reservation_lines(item)]
        if lines:
            heading = f"**{quote_code(data.name(item.llm_after))} against the baseline**"
            yield "\n".join([heading, "", *(f"- {line}" for line in lines)])


def _list_outcome_lines(item: LLMComparison) -> Iterator[str]:
    for title, outcome in (("Broken", ScoreChange.BROKEN), ("Fixed", ScoreChange.FIXED)):
        tests = item.with_outcome(outcome)
        if tests:
            yield f"{title} ({len(tests)}): {_list_tests(tests)}"
    for group in (*([item.overall] if item.overall else []), *item.by_change):
        scope = f", {describe_mismatches(group.changes)}" if group.changes else ""
        yield f"{write_count(len(group.tests), 'test')}{scope}: {write_change(group)}"


def _list_tests(tests: Sequence[ComparedTest]) -> str:
    shown = ", ".join(
        f"{quote_code(test.test_id)} {test.before or 0:.2f} → {test.after or 0:.2f}"
        for test in tests[:_LISTED]
    )
    n_more = len(tests) - _LISTED
    return f"{shown} and {n_more} more" if n_more > 0 else shown


def _list_reservation_lines(item: LLMComparison) -> Iterator[str]:
    for reasons, test_ids in item.not_comparable().items():
        shown = ", ".join(quote_code(test_id) for test_id in test_ids[:4])
        more = ", ..." if len(test_ids) > 4 else ""
        n_tests = write_count(len(test_ids), "test")
        yield f"Not compared, {describe_mismatches(reasons)}: {n_tests} ({shown}{more})"
    for change, count in item.despite_changes().items():
        yield f"Compared although {change.text}: {write_count(count, 'test')}"


_ISSUES = 8


def write_folded_parts(data: ReportData, by: GroupBy) -> Iterator[str]:
    """Yield what stands folded up below the scores: only what there is something to say of.

    Args:
        data: The report.
        by: What a row of the table of scores stands for.
    """
    if by is GroupBy.LLM and len(data.class_ids) > 1:
        yield write_details("Scores by class", _write_class_table(data))
    if data.reliabilities:
        yield write_details("Repeated trials", _write_reliability_table(data))
    if data.issue_groups:
        yield write_details("Why score is lost, and what to try", _write_issue_table(data))
    if data.format_taxes:
        yield write_details("What format alone costs", _format_tax_table(data))
    if data.failures:
        yield write_details("Failed to run", _write_failure_list(data))


def _write_class_table(data: ReportData) -> str:
    cells = {
        (row.group.llm_id, row.group.class_id): metrics.SCORE.show(row)
        for row in data.summaries(GroupBy.LLM_CLASS)
    }
    rows = [
        [
            quote_code(data.name(row.group.llm_id)),
            *(cells.get((row.group.llm_id, class_id), "") for class_id in data.class_ids),
        ]
        for row in data.summaries()
    ]
    return write_table(
        ["Model", *(quote_code(class_id) for class_id in data.class_ids)], rows, right=1
    )


def _write_reliability_table(data: ReportData) -> str:
    k = data.reliabilities[0].k
    rows = [
        [
            quote_code(data.name(row.llm_id)),
            str(row.flip_rate.n),
            metrics.score_text(row.pass_at_k.value),
            metrics.score_text(row.pass_hat_k.value),
            metrics.score_text(row.flip_rate.value),
        ]
        for row in data.reliabilities
    ]
    return write_table(["Model", "Tests", f"pass@{k}", f"pass^{k}", "Flip rate"], rows, right=1)


def _write_issue_table(data: ReportData) -> str:
    rows = [
        [group.title, str(group.n_trials), write_share(group.lost_share), group.advice]
        for group in data.issue_groups[:_ISSUES]
    ]
    return write_table(["Cause", "Trials", "Of lost score", "Try"], rows)


def _format_tax_table(data: ReportData) -> str:
    rows = [
        [
            quote_code(data.name(tax.llm_id)),
            quote_code(tax.class_id),
            tax.fix,
            metrics.score_text(tax.score),
            metrics.score_text(tax.strict_score),
            metrics.score_text(tax.tax),
        ]
        for tax in data.format_taxes[:_LISTED]
    ]
    return write_table(["Model", "Class", "Try", "Score", "Strict", "Lost"], rows, right=3)


def _write_failure_list(data: ReportData) -> str:
    counts: dict[tuple[str, str], int] = {}
    for result in data.failures:
        assert result.failure is not None
        reason = f"{result.failure.kind.value}: {result.failure.message}"
        counts[result.llm_id, reason] = counts.get((result.llm_id, reason), 0) + 1
    lines = [
        f"- {quote_code(data.name(llm_id))}, {write_count(count, 'time')}: {quote_code(reason)}"
        for (llm_id, reason), count in list(counts.items())[:_LISTED]
    ]
    return "\n".join(lines)
