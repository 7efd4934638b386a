from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.extraction.fences import find_fenced_blocks


def test_block_has_label_body_and_span():
    text = "So:\n```Python title=x\na = 1\n```\nDone."
    (block,) = find_fenced_blocks(text)
    assert (block.label, block.body, block.is_closed) == ("python", "a = 1\n", True)
    assert text[block.start : block.end] == "```Python title=x\na = 1\n```"


@pytest.mark.parametrize(
    ("text", "bodies"),
    [
        ("no fence `here`", []),
        ("~~~\na\n~~~\n```\nb\n```", ["a\n", "b\n"]),
        ("````md\n```py\nx\n```\n````", ["```py\nx\n```\n"]),
        ("1. item\n     ```json\n     [1]\n     ```", ["     [1]\n"]),
        ("```json [1] ```", ["[1]"]),
        ("```[1]```", ["[1]"]),
        ("```a`b\nx\n```", [""]),
        ("```\r\nx\r\n```\r\n", ["x\r\n"]),
    ],
    ids=["none", "tildes", "nested", "indented", "one-line", "no-space", "not-a-fence", "crlf"],
)
def test_bodies_of_blocks(text, bodies):
    assert [block.body for block in find_fenced_blocks(text)] == bodies


def test_unclosed_block_runs_to_the_end():
    (block,) = find_fenced_blocks("```json\n[1]\n")
    assert (block.body, block.is_closed) == ("[1]\n", False)


def test_too_short_closing_fence_is_not_part_of_the_body():
    (block,) = find_fenced_blocks("``````diff\n-a\n+b\n```")
    assert (block.label, block.body) == ("diff", "-a\n+b\n")


@given(st.lists(st.sampled_from(["```", "~~~", "`", "\n", "json", " ", "x", "````"])))
def test_blocks_never_overlap(pieces):
    text = "".join(pieces)
    blocks = find_fenced_blocks(text)
    ends = [0, *(block.end for block in blocks)]
    assert all(end <= block.start for end, block in zip(ends, blocks, strict=False))
    assert all(block.body in text[block.start : block.end] for block in blocks)


def test_a_much_deeper_fence_closes_where_no_other_does():
    text = "```\na\n    ```\nprose\n```py\nb\n```\n"
    assert [block.body for block in find_fenced_blocks(text)] == ["a\n", "b\n"]
    assert [block.body for block in find_fenced_blocks("```\na\n    ```\nprose")] == ["a\n"]
    assert [block.body for block in find_fenced_blocks("```\na\n    ```\nb\n```")] == [
        "a\n    ```\nb\n"
    ]
