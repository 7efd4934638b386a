from __future__ import annotations

import json
from pathlib import Path

from poor_bench.config.load import load_workspace
from poor_bench.lint.lint import apply_fixes
from poor_bench.lint.subject import Fix
from tests.config.workspace_files import SUM, write_workspace


def test_fixes_change_their_test_and_nothing_else(tmp_path: Path) -> None:
    spec = {"name": "math_evaluator", "parameters": {"test_cases": [1]}, "_note": "kept"}
    other = {**SUM, "test_id": "b", "_comment": "kept"}
    write_workspace(tmp_path, tests=[{**SUM, "evaluation_module": spec}, other])
    fixes = [
        Fix(test_id="sum_1", place=("text",), value="new"),
        Fix(test_id="sum_1", place=("evaluation_module", "parameters", "test_cases"), value=[2]),
        Fix(test_id="b", place=("reference_response",), value="4"),
    ]
    assert apply_fixes(load_workspace(tmp_path), fixes) == 2
    entries = json.loads((tmp_path / "tests.json").read_text(encoding="utf-8"))["tests"]
    mended = {**spec, "parameters": {"test_cases": [2]}}
    assert entries == [
        {**SUM, "text": "new", "evaluation_module": mended},
        {**other, "reference_response": "4"},
    ]


def test_without_fixes_the_file_is_not_touched(tmp_path: Path) -> None:
    path = write_workspace(tmp_path) / "tests.json"
    before = path.stat().st_mtime_ns
    assert apply_fixes(load_workspace(tmp_path), []) == 0
    assert path.stat().st_mtime_ns == before
