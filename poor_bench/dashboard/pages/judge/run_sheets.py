"""Tables to choose a case or a run from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.pages.judge.layout import LINKS
from poor_bench.dashboard.pages.judge.selection import JudgeSelection
from poor_bench.dashboard.pages.judge.sheet import sheet
from poor_bench.judge.history.summary import CaseSummary, RunSummary
from poor_bench.judge.report.wording import verdict_text

if TYPE_CHECKING:
    from dash.development.base_component import Component

_SHOWN_RUNS = 50


def case_sheet(
    cases: Sequence[CaseSummary], run_id: str, selection: JudgeSelection, open_case: str
) -> Component:
    """Build the table of cases, with links to conversations."""
    rows = []
    for case in cases:
        talk = case.conversation
        search = selection.changed(run=run_id, case=talk.case_id).search
        passed = f"{case.n_passed} of {len(case.feedback)}" if case.feedback else "-"
        why = (
            talk.failure.message if talk.failure else case.feedback[0].text if case.feedback else ""
        )
        rules = {True: "met", False: "broken", None: "-"}[talk.passed]
        score = "not judged" if case.score is None else f"{case.score:.2f}"
        cells = [html.Td(score, className="number"), html.Td(passed, className="number")]
        cells += [html.Td(rules), html.Td(why, className="quiet judge-why")]
        head = html.Th(LINKS.link(talk.case_id, search), scope="row")
        is_open = "is-open" if talk.case_id == open_case else None
        rows.append(html.Tr([head, *cells], className=is_open))
    return sheet(["Case", "Score", "Passed", "Rules", "Feedback"], rows)


def run_sheet(
    summaries: Sequence[RunSummary], selection: JudgeSelection, open_run: str
) -> Component:
    """Build the table of runs, newest first.

    Args:
        summaries: Oldest first.
        selection: What the page shows now.
        open_run: The run that is looked into.
    """
    rows = []
    for summary in reversed(summaries[-_SHOWN_RUNS:]):
        header, run_id = summary.run.header, summary.run.run_id
        look = selection.changed(agent=header.agent_id, run=run_id, base="").search
        is_base = run_id == selection.base
        base = selection.changed(run=open_run, base="" if is_base else run_id).search
        score = summary.panel.overall_score
        compare = LINKS.link("clear baseline" if is_base else "set as baseline", base)
        cells = [
            html.Th(
                LINKS.link(header.started[:16].replace("T", " "), look, title=run_id), scope="row"
            ),
            html.Td(header.agent_name),
            html.Td(header.llm_id),
            html.Td(", ".join(header.judges)),
            html.Td("-" if score is None else f"{score:.2f}", className="number"),
            html.Td(verdict_text(summary).partition(":")[0]),
            html.Td(None if run_id == open_run else compare),
        ]
        rows.append(html.Tr(cells, className="is-open" if run_id == open_run else None))
    return sheet(["Run", "Agent", "Model", "Judges", "Score", "Verdict", "Compare"], rows)
