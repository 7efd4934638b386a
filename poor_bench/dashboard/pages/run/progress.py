"""A run while it goes on, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import dash_mantine_components as dmc
from dash import dcc, html
from dash.development.base_component import Component

from poor_bench import metrics
from poor_bench.command_line import next_command
from poor_bench.dashboard.components.blocks import ABSENT, aria, live_head, set_code
from poor_bench.dashboard.components.tables import row, sheet, sketch_layout
from poor_bench.dashboard.pages.run.layout import layout
from poor_bench.dashboard.services.run_state import LLMProgress, RunError, RunPhase, RunState
from poor_bench.dashboard.services.running import RunningRun
from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.start_form import PHASE_TITLES, draw_progress
from poor_bench.dashboard.text.formatting import duration_text
from poor_bench.dashboard.url_state import RunUrl, model_link
from poor_bench.messages import write_count
from poor_bench.runner.rescore import Move

_STATE_HEADS = ("Model", "Progress", "Completed", "Score", "Tokens/s", "Failed", "Time left")


def sketch(services: Services, url: RunUrl) -> Component:
    """Build plain elements of the page; below a run only once its progress is known."""
    may_run = services.runs.state().phase is not RunPhase.IDLE or bool(services.running.runs())
    sketched: Component = sketch_layout(layout(url, may_run=may_run), {})
    return sketched


def run_class(state: RunState) -> str:
    """Choose the class of the frame: whether it is there, and which buttons make sense now."""
    if state.phase is RunPhase.IDLE:
        return ABSENT
    is_ours = state.is_active and not state.is_foreign
    marks = {
        "is-active": state.is_active,
        "can-pause": is_ours and state.phase is RunPhase.RUNNING,
        "can-resume": (is_ours and state.phase is RunPhase.PAUSED) or state.can_continue,
        "can-cancel": is_ours and state.phase is not RunPhase.STOPPING,
    }
    return " ".join(["card run-card", *(mark for mark, is_true in marks.items() if is_true)])


def run_head(state: RunState) -> list[Component]:
    """Build the heading with the progress of the run."""
    return live_head(_title(state), _note(state))


def run_body(state: RunState, name_of: Callable[[str], str]) -> list[Component]:
    """Build the progress of the run by LLM, and its errors."""
    parts = (
        _message(state) if state.message else None,
        _overall(state) if state.llms else None,
        _llms(state, name_of) if state.llms else None,
        _moves(state, name_of) if state.moves else None,
        _errors(state.errors, name_of) if state.errors else None,
    )
    return [part for part in parts if part is not None]


def _message(state: RunState) -> Component:
    is_failure = state.phase is RunPhase.BROKEN
    return html.P(set_code(state.message), className="failure-box" if is_failure else "quiet")


def others_head(runs: Sequence[RunningRun]) -> list[Component]:
    """Build the heading of the runs of other kinds."""
    return live_head("Other runs", write_count(len(runs), "run"))


def _title(state: RunState) -> str:
    if state.is_foreign:
        return "Run of another process"
    n_failed = state.n_failed + state.n_skipped
    if state.phase is RunPhase.FINISHED and n_failed:
        return f"Finished: {write_count(n_failed, 'trial')} failed to run"
    if state.phase is RunPhase.FINISHED and state.n_not_rescored:
        n_kept = write_count(state.n_not_rescored, "stored response")
        return f"Finished: {n_kept} not rescored"
    return PHASE_TITLES[state.phase]


def _note(state: RunState) -> str:
    parts = [f"run {state.run_id}"] if state.run_id else []
    if state.phase is not RunPhase.INTERRUPTED:  # nobody knows how long it lasted
        parts.append(duration_text(state.elapsed_s))
    if state.is_active and state.seconds_left is not None:
        parts.append(f"about {duration_text(state.seconds_left)} left")
    if state.n_first_scored:
        first = write_count(state.n_first_scored, "stored response")
        parts.append(f"{first} newly scored")
    if state.n_rescored:
        moved = write_count(state.n_moved, "score")
        parts.append(f"{write_count(state.n_rescored, 'response')} rescored, {moved} changed")
    return " · ".join(part for part in parts if part)


def _overall(state: RunState) -> Component:
    n_failed = state.n_failed + state.n_skipped
    return html.Div(
        [
            _bar(state, n_failed),
            html.Div(
                [
                    html.Span(f"{state.n_done:,} of {write_count(state.n_items, 'trial')}"),
                    html.Span(f"{n_failed:,} failed", className="is-warning") if n_failed else None,
                ],
                className="run-overall-figures",
            ),
        ],
        className="run-overall",
    )


def _bar(state: RunState, n_failed: int) -> Component:
    """Draw scored and failed trials; the bar of a finished run is full."""
    n_scored = state.n_done - state.n_failed
    parts = [
        dmc.ProgressSection(
            value=100 * count / state.n_items,
            color=color,
            animated=state.phase is RunPhase.RUNNING,
            **aria(label=f"Progress: {count:,} {what}"),
        )
        for count, color, what in ((n_scored, None, "scored"), (n_failed, "orange", "failed"))
        if count
    ]
    bar: Component = dmc.ProgressRoot(parts, size="lg")
    return bar


def _llms(state: RunState, name_of: Callable[[str], str]) -> Component:
    rows = [_llm(llm, name_of(llm.llm_id), is_active=state.is_active) for llm in state.llms]
    return sheet(_STATE_HEADS, rows, kind="run-table")


def _llm(llm: LLMProgress, name: str, *, is_active: bool) -> Component:
    left = llm.seconds_left if is_active else None
    return row(
        [
            dcc.Link(name, href=model_link(llm.llm_id)),
            html.Span(llm.phase.value, className=f"phase phase-{llm.phase.value}"),
        ],
        [
            draw_progress(name, llm.n_done, llm.n_items),
            html.Span(llm.limits if is_active else "", className="quiet"),
        ],
        f"{llm.n_done:,} / {llm.n_items:,}",
        "-" if llm.score is None else metrics.score_text(llm.score),
        "-" if llm.tokens_per_s is None else f"{llm.tokens_per_s:,.0f}",
        html.Td(f"{llm.n_failed:,}" if llm.n_failed else "", className="is-warning"),
        duration_text(left) if left else "",
    )


def _moves(state: RunState, name_of: Callable[[str], str]) -> Component:
    """Show the scores that another evaluator changed."""
    more = state.n_moved - len(state.moves)
    return html.Div(
        [
            html.H3("Changed scores"),
            html.P(
                f"Evaluator changed. Undo: {next_command('rescore --undo')}",
                className="quiet",
            ),
            html.Ul(
                [
                    *(html.Li(_move_text(move, name_of)) for move in state.moves),
                    *([html.Li(f"and {more:,} more")] if more > 0 else []),
                ],
                className="error-list",
            ),
        ]
    )


def _move_text(move: Move, name_of: Callable[[str], str]) -> list[Component | str]:
    old = "no score" if move.old_score is None else metrics.score_text(move.old_score)
    link = dcc.Link(
        move.test_id, href=model_link(move.llm_id, text=move.test_id, test=move.test_id)
    )
    return [html.Strong(name_of(move.llm_id)), " ", link, f" {old} → {move.new_score or 0:.3f}"]


def _errors(errors: tuple[RunError, ...], name_of: Callable[[str], str]) -> Component:
    return html.Div(
        [
            html.H3("Errors"),
            html.Ul(
                [
                    html.Li(
                        [
                            html.Strong(name_of(error.llm_id)),
                            html.Span(f" {error.kind.replace('_', ' ')}: {error.message}"),
                            html.Span(f" ({_places(error)})", className="quiet"),
                        ]
                    )
                    for error in reversed(errors)
                ],
                className="error-list",
                role="log",
            ),
        ]
    )


def _places(error: RunError) -> str:
    first = f"first at {error.test_id}" if error.test_id else "still pending"
    return f"{write_count(error.n_times, 'trial')}, {first}"
