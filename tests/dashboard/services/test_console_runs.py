from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from poor_bench.dashboard.services.console_runs import (
    SUITE_ENDS,
    ConsoleRun,
    must_ask,
    write_judges,
    write_options,
)
from poor_bench.dashboard.services.run_state import RunPhase
from poor_bench.errors import ConfigError, RunRefusedError
from poor_bench.evaluation.stored_run import list_suite_runs
from poor_bench.judge.storage import JudgementStore
from poor_bench.models.llm import LLM, Prices
from tests.cli.test_suite import write_suite
from tests.judge.agent_workspace import write_workspace
from tests.waiting import wait_for

LONGEST_S = 120


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with two suites."""
    (tmp_path / "suites").mkdir()
    write_suite(tmp_path, {"id": "one"}, {"id": "two", "trials": 2}).rename(
        tmp_path / "suites" / "quick.yaml"
    )
    write_suite(tmp_path, {"id": "long", "agent": "endless"}).rename(
        tmp_path / "suites" / "long.yaml"
    )
    return tmp_path


@pytest.fixture
def run(folder: Path) -> ConsoleRun:
    return ConsoleRun(lambda: folder)


def suite(folder: Path, name: str, *options: str) -> tuple[str, list[str]]:
    return name, ["suite", "run", *options, str(folder / "suites" / f"{name}.yaml")]


def test_options_are_those_of_the_console() -> None:
    written = write_options(trials=2, max_cost=0.0, llm="--x", judge=None, seed="")
    assert written == ["--trials=2", "--max-cost=0.0", "--llm=--x"]
    assert write_judges(["a", "b", "c"]) == ["--judge=a", "--panel=b", "--panel=c"]
    assert write_judges(None) == []


def test_another_run_may_be_in_the_way(folder: Path) -> None:
    run = ConsoleRun(lambda: folder, busy=lambda: "the run x is in progress")
    with pytest.raises(RunRefusedError, match="the run x is in progress"):
        run.start(*suite(folder, "quick"))
    assert run.state().phase is RunPhase.IDLE


@pytest.mark.parametrize(
    ("n_calls", "prices", "endpoint", "cost_usd", "is_asked"),
    [
        (100, Prices(), "", 0.0, False),
        (101, Prices(), "", 0.0, True),
        (1, Prices(input=1.0), "", 0.0, True),
        (1, Prices(), "https://api.example.com", 0.0, True),
        (1, Prices(), "", 0.01, True),
        (1, Prices(), "", None, True),
    ],
)
def test_what_is_long_or_may_cost_money_asks_first(
    n_calls: int, prices: Prices, endpoint: str, cost_usd: float | None, is_asked: bool
) -> None:
    provider = "openai" if endpoint else "embedded"
    llm = LLM(id="a", name="a", provider=provider, endpoint=endpoint, prices=prices)
    assert must_ask(n_calls, [llm], cost_usd) is is_asked


@pytest.mark.parametrize(
    ("ends", "said", "code", "phase", "told"),
    [
        ({}, "", 0, RunPhase.FINISHED, ""),
        (SUITE_ENDS, "1/2 a: wrong", 1, RunPhase.FINISHED, "Some cases failed."),
        ({}, "1/2 a: wrong", 3, RunPhase.FINISHED, "Incomplete: see the log."),
        ({}, "1/2\nError: no prices", 3, RunPhase.BROKEN, "Error: no prices"),
        ({}, "not approved", 1, RunPhase.BROKEN, "not approved"),
        (SUITE_ENDS, "ValueError: x", 70, RunPhase.BROKEN, "ValueError: x"),
        (SUITE_ENDS, "Stopping", 130, RunPhase.CANCELLED, ""),
    ],
)
def test_a_run_ends_as_its_command_says(
    ends: dict[int, str], said: str, code: int, phase: RunPhase, told: str
) -> None:
    class Ending(ConsoleRun):
        def _open(self, command: Sequence[str], output: int) -> subprocess.Popen[bytes]:
            script = 'echo "$0" >&2; exit "$1"'
            return subprocess.Popen(["sh", "-c", script, *command], stderr=subprocess.PIPE)

    run = Ending(Path, ends=ends)
    run.start("x", [said, str(code)])
    run.wait(LONGEST_S)
    state = run.state()
    assert (state.phase, state.message) == (phase, told)


@pytest.mark.slow(reason="two processes")
def test_a_plan_is_what_the_command_says(folder: Path, run: ConsoleRun) -> None:
    _, command = suite(folder, "quick")
    assert run.plan(command)["plan"]["n_planned"] == 3
    with pytest.raises(ConfigError, match=r"none\.yaml"):
        run.plan(["suite", "run", "none.yaml"])
    assert run.state().phase is RunPhase.IDLE
    assert not list_suite_runs(folder)


@pytest.mark.slow(reason="a process")
def test_a_run_is_stored_and_a_second_one_waits_for_its_end(
    run: ConsoleRun, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POOR_BENCH_TOKEN", "token of the dashboard")
    assert run.start(*suite(folder, "quick", "--trials=1")).phase is RunPhase.RUNNING
    with pytest.raises(RunRefusedError, match="is in progress: quick"):
        run.start(*suite(folder, "long"))
    run.wait(LONGEST_S)
    state = run.state()
    assert state.phase is RunPhase.FINISHED
    assert state.elapsed_s > 0
    assert state.log[0].startswith("2/2")
    [stored] = list_suite_runs(folder)
    assert stored.report().passed == 2


@pytest.mark.slow(reason="a process")
def test_a_cancelled_run_keeps_what_is_finished(run: ConsoleRun, folder: Path) -> None:
    run.start(*suite(folder, "long"))
    wait_for(lambda: bool(list_suite_runs(folder)))
    assert run.cancel().phase is RunPhase.STOPPING
    run.wait(LONGEST_S)
    assert run.state().phase is RunPhase.CANCELLED


@pytest.mark.slow(reason="a process")
def test_a_run_that_cannot_start_says_why(run: ConsoleRun, folder: Path) -> None:
    run.start(*suite(folder, "quick", "--max-cost=-1"))
    run.wait(LONGEST_S)
    state = run.state()
    assert state.phase is RunPhase.BROKEN
    assert state.message.startswith("Error: ")
    assert "--max-cost" in state.message


@pytest.mark.slow(reason="a process")
def test_a_judged_run_beside_a_broken_agent_file_tells_what_it_skipped(tmp_path: Path) -> None:
    write_workspace(tmp_path)
    (tmp_path / "agents" / "cars.yaml").write_text("llm: [")
    run = ConsoleRun(lambda: tmp_path)
    run.start("bikes", ["judge", "run", "--judge=scripted:judge", "--", "bikes"])
    run.wait(LONGEST_S)
    state = run.state()
    assert state.phase is RunPhase.FINISHED
    assert "cars.yaml" in state.message
    [stored] = JudgementStore(tmp_path).runs()
    assert stored.is_complete
