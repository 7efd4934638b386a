"""The plan before a run starts, and trials that failed to run."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dash import dcc, html

from poor_bench.dashboard.components.blocks import (
    empty_state,
    live_head,
    tile,
    tiles,
    warning_banner,
)
from poor_bench.dashboard.components.tables import row, sheet
from poor_bench.dashboard.text.formatting import dollars_text, seconds_text
from poor_bench.dashboard.url_state import model_link
from poor_bench.messages import write_count
from poor_bench.sandbox import SandboxTerms, describe_weakness

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dash.development.base_component import Component

    from poor_bench.config.load import Workspace
    from poor_bench.dashboard.services.run_plans import LLMPreview, RunPreview
    from poor_bench.dashboard.services.stored_results import FailureGroup


_UNKNOWN = "unknown"
_HEADS = ("Model", "Trials", "Failed before", "To rescore", "Estimated time", "Estimated cost")


def preview(planned: RunPreview, name_of: Callable[[str], str]) -> Component:
    """Show the planned trials, time and cost, in total and by LLM."""
    if not planned.llms:
        in_batch = write_count(planned.n_in_batch, "trial")
        return empty_state(
            "Nothing is pending for this selection",
            f"{in_batch} in a batch. Collect the answers with `run` or `status` in the console."
            if planned.n_in_batch
            else "Change the selection, enable a model, or re-run completed tests.",
        )
    cells = [_cells(llm, name_of(llm.llm_id)) for llm in planned.llms]
    shown = [column for column in range(len(_HEADS)) if any(each[column] for each in cells)]
    rows = [row(*(each[column] for column in shown)) for each in cells]
    return html.Div(
        [
            tiles(
                tile("Trials", f"{planned.n_items:,}", _write_trials_note(planned)),
                tile("Estimated time", *_total_time(planned)),
                tile("Estimated cost", *_total_cost(planned)),
            ),
            sheet([_HEADS[column] for column in shown], rows, kind="run-table"),
        ],
        className="page-body",
    )


def preview_rows(planned: RunPreview) -> list[dict[str, Any]]:
    """Return a row for each LLM of a plan; what is not known is None."""
    return [asdict(llm) for llm in planned.llms]


def nothing_to_run(workspace: Workspace) -> Component | None:
    """Say what the workspace lacks to run anything; None if it lacks nothing."""
    if not workspace.tests:
        return empty_state("No tests yet", "Add tests to tests.json, or import a benchmark.")
    if not workspace.llms:
        link = dcc.Link("Add a model", href="/llms", className="button-link")
        return empty_state("No models yet", "Add a model to llms.json to run the tests.", link)
    return None


def sandbox_warning(terms: SandboxTerms) -> Component | None:
    """Warn of a weak sandbox, with what to do about it; None if it isolates code."""
    if terms.is_refused:
        return warning_banner(
            "Code of models is not run",
            f"{_sentence(terms.refusal)} Other tests run if you select only those.",
            _sentence(terms.fix),
        )
    if weakness := describe_weakness(terms.status):
        return warning_banner(
            "Code of models is not isolated",
            _sentence(weakness),
            "You accepted this level with `--sandbox` or in config.yaml. To isolate code, run in a "
            "container on Linux (see docs/security.md).",
        )
    return None


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def run_is_under_way() -> Component:
    """Build the notice that replaces the plan during a run."""
    return html.P("The plan is updated when the current run ends.", className="quiet")


def _cells(llm: LLMPreview, name: str) -> tuple[str, ...]:
    return (
        name,
        f"{llm.n_items:,}",
        f"{llm.n_failed:,}" if llm.n_failed else "",
        f"{llm.n_rescored:,}" if llm.n_rescored else "",
        _time(llm.seconds),
        _cost(llm.cost_usd),
    )


def _write_trials_note(planned: RunPreview) -> str:
    rescored = write_count(planned.n_rescored, "response")
    note = f"and {rescored} to rescore" if planned.n_rescored else "to run"
    return f"{note}; {planned.n_in_batch:,} in a batch" if planned.n_in_batch else note


def _total_time(planned: RunPreview) -> tuple[str, str]:
    note = f"unknown for {write_count(planned.n_untimed, 'model')}" if planned.n_untimed else ""
    return _and_more(_time(planned.seconds), note), note or "based on stored times"


def _total_cost(planned: RunPreview) -> tuple[str, str]:
    unpriced = write_count(planned.n_unpriced, "model")
    note = f"unknown for {unpriced}: no prices in llms.json" if planned.n_unpriced else ""
    return _and_more(
        _cost(planned.cost_usd), note
    ), note or "at the prices of llms.json, with judging"


def _and_more(text: str, what_is_missing: str) -> str:
    return f"{text} and more" if what_is_missing and text != _UNKNOWN else text


def _time(seconds: float | None) -> str:
    return _UNKNOWN if seconds is None else seconds_text(seconds) if seconds else "-"


def _cost(dollars: float | None) -> str:
    return _UNKNOWN if dollars is None else dollars_text(dollars)


_SHOWN = 30


def failures_head(groups: Sequence[FailureGroup]) -> list[Component]:
    """Count the trials that failed to run."""
    n_failed = sum(len(group.trials) for group in groups if not group.has_score)
    n_newer = sum(len(group.trials) for group in groups if group.has_score)
    said = []
    if n_failed:
        failed = write_count(n_failed, "trial")
        said.append(f"{failed} without a score; excluded from all figures, still pending.")
    if n_newer:
        said.append(f"{write_count(n_newer, 'newer attempt')} of scored trials; the scores count.")
    return live_head("Failed to run", " ".join(said))


def failures_table(groups: Sequence[FailureGroup], name_of: Callable[[str], str]) -> Component:
    """Build the table of what failed to run, by LLM and reason."""
    rows = [
        row(
            dcc.Link(name_of(group.llm_id), href=model_link(group.llm_id, outcome="failed_to_run")),
            f"{group.kind.value.replace('_', ' ')}{', newer attempt' if group.has_score else ''}",
            f"{len(group.trials):,}",
            html.Td(group.message, className="message-cell"),
        )
        for group in groups[:_SHOWN]
    ]
    return sheet(("Model", "Reason", "Trials", "First message"), rows, kind="run-table is-text")


def failure_rows(groups: Sequence[FailureGroup]) -> list[dict[str, Any]]:
    """Return a row for each trial that failed to run."""
    return [
        {
            "model": group.llm_id,
            "reason": group.kind.value,
            "test": trial.test_id,
            "trial": trial.number,
            "first_message": group.message,
        }
        for group in groups
        for trial in group.trials
    ]
