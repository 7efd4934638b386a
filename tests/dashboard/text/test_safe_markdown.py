from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from poor_bench.dashboard.text.safe_markdown import one_line_markdown, safe_markdown

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
PIECES = st.sampled_from(
    ["[", "]", "(", ")", "!", "<", ">", "`", "``", "```", "~~~", "\n", "\n\n", "    ", "|", "\\",
     "&", ";", "&#91;", "http://e.com", "javascript:alert(1)", "www.e.com", "a@b.com", "x", " ",
     "<img src=x onerror=alert(1)>", "[a](javascript:b)", "![i](http://e/x.png)", "[r]: http://e",
     "[r]", "---", "| a | b |\n|---|---|\n", "- ", "> ", "# ", "*", "_", "<!--", "-->", "\t", "\r"]
)  # fmt: skip
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=25).map("".join))
DANGEROUS = {"link_open", "image", "html_inline", "html_block"}


def kinds(text: str) -> set[str]:
    tokens = PARSER.parse(text)
    return {token.type for token in tokens} | {
        child.type for token in tokens for child in token.children or ()
    }


@given(TEXTS)
def test_nothing_becomes_a_link_an_image_or_html(text: str) -> None:
    assert not kinds(safe_markdown(text)) & DANGEROUS


def test_code_beside_an_address_stays_harmless() -> None:
    assert not kinds(safe_markdown("`0``0`http://")) & DANGEROUS
    assert PARSER.render(safe_markdown("`0`http://e.com")).count("<code>") == 2


@given(TEXTS)
def test_no_address_is_left_for_a_parser_to_link(text: str) -> None:
    outside_code = [
        child.content
        for token in PARSER.parse(safe_markdown(text))
        for child in token.children or ()
        if child.type == "text"
    ]
    assert not any("http://" in part or "www." in part for part in outside_code)


@given(TEXTS)
def test_a_table_cell_stays_harmless_too(text: str) -> None:
    assert not kinds(one_line_markdown(text)) & DANGEROUS


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**bold** and *soft*", "<p><strong>bold</strong> and <em>soft</em></p>"),
        ("- one\n- two", "<ul>\n<li>one</li>\n<li>two</li>\n</ul>"),
        ("got `[1, 2]`", "<p>got <code>[1, 2]</code></p>"),
        ("```\nx < 1\n```", "<pre><code>x &lt; 1\n</code></pre>"),
        ("1 < 2 & 3 [x]", "<p>1 &lt; 2 &amp; 3 [x]</p>"),
        (r"C:\dir", r"<p>C:\dir</p>"),
    ],
)
def test_what_is_harmless_is_rendered(text: str, html: str) -> None:
    assert PARSER.render(safe_markdown(text)).strip() == html


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_stay_lines(end: str) -> None:
    text = end.join(["case 1: wrong", "expected `4`", "got 5"])
    html = PARSER.render(safe_markdown(text))
    assert html.count("<br />") == 2
    assert "<code> 4 </code>" not in html


def test_lines_of_code_and_paragraphs_are_as_before() -> None:
    html = PARSER.render(safe_markdown("one\n\ntwo\n```\na\n  b\n```"))
    assert "<br" not in html
    assert "<code>a\n  b\n</code>" in html


def test_lines_stay_apart_in_a_table_cell() -> None:
    assert one_line_markdown("case 1\n\n  case 2\r\n") == "case 1 \u21b5 case 2"


def test_a_table_survives() -> None:
    assert "table_open" in kinds(safe_markdown("| a | b |\n|---|---|\n| 1 | 2 |"))


def test_a_long_text_is_cut_to_one_line() -> None:
    line = one_line_markdown("word \n" * 1000)
    assert "\n" not in line
    assert len(line) == 300
    assert line.endswith("…")
