"""Runs of agents as one self-contained HTML page: no script, no request, all text escaped."""

from __future__ import annotations

from collections.abc import Sequence

from poor_bench import __version__
from poor_bench.judge.history.summary import RunSummary
from poor_bench.judge.report.radar import radar
from poor_bench.judge.report.wording import notes_on, run_cost_text, spread_text, verdict_text
from poor_bench.reports.html.page import content_security_policy, report_environment


def runs_to_html(summaries: Sequence[RunSummary], created: str) -> str:
    """Render a page for one or several runs.

    Args:
        summaries: At least one; the chart lays them over one another.
        created: When the page is made, ISO 8601, UTC.
    """
    environment = report_environment(
        "poor_bench.judge.report", spread=spread_text, cost=run_cost_text
    )
    style = environment.get_template("judge_report.css").render().strip()
    names = list(dict.fromkeys(summary.run.header.agent_name for summary in summaries))
    return environment.get_template("judge_report.html").render(
        title=" and ".join(names),
        created=created,
        version=__version__,
        style=style,
        policy=content_security_policy(style, ""),
        radar=radar([(_label(summary), summary.panel.scores) for summary in summaries]),
        runs=[(summary, verdict_text(summary), notes_on(summary)) for summary in summaries],
    )


def _label(summary: RunSummary) -> str:
    header = summary.run.header
    return f"{header.agent_name} ({header.llm_id}), {header.started[:16].replace('T', ' ')}"
