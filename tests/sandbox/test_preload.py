from __future__ import annotations

import sys

import pytest

from poor_bench.sandbox.inside import preload

_PAGE = 4096


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="memory of later Pythons was not looked at")
@pytest.mark.parametrize("size", [48, 128, 512])
def test_new_objects_lie_together_once_gaps_are_filled(size: int) -> None:
    fillers = [*preload._filling_gaps()]
    kept = [preload._object_of(size) for _ in range(6)]
    places = [id(each) for each in kept]
    assert max(places) - min(places) < _PAGE
    del fillers
