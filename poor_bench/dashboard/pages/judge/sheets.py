"""Figures and scores of judged runs as components."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.components.stay_link import chip_row
from poor_bench.dashboard.components.tile import tile, tiles
from poor_bench.dashboard.pages.judge.layout import LINKS
from poor_bench.dashboard.pages.judge.selection import JudgeSelection
from poor_bench.dashboard.pages.judge.sheet import row, sheet
from poor_bench.dashboard.text.figures_text import dollars_text
from poor_bench.judge.agreement.spread import Spread
from poor_bench.judge.history.comparison import RunComparison, ScoreChange
from poor_bench.judge.history.judge_run import JudgeRun
from poor_bench.judge.history.summary import RunSummary
from poor_bench.judge.report.wording import change_text, notes_on, spread_text, verdict_text
from poor_bench.judge.verdict_schema import LARGEST_SCORE
from poor_bench.messages import counted

if TYPE_CHECKING:
    from dash.development.base_component import Component


def agent_chips(agents: Mapping[str, str], chosen: str) -> Component | None:
    """Build the agent switches; None for a single agent.

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
    """Build the tiles of a run."""
    panel, run = summary.panel, summary.run
    verdict, _, _ = verdict_text(summary).partition(":")
    score = "-" if panel.overall_score is None else f"{panel.overall_score:.2f}"
    n_wanted = len(run.header.judges) * run.header.repeat
    noise = "-" if summary.noise is None else f"{min(summary.noise, LARGEST_SCORE):.2f}"
    shown = [
        tile("Overall", score, f"threshold {panel.threshold:g}"),
        tile("Verdict", verdict, _rules_note(summary), is_warning=not summary.is_approved),
        tile(
            "Judgements",
            f"{len(run.usable_judgements)} of {n_wanted}",
            ", ".join(run.header.judges),
        ),
        tile("Judge noise", noise, "largest difference by chance"),
        tile("Cost", dollars_text(run.cost_usd), _cost_note(run)),
    ]
    if len(panel.voters) > 1:
        apart = f"{panel.disagreement:.2f}"
        shown.insert(3, tile("Judge spread", apart, "points, highest minus lowest"))
    return tiles(*shown)


def _rules_note(summary: RunSummary) -> str:
    return f"{counted(summary.n_broken, 'case')} broke a rule" if summary.n_broken else ""


def _cost_note(run: JudgeRun) -> str:
    if run.cost_usd is None:
        return "no prices in llms.json"
    return (
        "conversations and judgements"
        if run.is_cost_whole
        else "without models that have no prices"
    )


def notes_list(summary: RunSummary) -> Component:
    """Build the notes of a run."""
    return html.Ul([html.Li(note) for note in notes_on(summary)], className="judge-notes")


def dimension_sheet(summary: RunSummary) -> Component:
    """Build the table of dimensions, with each judge's spread."""
    heads = ["Dimension", "Weight", "Score", *(item.judge for item in summary.panel.voters)]
    rows = []
    for name, score in summary.panel.scores.items():
        weight = summary.run.header.weights.get(name, 0.0)
        spreads = [member.dimensions.get(name) for member in summary.panel.voters]
        texts = ["-" if item is None else _spread(item) for item in spreads]
        rows.append(row(name.replace("_", " "), f"{weight:g} %", f"{score:.2f}", *texts))
    return sheet(heads, rows)


def _spread(spread: Spread) -> str:
    repeats = spread_text(spread)
    return f"{spread.mean:.2f} ({repeats})" if repeats else f"{spread.mean:.2f}"


def change_sheet(comparison: RunComparison) -> Component:
    """Build the table of two runs; differences within noise are grey."""
    heads = ["What", "Before", "After", "Change", "Noise", "Meaning"]
    changes = (*comparison.scores, *comparison.cases)
    obstacles = [html.Li(f"Not comparable: {text}") for text in comparison.obstacles]
    return html.Div(
        [
            html.Ul(obstacles, className="judge-notes") if obstacles else None,
            sheet(heads, [_change_row(comparison, change) for change in changes]),
        ]
    )


def _change_row(comparison: RunComparison, change: ScoreChange) -> Component:
    floor = "unknown" if change.floor is None else f"{change.floor:.2f}"
    is_said = comparison.is_comparable(change) and not change.is_noise
    return row(
        change.name.replace("_", " "),
        f"{change.before:.2f}",
        f"{change.after:.2f}",
        f"{change.difference:+.2f}",
        floor,
        change_text(comparison, change),
        class_name="" if is_said else "is-noise",
    )
