from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from poor_bench.cli.main import main
from poor_bench.cli.run_view import LinesView, LLMTally
from poor_bench.models.result import Result
from poor_bench.pool.events import LimitChanged
from poor_bench.runner.events import RunStarted, TrialFinished
from tests.conftest import WorkspaceFiles


class Ticking:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_piped_run_tells_how_long_it_will_take(capsys: pytest.CaptureFixture[str]) -> None:
    clock, empty = Ticking(), SimpleNamespace(llms=())
    workspace: Any = empty
    view = LinesView(workspace, clock)
    view(RunStarted(run_id="r", n_items=100, n_by_llm={"a": 100}))
    for number in range(11):
        clock.now = 600 + 11.0 * number
        view(TrialFinished(result=Result(llm_id="a", test_id=f"t{number}", score=1.0)))
    lines = capsys.readouterr().err.splitlines()
    assert "left" not in lines[0]
    assert lines[-1] == "a: 11/100  score 1.00  about 16 min left"


def test_only_a_model_that_loads_is_told_to_load(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("hosted", ["4"])
    workspace_files.add_llm("local", ["4"], parameters={"load_ms": 1})
    assert main(["run", "--data", str(workspace_files.write())]) == 0
    told = capsys.readouterr().err
    assert "scripted:local: 0/1  loading the model" in told
    assert "scripted:hosted: 0/1  loading" not in told


def test_the_limits_that_a_run_searches_are_shown() -> None:
    tally = LLMTally(10, limits=str(LimitChanged(llm_id="a", at_once=8, per_second=21.4)))
    assert tally.figures() == "up to 8 at once, 21 requests/s"
