from __future__ import annotations

import pytest

from poor_bench.dashboard.components.blocks import set_code, set_emphasis
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


@pytest.mark.parametrize(
    ("text", "bold"),
    [
        ("the sum is **4**, or **four**", ["4", "four"]),
        ("2**3**4 and f(**kw, **more)", []),
        ("**<img onerror=x>**", ["<img onerror=x>"]),
        ("a lone ** stays", []),
    ],
)
def test_what_stands_between_stars_becomes_bold(text: str, bold: list[str]) -> None:
    pieces = set_emphasis(text)
    assert [strong.children for strong in of_type(pieces, "Strong")] == bold
    assert bold or "".join(map(str, pieces)) == text
