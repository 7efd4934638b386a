"""The parts of a Markdown report that are folded up; all that is not ours stands in code spans."""

from __future__ import annotations

from collections.abc import Iterator

from poor_bench.messages import counted
from poor_bench.reports.markdown_text import code_span, details, table
from poor_bench.reports.report_data import ReportData
from poor_bench.statistics.summary import GroupBy

_LISTED = 15
_ISSUES = 8


def folded_parts(data: ReportData, by: GroupBy) -> Iterator[str]:
    """Yield what stands folded up below the scores: only what there is something to say of.

    Args:
        data: The report.
        by: What a row of the table of scores stands for.
    """
    if by is GroupBy.LLM and len(data.class_ids) > 1:
        yield details("Scores by class", _class_table(data))
    if data.reliabilities:
        yield details("Repeated trials", _reliability_table(data))
    if data.issue_groups:
        yield details("Why score is lost, and what to try", _issue_table(data))
    if data.format_taxes:
        yield details("What format alone costs", _format_tax_table(data))
    if data.failures:
        yield details("Failed to run", _failure_list(data))


def _class_table(data: ReportData) -> str:
    cells = {
        (row.group.llm_id, row.group.class_id): f"{row.score.value:.3f}"
        for row in data.summaries(GroupBy.LLM_CLASS)
        if row.score
    }
    rows = [
        [
            code_span(data.name(row.group.llm_id)),
            *(cells.get((row.group.llm_id, class_id), "") for class_id in data.class_ids),
        ]
        for row in data.summaries()
    ]
    return table(["Model", *(code_span(class_id) for class_id in data.class_ids)], rows, right=1)


def _reliability_table(data: ReportData) -> str:
    k = data.reliabilities[0].k
    rows = [
        [
            code_span(data.name(row.llm_id)),
            str(row.flip_rate.n),
            f"{row.pass_at_k.value:.3f}",
            f"{row.pass_hat_k.value:.3f}",
            f"{row.flip_rate.value:.3f}",
        ]
        for row in data.reliabilities
    ]
    return table(["Model", "Tests", f"pass@{k}", f"pass^{k}", "Flip rate"], rows, right=1)


def _issue_table(data: ReportData) -> str:
    rows = [
        [group.title, str(group.n_trials), f"{group.lost_share:.0%}", group.advice]
        for group in data.issue_groups[:_ISSUES]
    ]
    return table(["Cause", "Trials", "Of lost score", "Try"], rows)


def _format_tax_table(data: ReportData) -> str:
    rows = [
        [
            code_span(data.name(tax.llm_id)),
            code_span(tax.class_id),
            tax.mend,
            f"{tax.score:.3f}",
            f"{tax.strict_score:.3f}",
            f"{tax.tax:.3f}",
        ]
        for tax in data.format_taxes[:_LISTED]
    ]
    return table(["Model", "Class", "Try", "Score", "Strict", "Lost"], rows, right=3)


def _failure_list(data: ReportData) -> str:
    counts: dict[tuple[str, str], int] = {}
    for result in data.failures:
        assert result.failure is not None
        reason = f"{result.failure.kind.value}: {result.failure.message}"
        counts[result.llm_id, reason] = counts.get((result.llm_id, reason), 0) + 1
    lines = [
        f"- {code_span(data.name(llm_id))}, {counted(count, 'time')}: {code_span(reason)}"
        for (llm_id, reason), count in list(counts.items())[:_LISTED]
    ]
    return "\n".join(lines)
