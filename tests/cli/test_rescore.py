from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from poor_bench.cli.main import main
from poor_bench.models.result import Result
from poor_bench.runner.scorer import Scorer
from poor_bench.workspace_folder import WorkspaceFolder
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
    scores = [result.score for result in WorkspaceFolder(folder).load_results()]
    assert sorted(score or 0.0 for score in scores) == [0.0, 0.0, 1.0]


def test_judging_again_tells_its_cost_before_and_keeps_to_the_limit(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    reply = {
        "text": '{"scores": {"kind": 8, "short": 3}}',
        "prompt_tokens": 0,
        "completion_tokens": 100,
    }
    module = {"name": "llm_judge_evaluator", "parameters": {"judge": "scripted:judge"}}
    module["parameters"]["criteria"] = ["kind"]
    workspace_files.classes[0]["evaluation_module"] = module
    workspace_files.add_tests(3)
    workspace_files.add_llm("a", "a poem")
    prices = {"input": 0, "output": 1000}
    limits = {"max_tokens": 100}
    workspace_files.add_llm("judge", [reply], enabled=False, prices=prices, parameters=limits)
    folder = str(workspace_files.write())
    assert main(["--data", folder, "run"]) == 0
    module["parameters"]["criteria"] = ["kind", "short"]
    workspace_files.write()
    capsys.readouterr()
    assert main(["--data", folder, "rescore", "--max-cost", "0.15"]) == 3
    told = capsys.readouterr()
    assert "To be judged again: 3 responses" in told.err
    assert "Estimated cost: $" in told.out
    assert "1 response scored again" in told.out
    assert "2 responses left with old scores" in told.err
    assert main(["--data", folder, "rescore"]) == 0
    assert "2 responses scored again" in capsys.readouterr().out
    assert main(["--data", folder, "rescore"]) == 0
    assert "0 responses scored again" in capsys.readouterr().out
