from __future__ import annotations

import json
import subprocess
import sys

import pytest

from poor_bench.sandbox.children import build_environment, build_interpreter_command

_PAGE = 4096
_PLACES = """
import json
from poor_bench.sandbox.inside import warm_up
warm_up.preload()
{freeze}
new = [warm_up._make_object(size) for size in warm_up._SIZES for _ in range(7)]
print(json.dumps([*map(id, new)]))
"""


def n_pages_of_new_objects(*, freeze: str) -> int:
    python, *flags, start, project = build_interpreter_command("warm_up")
    start = start.partition("from poor_bench")[0] + _PLACES.format(freeze=freeze)
    command = [python, *flags, start, project]
    told = subprocess.run(
        command, env=build_environment(), capture_output=True, text=True, check=True
    ).stdout
    return len({place // _PAGE for place in json.loads(told)})


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="memory of later Pythons was not looked at")
def test_new_objects_lie_on_fewer_pages_once_gaps_are_filled() -> None:
    before, after = (n_pages_of_new_objects(freeze=way) for way in ("", "warm_up.freeze()"))
    assert after < 0.75 * before
