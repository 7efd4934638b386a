from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from poor_bench.calls.budget import SpendingLimits
from poor_bench.errors import ConfigError, MissingExtraError
from poor_bench.llm_manager import LLMManager
from poor_bench.pool.control import RunControl
from poor_bench.runner.events import TrialFinished
from poor_bench.tuning.searches import StopReason, list_searches
from poor_bench.tuning.sweep import SweepAxis, read_axis
from poor_bench.tuning.sweep_ranking import ParamsReport
from poor_bench.tuning.tune_params import ParamsTask, tune_params
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles
from tests.providers.fake_clock import FakeClock
from tests.runner.test_judged_run import judged_workspace, verdict

PRICED = {"text": "4", "prompt_tokens": 0, "completion_tokens": 1_000_000}


def sweep(
    folder: Path,
    axes: list[SweepAxis],
    control: RunControl | None = None,
    tell: Any = lambda _event: None,
    **task: Any,
) -> ParamsReport:
    config = WorkspaceFolder(folder)
    llm = config.workspace.llms[0]
    given = {"limits": SpendingLimits(), "tests": config.workspace.tests} | task
    return tune_params(
        ParamsTask(llm=llm, name="all", axes=axes, **given),
        config,
        LLMManager(folder, clock=FakeClock()),
        control or RunControl(),
        tell,
    )


@pytest.fixture
def folder(workspace_files: WorkspaceFiles) -> Path:
    workspace_files.add_tests(12)
    prices = {"input": 1.0, "output": 1.0}
    workspace_files.add_llm("small", [PRICED], prices=prices)
    return workspace_files.write()


def test_a_sweep_that_is_stopped_keeps_what_it_has_and_goes_on_later(folder: Path) -> None:
    control = RunControl()
    seen = []

    def stop_after_five(event: Any) -> None:
        seen.append(isinstance(event, TrialFinished))
        if sum(seen) == 5:
            control.cancel()

    axes = [read_axis("load_ms", [0, 1])]
    stopped = sweep(folder, axes, control, stop_after_five)
    assert stopped.reason is StopReason.CANCELLED
    n_stored = len(list(WorkspaceFolder(folder).store.results()))
    assert n_stored == stopped.n_calls >= 5
    finished = sweep(folder, axes)
    assert finished.reason is StopReason.FINISHED
    assert finished.n_calls == 36 - n_stored


def test_the_money_ends_a_sweep(folder: Path) -> None:
    report = sweep(folder, [read_axis("load_ms", [0, 1])], limits=SpendingLimits(cost_usd=7.5))
    n_variants_without_experience = 2
    assert report.reason is StopReason.COST
    assert 0 < report.cost_usd <= 7.5 + n_variants_without_experience
    assert all(row.n_failed == 0 for row in report.standings)


def test_all_variants_of_a_step_run_the_same_tests(folder: Path) -> None:
    report = sweep(folder, [read_axis("load_ms", [0, 1])], limits=SpendingLimits(n_calls=20))
    assert report.reason is StopReason.BUDGET
    assert {row.score.n for row in report.standings if row.score} == {6}


def test_a_missing_library_is_named_before_anything_is_done(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtraError) as missing:
        sweep(folder, [read_axis("load_ms", [0, 1])], n_trials=3)
    assert missing.value.hint.endswith("pip install 'optuna>=4.5,<6'")
    assert list_searches(folder) == []


def test_parameters_that_change_nothing_are_refused_before_anything_is_done(folder: Path) -> None:
    with pytest.raises(ConfigError, match="equal the model's current parameters"):
        sweep(folder, [read_axis("response_format", ["text"])])
    assert list_searches(folder) == []


def test_what_a_judge_could_not_score_has_failed(workspace_files: WorkspaceFiles) -> None:
    replies = {"a poem": [verdict(7), {"failure": "server_error"}]}
    folder = judged_workspace(workspace_files, replies, n_tests=6)
    report = sweep(folder, [read_axis("latency_ms", [0])], limits=SpendingLimits(n_calls=60))
    assert sum(row.n_failed for row in report.standings) > 0
    for row in report.standings:
        assert row.score is None or row.score.value == pytest.approx(0.7)
