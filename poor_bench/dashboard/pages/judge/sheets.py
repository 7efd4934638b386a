"""Runs, cases, conversations and agreement with people as cards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dash import html
from dash.development.base_component import Component

from poor_bench.command_line import next_command
from poor_bench.dashboard.components.blocks import card, empty_state, tile, tiles
from poor_bench.dashboard.components.controls import chip_row
from poor_bench.dashboard.pages.judge.layout import LINKS, JudgeUrl
from poor_bench.dashboard.pages.judge.tables import (
    CORRECTED,
    TRUST,
    define_cases,
    define_changes,
    define_dimensions,
    define_runs,
    list_dimensions,
)
from poor_bench.dashboard.text.formatting import dollars_text
from poor_bench.judge.agreement import Agreement, CorrectedScore
from poor_bench.judge.corrected import NextAnswer
from poor_bench.judge.judged_run import CaseSummary, JudgeRun, RunSummary
from poor_bench.judge.prompt import LARGEST_SCORE, Turn
from poor_bench.judge.report_text import list_run_notes, write_verdict
from poor_bench.judge.run_comparison import JudgedChange, RunComparison
from poor_bench.labels.label import Label
from poor_bench.messages import write_count


def agent_chips(agents: Mapping[str, str], chosen: str) -> Component | None:
    """Build the agent switches; None for a single agent.

    Args:
        agents: Id to name.
        chosen: Id of the agent that is shown.
    """
    if len(agents) < 2:
        return None
    chips = [
        LINKS.chip(name, JudgeUrl(agent=agent_id).search, is_active=agent_id == chosen)
        for agent_id, name in agents.items()
    ]
    return chip_row("Agent", chips)


def run_tiles(summary: RunSummary) -> Component:
    """Build the tiles of a run."""
    panel, run = summary.panel, summary.run
    verdict, _, _ = write_verdict(summary).partition(":")
    score = "n/a" if panel.overall_score is None else f"{panel.overall_score:.2f}"
    n_wanted = len(run.header.judges) * run.header.repeat
    noise = "n/a" if summary.noise is None else f"{min(summary.noise, LARGEST_SCORE):.2f}"
    shown = [
        tile("Overall", score, f"threshold {panel.threshold:g}"),
        tile("Verdict", verdict, _rules_note(summary), is_warning=not summary.is_approved),
        tile(
            "Judgements",
            f"{len(run.usable_judgements)} of {n_wanted}",
            ", ".join(run.header.judges),
        ),
        tile("Noise", noise, "largest by chance"),
        tile("Cost", dollars_text(run.cost_usd), _cost_note(run)),
    ]
    if len(panel.voters) > 1:
        apart = f"{panel.disagreement:.2f}"
        shown.insert(3, tile("Spread", apart))
    return tiles(*shown)


def _rules_note(summary: RunSummary) -> str:
    return f"{write_count(summary.n_broken, 'case')} broke a rule" if summary.n_broken else ""


def _cost_note(run: JudgeRun) -> str:
    if run.cost_usd is None:
        return "no prices in llms.json"
    return "" if run.is_cost_whole else "priced models only"


def notes_list(summary: RunSummary) -> Component:
    """Build the notes of a run."""
    return html.Ul([html.Li(note) for note in list_run_notes(summary)], className="judge-notes")


def dimension_sheet(summary: RunSummary, url: JudgeUrl) -> Component:
    """Build the table of dimensions, with each judge's spread."""
    return define_dimensions(summary).draw(list_dimensions(summary), LINKS, url)


def change_sheet(comparison: RunComparison, url: JudgeUrl) -> Component:
    """Build the table of two runs; differences within noise are grey."""

    def style(change: JudgedChange) -> dict[str, str]:
        is_said = comparison.is_comparable(change) and not change.is_noise
        return {} if is_said else {"class_name": "is-noise"}

    obstacles = [html.Li(f"Not comparable: {text}") for text in comparison.obstacles]
    changes = (*comparison.scores, *comparison.cases)
    return html.Div(
        [
            html.Ul(obstacles, className="judge-notes") if obstacles else None,
            define_changes(comparison).draw(changes, LINKS, url, style=style),
        ]
    )


_SHOWN_RUNS = 50


def case_sheet(
    cases: Sequence[CaseSummary], run_id: str, url: JudgeUrl, open_case: str
) -> Component:
    """Build the table of cases, with links to conversations."""
    return define_cases(url, run_id).draw(
        cases, LINKS, url,
        style=lambda case: {"is_open": case.conversation.case_id == open_case},
    )  # fmt: skip


def run_sheet(summaries: Sequence[RunSummary], url: JudgeUrl, open_run: str) -> Component:
    """Build the table of runs.

    Args:
        summaries: In their usual order.
        url: State of the page.
        open_run: Id of the run that is shown.
    """
    return define_runs(url, open_run).draw(
        summaries, LINKS, url,
        style=lambda summary: {"is_open": summary.run.run_id == open_run}, n_shown=_SHOWN_RUNS,
    )  # fmt: skip


def trust_sheet(measured: Mapping[str, Agreement], url: JudgeUrl) -> Component:
    """Build the table of the judges' agreement with people."""
    judges = [(judge, item) for judge, item in measured.items() if item.n]
    if not judges:
        step = next_command("judge labels next")
        text = f"Score conversations, or run: {step}"
        return empty_state("No labels yet", text)
    return TRUST.draw(judges, LINKS, url)


def build_corrected_sheet(scores: Sequence[CorrectedScore], url: JudgeUrl) -> Component | None:
    """Build the table of corrected scores; None where none is known."""
    known = [score for score in scores if score.corrected is not None]
    return CORRECTED.draw(known, LINKS, url) if known else None


def case_card(case: CaseSummary, labels: Sequence[Label]) -> Component:
    """Build a conversation with all feedback.

    Args:
        case: The case.
        labels: What people gave it.
    """
    talk = case.conversation
    title = talk.case_id if case.score is None else f"{talk.case_id}: {case.score:.2f}"
    return card(
        title,
        *_remarks(case),
        html.Ol([_turn(turn) for turn in talk.turns], className="judge-turns"),
        *_feedback(case),
        *_labels(labels),
        note=f"Expected: {talk.expected_behavior}" if talk.expected_behavior else None,
    )


def next_link(drawn: NextAnswer | None, url: JudgeUrl) -> Component | None:
    """Build the link to the conversation to score next; None if all have a score.

    Args:
        drawn: That conversation.
        url: State of the page.
    """
    if drawn is None:
        return None
    answer = drawn.answer
    search = url.change(agent=answer.agent_id, run=answer.run_id, case=answer.case_id).search
    return html.P(["Score next: ", LINKS.link(f"{answer.case_id}, {answer.llm_id}", search)])


def _remarks(case: CaseSummary) -> Iterator[Component]:
    failure = case.conversation.failure
    if failure is not None:
        yield html.P(f"Stopped early: {failure.message}", className="judge-broken")
    for rule in case.conversation.broken_rules:
        yield html.P(f"broke a rule: {rule}", className="judge-broken")


def _turn(turn: Turn) -> Component:
    return html.Li(
        [html.Span(turn.speaker, className="judge-who"), html.Div(turn.text or "(no text)")],
        className=f"judge-turn is-{turn.speaker}",
    )


def _feedback(case: CaseSummary) -> Iterator[Component]:
    if case.feedback:
        yield html.H3("Judges")
    for item in case.feedback:
        passed = "passed" if item.passed else "not passed"
        yield html.P(
            [
                html.Strong(f"{item.score:.1f}"),
                html.Span(f" {item.judge}, {passed}: ", className="quiet"),
                item.text,
            ],
            className="judge-feedback",
        )


def _labels(labels: Sequence[Label]) -> Iterator[Component]:
    if labels:
        yield html.H3("People")
    for label in labels:
        score = html.Strong(f"{label.score:.1f}")
        ending = ": " if label.note else ""
        who = html.Span(f" {label.who}{ending}", className="quiet")
        yield html.P([score, who, label.note], className="judge-feedback")
