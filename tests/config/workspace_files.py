"""A tiny complete workspace on disk, of which single files are overwritten."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from poor_bench.config.load import Workspace, load_workspace
from poor_bench.errors import ConfigError
from poor_bench.models.problem import Problem, Severity

TEST_CLASSES = """\
version: "1.0"
test_classes:
  - id: sums
    work_prompt_template:
      default: "Solve {problem}"
    evaluation_module:
      name: math_evaluator
      parameters: {precision: 2}
"""
SUM: Mapping[str, Any] = {"test_id": "sum_1", "class_id": "sums", "level": 1, "text": "2 + 2"}
SCRIPTED: Mapping[str, Any] = {"provider": "scripted", "name": "demo"}


def write_workspace(
    folder: Path,
    *,
    test_classes: str = TEST_CLASSES,
    tests: Sequence[Mapping[str, Any]] = (SUM,),
    llms: Sequence[Mapping[str, Any]] = (SCRIPTED,),
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "test_classes.yaml").write_text(test_classes, encoding="utf-8")
    (folder / "tests.json").write_text(
        json.dumps({"version": "1.0", "tests": tests}, indent=1), encoding="utf-8"
    )
    (folder / "llms.json").write_text(json.dumps({"llms": llms}, indent=1), encoding="utf-8")
    return folder


def errors_of(folder: Path, **checks: Any) -> list[Problem]:
    with pytest.raises(ConfigError) as caught:
        load_workspace(folder, **checks)
    return [p for p in caught.value.problems if p.severity is Severity.ERROR]


def the_error_of(folder: Path, **checks: Any) -> Problem:
    (problem,) = errors_of(folder, **checks)
    return problem


def warnings_of(folder: Path) -> list[Problem]:
    return list(load_workspace(folder).problems)


def load(folder: Path, **files: Any) -> Workspace:
    return load_workspace(write_workspace(folder, **files))
