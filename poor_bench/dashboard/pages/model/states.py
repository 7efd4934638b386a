"""What the page says where there is nothing to read, or something to know before reading."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import dcc, html

from poor_bench.dashboard.components.blocks import empty_state, no_results
from poor_bench.dashboard.url_state import Redo, run_link
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.models.llm import LLM
    from poor_bench.statistics.summary import Summary


def no_results_at_all() -> Component:
    """Build what the page shows before the first run."""
    return no_results("Run the tests to read every result here.")


def tell_no_results(name: str, llm: LLM | None, llm_id: str) -> Component:
    """Build what the page shows of a model that was never run.

    Args:
        name: Name of the model on screens.
        llm: Its entry in llms.json, if it has one.
        llm_id: Its id.
    """
    if llm is not None and not llm.enabled:
        text = f"{name} is disabled and has no results. Enable it on the page Models, then run it."
        return empty_state("Disabled model", text, _button("Go to models", "/llms"))
    text = f"{name} has no results yet. Run its tests to read them here."
    return empty_state("No results yet", text, _button("Run tests", run_link(llm_ids=[llm_id])))


def no_match() -> Component:
    """Build what stands in the place of a chart where the filters find nothing."""
    return empty_state(
        "No results", "No result matches these filters. Remove a filter to see more."
    )


def notes_before_reading(
    llm_id: str, llm: LLM | None, summary: Summary | None, reason: str = ""
) -> list[Component]:
    """List what a reader must know before reading the figures of a model.

    Args:
        llm_id: Its id.
        llm: Its entry in llms.json, if it still has one.
        summary: Of all its results of tests in the workspace; None without any.
        reason: Message of a failure.
    """
    notes = []
    if llm is None:
        notes.append(
            _note("Removed model", "It is not in llms.json. Its results are still stored.")
        )
    elif not llm.enabled:
        text = "Runs skip this model. Enable it to run its tests again."
        notes.append(_note("Disabled model", text, _link("Go to models", "/llms")))
    if summary is None:
        text = "All results are of removed tests (not in tests.json). No figure includes them."
        notes.append(_note("No current results", text))
    elif not summary.n_scored:
        text = f"{write_count(summary.n_failed, 'trial')}, all failed to run. {_sentence(reason)}"
        link = _link("Retry them", run_link(llm_ids=[llm_id], redo=Redo.FAILED))
        notes.append(_note("No scores yet", f"{text}Fix the cause, then retry.", link))
    elif summary.n_stale == summary.n_scored:
        text = f"{write_count(summary.n_scored, 'score')}, all stale: the prompt, the parameters, "
        text += "the evaluator or the model changed since."
        link = _link("Re-run these", run_link(llm_ids=[llm_id], redo=Redo.STALE))
        notes.append(_note("Stale scores only", text, link))
    return notes


_LONGEST_REASON = 160


def _sentence(reason: str) -> str:
    line = " ".join(reason.split())[:_LONGEST_REASON]
    return f"First failure: {line.rstrip('.')}. " if line else ""


def _note(title: str, text: str, link: Component | None = None) -> Component:
    return html.P([html.Strong(f"{title}. "), text, " ", link], className="model-note")


def _link(text: str, href: str) -> Component:
    return dcc.Link(text, href=href)


def _button(text: str, href: str) -> Component:
    return dcc.Link(text, href=href, className="button-link")
