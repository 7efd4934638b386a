from __future__ import annotations

from html.parser import HTMLParser

import pytest
from dash import dcc, html
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.dashboard.components.plain_html import write_html
from poor_bench.messages import harmless


class Seen(HTMLParser):
    """What a browser finds in HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@given(text=st.text(), title=st.text(st.characters(blacklist_categories=["Cs"])))
def test_no_text_becomes_an_element(text: str, title: str) -> None:
    seen = Seen(write_html(html.P([html.B(text), "end"], title=title)))
    assert [tag for tag, _ in seen.tags] == ["p", "b"]
    assert seen.tags[0][1] == {"title": title}
    assert seen.text == f"{harmless(text)}end"


def test_attributes_have_their_names_of_html() -> None:
    cell = html.Td("x", className="number", colSpan=2, tabIndex="0", title=None, hidden=False)
    [(tag, attributes)] = Seen(write_html(cell)).tags
    assert (tag, attributes) == ("td", {"class": "number", "colspan": "2", "tabindex": "0"})


def test_a_link_to_a_page_is_a_link() -> None:
    [(tag, attributes)] = Seen(write_html(dcc.Link("Run", href="/run?a=1&b=2"))).tags
    assert tag == "a"
    assert attributes["href"] == "/run?a=1&b=2"


def test_a_style_is_css() -> None:
    [(_, attributes)] = Seen(
        write_html(html.Span(style={"--score": "0.5", "flexGrow": 3, "width": "40.0%"}))
    ).tags
    assert attributes["style"] == "--score: 0.5; flex-grow: 3; width: 40.0%"


@pytest.mark.parametrize("component", [html.P("x", title=["x"]), html.P("x", id="x")])
def test_what_needs_a_script_is_refused(component: html.P) -> None:
    with pytest.raises(TypeError):
        write_html(component)
