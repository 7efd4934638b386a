from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from poor_bench.cli.main import main
from poor_bench.config_manager import ConfigManager
from poor_bench.models.result import Result
from poor_bench.runner.scorer import Scorer
from tests.conftest import WorkspaceFiles


def test_what_was_scored_again_before_an_interruption_is_stored(
    workspace_files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace_files.add_tests(3)
    workspace_files.add_llm("a", "4")
    folder = workspace_files.write()
    assert main(["--data", str(folder), "run"]) == 0
    workspace_files.classes[0]["evaluation_module"]["parameters"] = {"expected": "5"}
    workspace_files.write()
    scored = Scorer.scored
    calls = count(1)

    def interrupted(self: Scorer, result: Result, *more: Any) -> Result:
        if next(calls) == 3:
            raise KeyboardInterrupt
        return scored(self, result, *more)

    monkeypatch.setattr(Scorer, "scored", interrupted)
    assert main(["--data", str(folder), "rescore"]) == 130
    scores = [result.score for result in ConfigManager(folder).load_results()]
    assert sorted(score or 0.0 for score in scores) == [0.0, 0.0, 1.0]
