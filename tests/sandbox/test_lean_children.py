from __future__ import annotations

import subprocess
import sys

from poor_bench.sandbox.children import build_environment, build_interpreter_command

_LARGE = {"ast", "dataclasses", "inspect", "logging", "pathlib", "threading", "urllib.parse"}


def test_children_are_forked_without_large_modules() -> None:
    python, *flags, start, project = build_interpreter_command("zygote")
    start = start.replace("main(*sys.argv[2:])", "print(*sys.modules)")
    command = [python, *flags, start, project]
    told = subprocess.run(
        command, env=build_environment(), capture_output=True, text=True, check=True
    ).stdout
    loaded = set(told.split())
    assert "poor_bench.sandbox.inside.zygote" in loaded
    assert _LARGE & loaded == set()
    assert sys.modules.keys() >= {"ast", "inspect"}, "the names are those of real modules"
