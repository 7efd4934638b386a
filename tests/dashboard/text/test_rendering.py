"""Answers of models, drawn as they meant them to look."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.dashboard.components.tables import still
from poor_bench.dashboard.text.markdown import build_code, build_formula, build_markdown
from poor_bench.dashboard.text.rendering import MOST_RENDERED, build_json_tree, build_rendered
from poor_bench.messages import harmless

ALLOWED = frozenset({
    "div", "span", "p", "strong", "em", "s", "ul", "ol", "li", "blockquote", "table", "thead",
    "tbody", "tr", "th", "td", "br", "hr", "code", "pre", "img", "a", "details", "summary",
    "math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "msub",
    "msup", "msubsup", "munder", "mover", "munderover", "mtable", "mtr", "mtd", "mstyle",
    "mpadded", "mphantom", "menclose", "mfenced", "none", "mmultiscripts", "mprescripts",
})  # fmt: skip
HOSTILE = st.lists(
    st.sampled_from(
        ["<script>alert(1)</script>", "[a](javascript:alert(1))", "![a](http://evil.example/x)",
         "![a](data:image/svg+xml;base64,AAAA)", "**", "`", "```html\n", "\n", "$", "$$", "\\(",
         "\\)", "\\[", "\\]", "\\href{javascript:alert(1)}{x}", "\\frac{", "}", "| a | b |\n",
         "|---|---|\n", "> ", "- ", "1. ", "&lt;", "<a href=javascript:x>", "[", "]", "(", "{",
         "<http://evil.example>", "[r]: javascript:x\n", "[r]", "\u202e", "x", "\\def\\a{\\a\\a}"]
    ),
    max_size=25,
).map("".join)  # fmt: skip


def elements(tree: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield tag and attributes of every element."""
    if isinstance(tree, list):
        tag, attributes, *children = tree
        yield tag, attributes
        for child in children:
            yield from elements(child)


def drawn(content: Any) -> list[tuple[str, dict[str, Any]]]:
    return [each for tree in still(content)["props"]["trees"] for each in elements(tree)]


def words(content: Any) -> str:
    return json.dumps(still(content), ensure_ascii=False)


@given(HOSTILE)
def test_nothing_hostile_leads_elsewhere_or_runs(text: str) -> None:
    for tag, attributes in drawn(build_markdown(text)):
        assert tag in ALLOWED
        assert not {"href", "style", "dangerouslySetInnerHTML"} & attributes.keys()
        assert not any(name.lower().startswith("on") for name in attributes)
        assert tag != "img" or attributes["src"].startswith("data:image/")


@given(st.text(max_size=300))
def test_any_text_is_drawn(text: str) -> None:
    json.dumps(still(build_markdown(text)))
    build_rendered(text)


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("# Title\n\n- **a**\n- *b*", {"p", "ul", "li", "strong", "em"}),
        ("| a |\n|---|\n| 1 |", {"table", "thead", "tbody", "th", "td"}),
        ("```python\nx = 1\n```", {"pre", "code"}),
        ("so \\(\\frac{1}{2}\\)", {"math", "mfrac"}),
        ("$$\nx^2\n+ 1\n$$", {"math", "msup"}),
        ("![a](data:image/png;base64,iVBORw0K)", {"img"}),
    ],
)
def test_markup_is_drawn(text: str, tags: set[str]) -> None:
    rendered = build_rendered(text)
    assert tags <= {tag for tag, _ in drawn(rendered)}


@pytest.mark.parametrize("text", ["It costs $5 and $6.", "a_b_c", "2 * 3 * 4", "plain text", ""])
def test_plain_text_stays_plain(text: str) -> None:
    rendered = build_rendered(text)
    assert rendered is None or "math" not in {tag for tag, _ in drawn(rendered)}


def test_formulas_that_grow_or_are_too_deep_stay_latex() -> None:
    for latex in ("\\def\\a{\\a\\a}\\a", "\\sqrt{" * 500 + "}" * 500, "x" * 3000, "\\frac{" * 80):
        assert {tag for tag, _ in drawn(build_formula(latex))} == {"code"}


def test_a_formula_links_to_nothing() -> None:
    assert "javascript" in words(build_formula("\\href{javascript:alert(1)}{a}"))
    assert {tag for tag, _ in drawn(build_formula("\\href{javascript:alert(1)}{a}"))} == {"code"}


def test_json_is_a_tree_whether_bare_or_fenced() -> None:
    for text in ('{"a": [1, "x"]}', '```json\n{"a": [1, "x"]}\n```'):
        tags = [tag for tag, _ in drawn(build_rendered(text))]
        assert tags.count("details") == 2


def test_json_that_is_too_deep_or_not_json_is_no_tree() -> None:
    for text in ("[" * 10_000 + "]" * 10_000, "[1,", "1", "[link](x)", '{"n": ' + "9" * 9000 + "}"):
        assert build_json_tree(text) is None


@given(st.recursive(st.none() | st.integers() | st.text(), st.lists))
def test_any_list_is_a_tree_of_bounded_size(value: Any) -> None:
    tree = build_json_tree(json.dumps([value]))
    assert tree is not None
    assert len(drawn(tree)) < 20_000


def test_large_json_says_how_much_is_not_shown() -> None:
    assert "and 3,001 more" in words(build_json_tree(json.dumps(list(range(5000)))))


@given(st.text(max_size=200), st.sampled_from(["python", "js", "bash", "no such", "", "json"]))
def test_coloured_code_says_the_same(code: str, label: str) -> None:
    assert text_of(build_code(code, label)) == harmless(code).rstrip("\n")


def text_of(code: Any) -> str:
    [[_, _, [_, _, *pieces]]] = still(code)["props"]["trees"]
    return "".join(piece if isinstance(piece, str) else "".join(piece[2:]) for piece in pieces)


def test_a_long_answer_is_not_rendered() -> None:
    assert build_rendered("**a** " * MOST_RENDERED) is None
