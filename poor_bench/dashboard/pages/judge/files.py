"""The tables of the page as files."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from poor_bench.dashboard.pages.judge.layout import JudgeUrl, chosen_run, run_with_id
from poor_bench.dashboard.table_files import TableFile, table_file
from poor_bench.judge.report_text import change_text, verdict_text

if TYPE_CHECKING:
    from poor_bench.dashboard.services.services import Services
    from poor_bench.judge.judged_run import CaseSummary, RunSummary


def scores_csv(services: Services, search: str | None) -> TableFile:
    """Export the scores of the open run and its baseline."""
    summaries, url = services.judged.summaries(), JudgeUrl.read(search)
    summary, base = chosen_run(summaries, url), run_with_id(summaries, url.base)
    rows: list[dict[str, Any]] = []
    if summary is not None and base is not None:
        comparison = services.judged.comparison(base, summary)
        rows = [
            {
                "name": change.name,
                "before": change.before,
                "after": change.after,
                "noise": change.floor,
                "is_noise": change.is_noise,
                "meaning": change_text(comparison, change),
            }
            for change in (*comparison.scores, *comparison.cases)
        ]
    elif summary is not None:
        rows = [_dimension_row(summary, name) for name in summary.panel.scores]
    return table_file("judge_scores", rows)


def cases_csv(services: Services, search: str | None) -> TableFile:
    """Export the cases of the open run, with feedback."""
    summary = chosen_run(services.judged.summaries(), JudgeUrl.read(search))
    rows = [_case_row(case) for case in summary.cases] if summary else []
    return table_file("judge_cases", rows)


def runs_csv(services: Services, _search: str | None) -> TableFile:
    """Export all runs, oldest first."""
    rows = [_run_csv_row(summary) for summary in services.judged.summaries()]
    return table_file("judge_runs", rows)


def trust_csv(services: Services, _search: str | None) -> TableFile:
    """Write a CSV file with the agreement of each judge with people."""
    rows = []
    for judge, agreement in services.judged.agreement().items():
        row: dict[str, Any] = {"judge": judge}
        for name, value in asdict(agreement).items():
            row |= (
                {f"{name}_{part}": each for part, each in value.items()}
                if isinstance(value, dict)
                else {name: value}
            )
        rows.append(row)
    columns = dict.fromkeys(name for row in rows for name in row)
    return table_file("judge_trust", [{name: row.get(name) for name in columns} for row in rows])


def _dimension_row(summary: RunSummary, name: str) -> dict[str, Any]:
    row: dict[str, Any] = {
        "dimension": name,
        "weight": summary.run.header.weights.get(name, 0.0),
        "score": summary.panel.scores[name],
    }
    for member in summary.panel.voters:
        spread = member.dimensions.get(name)
        row[member.judge] = spread.mean if spread else None
    return row


def _case_row(case: CaseSummary) -> dict[str, Any]:
    talk = case.conversation
    return {
        "case": talk.case_id,
        "score": case.score,
        "passed": case.n_passed,
        "judgements": len(case.feedback),
        "rules_kept": talk.passed,
        "failure": talk.failure.message if talk.failure else "",
        "judges_say": " | ".join(item.text for item in case.feedback),
    }


def _run_csv_row(summary: RunSummary) -> dict[str, Any]:
    header = summary.run.header
    return {
        "run": header.run_id,
        "started": header.started,
        "agent": header.agent_id,
        "llm": header.llm_id,
        "judges": ", ".join(header.judges),
        "score": summary.panel.overall_score,
        "threshold": summary.panel.threshold,
        "noise": summary.noise,
        "verdict": verdict_text(summary),
        "cost_usd": summary.run.cost_usd,
    }
