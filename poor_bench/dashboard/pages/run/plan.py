"""The plan before a run starts, and trials that failed to run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dash import dcc, html
from dash.development.base_component import Component

from poor_bench.config.load import Workspace
from poor_bench.dashboard.components.blocks import (
    empty_state,
    live_head,
    tile,
    tiles,
    warning_banner,
)
from poor_bench.dashboard.components.sheets import SheetColumn, SheetTable
from poor_bench.dashboard.pages.run.layout import LINKS
from poor_bench.dashboard.services.run_plans import LLMPreview, RunPreview
from poor_bench.dashboard.services.stored_results import FailureGroup
from poor_bench.dashboard.text.formatting import MISSING, dollars_text, seconds_text
from poor_bench.dashboard.url_state import RunUrl, model_link
from poor_bench.messages import write_count
from poor_bench.sandbox import SandboxTerms, describe_weakness

NO_CHOICE = RunUrl()
NameOf = Callable[[str], str]


def preview(planned: RunPreview, name_of: NameOf, url: RunUrl | None = None) -> Component:
    """Show the planned trials, time and cost, in total and by LLM.

    Args:
        planned: The plan.
        name_of: LLM id to what screens call it.
        url: State of the page; None where nothing can be chosen.
    """
    if not planned.llms:
        in_batch = write_count(planned.n_in_batch, "trial")
        return empty_state(
            "Nothing is pending",
            f"{in_batch} in a batch."
            if planned.n_in_batch
            else "Change the selection or enable a model.",
        )
    table, links = define_plan(name_of), LINKS if url is not None else None
    return html.Div(
        [
            tiles(
                tile("Trials", f"{planned.n_items:,}", _write_trials_note(planned)),
                tile("Estimated time", *_total_time(planned)),
                tile("Estimated cost", *_total_cost(planned)),
                *_batch_tiles(planned),
            ),
            table.draw(planned.llms, links, url or NO_CHOICE, kind="run-table"),
        ],
        className="page-body",
    )


def define_plan(name_of: NameOf) -> SheetTable[LLMPreview]:
    """Define the table of a plan; what is not known is None."""
    return SheetTable(
        name="plan",
        label="Plan",
        kept=[("Model ID", lambda llm: llm.llm_id)],
        columns=[
            SheetColumn(field="model", heading="Model", value=lambda llm: name_of(llm.llm_id)),
            SheetColumn(field="trials", heading="Trials", value=lambda llm: llm.n_items,
                        cell=lambda llm: f"{llm.n_items:,}"),
            _count("failed", "Failed", lambda llm: llm.n_failed),
            _count("rescore", "To rescore", lambda llm: llm.n_rescored),
            SheetColumn(field="time", heading="Estimated time", value=lambda llm: llm.seconds,
                        cell=lambda llm: _time(llm.seconds), file_heading="Time (s)"),
            SheetColumn(field="cost", heading="Estimated cost", value=lambda llm: llm.cost_usd,
                        cell=lambda llm: dollars_text(llm.cost_usd), file_heading="Cost (US$)"),
        ],
    )  # fmt: skip


def _count(field: str, heading: str, read: Callable[[LLMPreview], int]) -> SheetColumn[LLMPreview]:
    """Define a column that is shown where a count is not 0."""
    return SheetColumn(
        field=field, heading=heading, value=lambda llm: read(llm) or None,
        cell=lambda llm: f"{read(llm):,}" if read(llm) else "", is_optional=True,
    )  # fmt: skip


def nothing_to_run(workspace: Workspace) -> Component | None:
    """Say what the workspace lacks to run anything; None if it lacks nothing."""
    if not workspace.tests:
        return empty_state("No tests yet", "Add tests to tests.json.")
    if not workspace.llms:
        link = dcc.Link("Add model", href="/llms", className="button-link")
        return empty_state("No models yet", "", link)
    return None


def sandbox_warning(terms: SandboxTerms) -> Component | None:
    """Warn of a weak sandbox, with what to do about it; None if it isolates code."""
    if terms.is_refused:
        return warning_banner(
            "Model code is not run",
            f"{_sentence(terms.refusal)} Select only other tests.",
            _sentence(terms.fix),
        )
    if weakness := describe_weakness(terms.status):
        return warning_banner(
            "Model code is not isolated",
            _sentence(weakness),
            "See docs/security.md.",
        )
    return None


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def run_is_under_way() -> Component:
    """Build the notice that replaces the plan during a run."""
    return html.P("Another run is in progress.", className="quiet")


def _write_trials_note(planned: RunPreview) -> str:
    rescored = write_count(planned.n_rescored, "response")
    note = f"and {rescored} to rescore" if planned.n_rescored else ""
    batch = f"{planned.n_in_batch:,} in a batch" if planned.n_in_batch else ""
    return "; ".join(filter(None, (note, batch)))


def _total_time(planned: RunPreview) -> tuple[str, str]:
    if not planned.n_items:
        return "-", "no requests"
    note = f"unknown for {write_count(planned.n_untimed, 'model')}" if planned.n_untimed else ""
    return _and_more(_time(planned.seconds), note), note or "by stored times"


def _total_cost(planned: RunPreview) -> tuple[str, str]:
    unpriced = write_count(planned.n_unpriced, "model")
    note = f"{unpriced}: no prices in llms.json" if planned.n_unpriced else ""
    return _and_more(dollars_text(planned.cost_usd), note), note or "judging included"


def _batch_tiles(planned: RunPreview) -> list[Component]:
    """Show the price of a batch beside the live price of the same trials."""
    if planned.batch is None:
        return []
    trials = write_count(planned.batch.n_trials, "trial")
    if not planned.batch.live_usd:
        return [tile("As a batch", MISSING, f"{trials}: no prices in llms.json")]
    price, live = dollars_text(planned.batch.batch_usd), dollars_text(planned.batch.live_usd)
    return [tile("As a batch", price, f"{trials}, {live} live")]


def _and_more(text: str, what_is_missing: str) -> str:
    return f"{text}, and more" if what_is_missing and text != MISSING else text


def _time(seconds: float | None) -> str:
    return MISSING if seconds is None else seconds_text(seconds) if seconds else "-"


_SHOWN = 30


def failures_head(groups: Sequence[FailureGroup]) -> list[Component]:
    """Count the trials that failed to run."""
    n_failed = sum(len(group.trials) for group in groups if not group.has_score)
    n_newer = sum(len(group.trials) for group in groups if group.has_score)
    said = []
    if n_failed:
        failed = write_count(n_failed, "trial")
        said.append(f"{failed} still pending.")
    if n_newer:
        said.append(f"{write_count(n_newer, 'newer attempt')} of scored trials.")
    return live_head("Failed to run", " ".join(said))


def define_failures(name_of: NameOf) -> SheetTable[FailureGroup]:
    """Define the table of what failed to run, by LLM and reason."""

    def link(group: FailureGroup) -> Component:
        href = model_link(group.llm_id, outcome="failed_to_run")
        return dcc.Link(name_of(group.llm_id), href=href)

    return SheetTable(
        name="failures",
        label="Failed to run",
        columns=[
            SheetColumn(field="model", heading="Model", value=lambda group: name_of(group.llm_id),
                        cell=link),
            SheetColumn(field="reason", heading="Reason", value=_write_reason),
            SheetColumn(field="trials", heading="Trials", value=lambda group: len(group.trials),
                        cell=lambda group: f"{len(group.trials):,}"),
            SheetColumn(field="message", heading="First message", value=lambda group: group.message,
                        cell=lambda group: html.Td(group.message, className="message-cell")),
        ],
    )  # fmt: skip


def failures_table(groups: Sequence[FailureGroup], name_of: NameOf, url: RunUrl) -> Component:
    """Build the table of what failed to run."""
    table = define_failures(name_of)
    return table.draw(groups, LINKS, url, kind="run-table is-text", n_shown=_SHOWN)


def _write_reason(group: FailureGroup) -> str:
    newer = ", newer attempt" if group.has_score else ""
    return f"{group.kind.value.replace('_', ' ')}{newer}"


FAILURE_COLUMNS = (
    ("llm_id", "Model ID"), ("model", "Model"), ("reason", "Reason"), ("test", "Test ID"),
    ("trial", "Trial"), ("message", "First message"),
)  # fmt: skip


def failure_rows(groups: Sequence[FailureGroup], name_of: NameOf) -> list[dict[str, Any]]:
    """Yield a row for each trial that failed to run."""
    return [
        {
            "llm_id": group.llm_id,
            "model": name_of(group.llm_id),
            "reason": _write_reason(group),
            "test": trial.test_id,
            "trial": trial.number,
            "message": group.message,
        }
        for group in groups
        for trial in group.trials
    ]
