from __future__ import annotations

from poor_bench.extraction.fences import last_boxed


def test_box_may_hold_braces_and_must_be_closed():
    assert last_boxed(r"\boxed{\frac{1}{2}}") == r"\frac{1}{2}"
    assert last_boxed(r"\boxed{1") is None
