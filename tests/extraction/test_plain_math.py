from __future__ import annotations

import pytest
from hypothesis import given

from poor_bench.extraction.plain_math import write_plain_math
from tests.extraction.strategies import hostile_text


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (r"\frac{1}{2}", "1/2"),
        (r"\dfrac{x+1}{2}", "(x+1)/2"),
        (r"3\frac12", "3 1/2"),
        ("2½", "2 1/2"),
        ("1{,}234", "1,234"),
        (r"2\cdot3\times4", "2*3*4"),
        (r"\left(\text{18 cm}\right)", "(18 cm)"),
        ("\N{MINUS SIGN}5 ÷ 2", "-5 / 2"),
        ("10⁻³", "10^-3"),
        ("plain text, left alone", "plain text, left alone"),
    ],
)
def test_notation_becomes_plain(text, plain):
    assert write_plain_math(text) == plain


@given(hostile_text)
def test_any_text_is_survived(text):
    assert isinstance(write_plain_math(text), str)
