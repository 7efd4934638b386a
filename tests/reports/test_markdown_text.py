from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.reports.markdown_text import quote_code, write_details, write_table


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "`plain`"),
        ("<script>alert(1)</script>", "`<script>alert(1)</script>`"),
        ("a\n# heading\r\n- item", "`a # heading - item`"),
        ("ends `", "`` ends ` ``"),
        ("``two`` and ```three```", "```` ``two`` and ```three``` ````"),
        ("cell | cell", "`cell ¦ cell`"),
        ("\x1b[2J\u202eright", "`\u241b[2J⟨U+202E⟩right`"),
        ("   ", ""),
    ],
)
def test_text_of_others_stays_one_code_span(text: str, expected: str) -> None:
    assert quote_code(text) == expected


def test_long_text_is_cut() -> None:
    assert quote_code("x" * 10_000, limit=10) == f"`{'x' * 9}…`"


@given(st.text(max_size=300))
def test_span_closes_only_at_its_end(text: str) -> None:
    span = quote_code(text)
    if span:
        fence = span[: len(span) - len(span.lstrip("`"))]
        inner = span[len(fence) : -len(fence)]
        assert span.endswith(fence)
        assert fence not in inner.replace("`" * (len(fence) + 1), "")
        assert not set("\n\r|\x00\x1b") & set(span)


def test_table_and_details_are_markdown() -> None:
    assert (
        write_table(("A", "B"), [("`x`", "1")], right=1) == "| A | B |\n| --- | ---: |\n| `x` | 1 |"
    )
    assert write_details("More", "text").startswith("<details>\n<summary>More</summary>\n\ntext")
