from __future__ import annotations

from poor_bench.extraction.fences import find_last_boxed


def test_box_may_hold_braces_and_must_be_closed():
    assert find_last_boxed(r"\boxed{\frac{1}{2}}") == r"\frac{1}{2}"
    assert find_last_boxed(r"\boxed{1") is None
