from __future__ import annotations

import pytest

from poor_bench.sandbox.inside.checker import changes_attributes, reaches_system


@pytest.mark.parametrize(
    "source",
    [
        "def check(candidate):\n    assert candidate([1, 2]) == 3",
        "import math\nfrom collections.abc import Sequence\ndef check(f):\n    assert f(math.pi)",
        "import random, copy\ndef check(f):\n    assert f(copy.copy([random.random()]))",
    ],
)
def test_tests_of_plain_values_stay_away_from_the_system(source: str) -> None:
    code = compile(source, "<test>", "exec")
    assert not reaches_system(code)
    assert not changes_attributes(code)


@pytest.mark.parametrize(
    "source",
    [
        "import os",
        "def check(f):\n    import tempfile",
        "def check(f):\n    from os.path import join",
        "def check(f):\n    return lambda: open('x', 'w')",
        "class A:\n    def b(self):\n        return __import__('signal')",
        "import random\nrandom._os.chdir('/')",
        "().__class__",
        "exec('import os')",
    ],
)
def test_tests_that_may_change_files_or_environment_are_recognised(source: str) -> None:
    assert reaches_system(compile(source, "<test>", "exec"))


@pytest.mark.parametrize(
    "source",
    ["import math\nmath.sqrt = abs", "def check(f):\n    del f.x", "setattr(f, 'x', 1)"],
)
def test_tests_that_may_change_what_others_use_are_recognised(source: str) -> None:
    assert changes_attributes(compile(source, "<test>", "exec"))
