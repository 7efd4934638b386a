from __future__ import annotations

import sys
from pathlib import Path

import pytest

from poor_bench.sandbox import Mechanism
from poor_bench.sandbox.inside import warm_up
from poor_bench.sandbox.inside.descriptors import ChildOutput
from poor_bench.sandbox.inside.policy import SandboxPolicy

CALLS: list[object] = []
_PROGRAM = """
from tests.sandbox.test_rehearsal import CALLS

def solve(numbers, limit=1.5):
    CALLS.append((numbers, limit))
"""


def test_typical_program_is_called_again_and_again_and_all_is_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(warm_up, "_PROGRAM", _PROGRAM)
    monkeypatch.setitem(sys.modules, "tests.sandbox.test_rehearsal", sys.modules[__name__])
    before = sys.stdout, sys.stderr, sys.argv, Path.cwd()
    warm_up.rehearse(SandboxPolicy(dict.fromkeys(Mechanism, "not here"), ()), ChildOutput())
    assert (sys.stdout, sys.stderr, sys.argv, Path.cwd()) == before
    assert len(CALLS) >= 3 * 8, "Python makes code fit what it sees only after eight calls"
    assert ([], 2) in CALLS
