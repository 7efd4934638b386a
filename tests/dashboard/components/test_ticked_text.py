from __future__ import annotations

import pytest

from poor_bench.dashboard.components.blocks import set_code
from tests.dashboard.seen_text import of_type


@pytest.mark.parametrize(
    ("text", "plain", "codes"),
    [
        ("raise `num_ctx` of it", ["raise ", " of it"], ["num_ctx"]),
        ("`a` or `b`", [" or "], ["a", "b"]),
        ("a lone ` stays", ["a lone ` stays"], []),
        ("two `` in a row", ["two `` in a row"], []),
        ("`<img onerror=x>`", [], ["<img onerror=x>"]),
        ("", [], []),
    ],
)
def test_names_between_backticks_become_code(text: str, plain: list[str], codes: list[str]) -> None:
    pieces = set_code(text)
    assert [piece for piece in pieces if isinstance(piece, str)] == plain
    assert [code.children for code in of_type(pieces, "Code")] == codes
