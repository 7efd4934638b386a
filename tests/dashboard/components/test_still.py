from __future__ import annotations

import json
from typing import Any

import dash_mantine_components as dmc
import pytest
from dash import dcc, html

from poor_bench.dashboard.components.tables import still


def trees(content: Any) -> Any:
    drawn = still(content)
    assert json.loads(json.dumps(drawn)) == drawn
    return drawn["props"]["trees"]


def test_elements_keep_their_attributes_and_texts() -> None:
    content = html.Td(["a", html.B(2, className="b", **{"aria-label": "two"})], title="<i>")
    assert trees(content) == [
        ["td", {"title": "<i>"}, "a", ["b", {"className": "b", "aria-label": "two"}, "2"]]
    ]


def test_what_is_absent_keeps_its_place() -> None:
    assert trees([None, html.P(None)]) == [None, ["p", {}, None]]
    assert still(None) is None


def test_a_link_to_a_page_becomes_one_that_the_browser_follows_without_loading() -> None:
    [link] = trees(dcc.Link("model", href="/model?llm=a", className="x"))
    assert link == ["a", {"href": "/model?llm=a", "className": "x", "data-page-link": ""}, "model"]


@pytest.mark.parametrize(
    "component",
    [html.P(id="a"), html.P(html.Button(n_clicks=0)), dmc.Button("x"), dcc.Markdown("x")],
    ids=["id", "clicks", "control", "markdown"],
)
def test_what_is_more_than_an_element_is_refused(component: Any) -> None:
    with pytest.raises(TypeError):
        still(component)


def test_links_know_the_address_that_they_were_made_for() -> None:
    assert still(html.A("x", href="?a=1"), search="?b=2")["props"]["search"] == "?b=2"
