"""Figures and tables of judged runs as components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.components.states import empty_state
from poor_bench.dashboard.components.stay_link import chip_row
from poor_bench.dashboard.components.tile import tile, tiles
from poor_bench.dashboard.pages.judge.layout import LINKS
from poor_bench.dashboard.pages.judge.selection import JudgeSelection
from poor_bench.dashboard.text.figures_text import dollars_text
from poor_bench.judge.agreement.agreement import Agreement
from poor_bench.judge.agreement.spread import Spread
from poor_bench.judge.history.comparison import RunComparison, ScoreChange
from poor_bench.judge.history.summary import CaseSummary, RunSummary
from poor_bench.judge.report.agreement_text import (
    biases_of,
    estimate_text,
    figure_text,
    trust_text,
)
from poor_bench.judge.report.wording import notes_on, spread_text, verdict_text

if TYPE_CHECKING:
    from dash.development.base_component import Component

_SHOWN_RUNS = 50
_TRUST_HEADS = (
    "Judge", "Labelled", "Alpha", "People alone", "Weighted kappa", "Kappa", "Spearman",
    "Judge minus people", "Length, people alike", "",
)  # fmt: skip


def agent_chips(agents: Mapping[str, str], chosen: str) -> Component | None:
    """Return the switches between agents; nothing where there is only one.

    Args:
        agents: Id to name.
        chosen: Id of the agent that is shown.
    """
    if len(agents) < 2:
        return None
    chips = [
        LINKS.chip(name, JudgeSelection(agent=agent_id).search, is_active=agent_id == chosen)
        for agent_id, name in agents.items()
    ]
    return chip_row("Agent", chips)


def run_tiles(summary: RunSummary) -> Component:
    """Return the figures of a run."""
    panel, run = summary.panel, summary.run
    verdict, _, _ = verdict_text(summary).partition(":")
    score = "-" if panel.overall_score is None else f"{panel.overall_score:.2f}"
    n_wanted = len(run.header.judges) * run.header.repeat
    noise = "-" if summary.noise is None else f"{summary.noise:.2f}"
    shown = [
        tile("Overall", score, f"threshold {panel.threshold:g}"),
        tile("Verdict", verdict, is_warning=not summary.is_approved),
        tile(
            "Judgements",
            f"{len(run.usable_judgements)} of {n_wanted}",
            ", ".join(run.header.judges),
        ),
        tile("Noise of the judges", noise, "difference that is chance alone"),
        tile("Cost", dollars_text(run.cost_usd), "conversations and judgements"),
    ]
    if len(panel.voters) > 1:
        apart = f"{panel.disagreement:.2f}"
        shown.insert(3, tile("Judges apart", apart, "points, highest from lowest"))
    return tiles(*shown)


def notes_list(summary: RunSummary) -> Component:
    """Return what has to be known beside the scores."""
    return html.Ul([html.Li(note) for note in notes_on(summary)], className="judge-notes")


def dimension_sheet(summary: RunSummary) -> Component:
    """Return the dimensions of one run, with the spread of each judge."""
    heads = ["Dimension", "Weight", "Score", *(item.judge for item in summary.panel.voters)]
    rows = []
    for name, score in summary.panel.scores.items():
        weight = summary.run.header.weights.get(name, 0.0)
        spreads = [member.dimensions.get(name) for member in summary.panel.voters]
        texts = ["-" if item is None else _spread(item) for item in spreads]
        rows.append(_row(name.replace("_", " "), f"{weight:g} %", f"{score:.2f}", *texts))
    return _sheet(heads, rows)


def _spread(spread: Spread) -> str:
    repeats = spread_text(spread)
    return f"{spread.mean:.2f} ({repeats})" if repeats else f"{spread.mean:.2f}"


def change_sheet(comparison: RunComparison) -> Component:
    """Return the scores of two runs; differences within the judges' noise are grey."""
    heads = ["", "Before", "After", "Change", "Noise", ""]
    changes = (*comparison.scores, *comparison.cases)
    obstacles = [html.Li(f"Not comparable: {text}") for text in comparison.obstacles]
    return html.Div(
        [
            html.Ul(obstacles, className="judge-notes") if obstacles else None,
            _sheet(heads, [_change_row(change) for change in changes]),
        ]
    )


def _change_row(change: ScoreChange) -> Component:
    floor = "unknown" if change.floor is None else f"{change.floor:.2f}"
    meaning = (
        "within the noise" if change.is_noise else ("better" if change.difference > 0 else "worse")
    )
    return _row(
        change.name.replace("_", " "),
        f"{change.before:.2f}",
        f"{change.after:.2f}",
        f"{change.difference:+.2f}",
        floor,
        meaning,
        class_name="is-noise" if change.is_noise else "",
    )


def case_sheet(
    cases: Sequence[CaseSummary], run_id: str, selection: JudgeSelection, open_case: str
) -> Component:
    """Return the cases of a run; each leads to its conversation."""
    rows = []
    for case in cases:
        talk = case.conversation
        search = selection.changed(run=run_id, case=talk.case_id).search
        passed = f"{case.n_passed} of {len(case.feedback)}" if case.feedback else "-"
        why = (
            talk.failure.message if talk.failure else case.feedback[0].text if case.feedback else ""
        )
        rules = {True: "kept", False: "broken", None: "-"}[talk.passed]
        score = "not judged" if case.score is None else f"{case.score:.2f}"
        cells = [html.Td(score, className="number"), html.Td(passed, className="number")]
        cells += [html.Td(rules), html.Td(why, className="quiet judge-why")]
        head = html.Th(LINKS.link(talk.case_id, search), scope="row")
        is_open = "is-open" if talk.case_id == open_case else None
        rows.append(html.Tr([head, *cells], className=is_open))
    return _sheet(["Case", "Score", "Passed", "Rules", "What the judge says"], rows)


def run_sheet(
    summaries: Sequence[RunSummary], selection: JudgeSelection, open_run: str
) -> Component:
    """Return runs, the newest first; each can be looked into, or compared with.

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
        compare = LINKS.link("stop comparing" if is_base else "compare with", base)
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
    return _sheet(["Run", "Agent", "LLM", "Judges", "Score", "Verdict", ""], rows)


def trust_sheet(measured: Mapping[str, Agreement]) -> Component:
    """Return how far each judge agrees with people."""
    rows = [
        _row(
            judge,
            str(item.n),
            figure_text(item.alpha),
            figure_text(item.human_alpha),
            figure_text(item.weighted_kappa),
            figure_text(item.kappa),
            estimate_text(item.spearman),
            estimate_text(item.bias),
            estimate_text(item.length_bias),
            "; ".join((trust_text(item), *biases_of(item))),
        )
        for judge, item in measured.items()
        if item.n
    ]
    if not rows:
        text = (
            "Score some conversations above, or fill in a sheet: python main.py judge labels export"
        )
        return empty_state("Nothing is labelled yet", text)
    return _sheet(_TRUST_HEADS, rows)


def _row(head: str, *cells: str, class_name: str = "") -> Component:
    """Return a row; what looks like a figure is set as one."""
    shown = [html.Td(cell, className="number" if cell[:1].isdigit() else None) for cell in cells]
    return html.Tr([html.Th(head, scope="row"), *shown], className=class_name or None)


def _sheet(heads: Sequence[str], rows: Sequence[Component]) -> Component:
    head = html.Thead(html.Tr([html.Th(text, scope="col") for text in heads]))
    table = html.Table([head, html.Tbody(list(rows))], className="sheet")
    return html.Div(table, className="sheet-frame", tabIndex="0")
