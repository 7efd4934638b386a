"""What can be done next with an open result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import dcc, html

from poor_bench.dashboard.components.blocks import aria, data
from poor_bench.dashboard.result_panel.addresses import curl_address
from poor_bench.dashboard.url_state import Redo, compare_link, edit_test_link, result_link, run_link

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.panel_results import PanelResult

_COMPARED = 2


def build_links(panel: PanelResult) -> Component:
    """Link to where the next question is answered: compare, edit, re-run, copy."""
    result, key = panel.details.result, panel.key
    others = list(dict.fromkeys(each.llm_id for each in panel.others))[:_COMPARED]
    own = result_link(result.llm_id, key.test_id, trial=key.trial, is_failure=key.is_failure)
    rerun = run_link(llm_ids=[result.llm_id], tests=[key.test_id], redo=Redo.ALL)
    is_known = bool(panel.details.class_id)
    return html.Nav(
        [
            dcc.Link("Compare", href=compare_link([result.llm_id, *others], test=key.test_id))
            if others
            else None,
            dcc.Link("Edit test", href=edit_test_link(key.test_id)) if is_known else None,
            dcc.Link("Re-run", href=rerun, title="Opens the page Run; nothing starts yet.")
            if is_known
            else None,
            _copy_button("Copy link", copy_link=own),
            _copy_button("Copy as cURL", _CURL, copy_from=curl_address(result))
            if panel.details.prompt and panel.is_http
            else None,
        ],
        className="panel-links",
        **aria(label="This result"),
    )


_CURL = "The stored prompt with the model's present parameters; keys stay $VARIABLES."


def _copy_button(text: str, title: str | None = None, **what: str) -> Component:
    return html.Button(text, type="button", title=title, className="quiet-button", **data(**what))
