from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.dashboard.services.console_runs import ConsoleRun, must_ask, write_options
from poor_bench.dashboard.services.run_state import RunPhase
from poor_bench.dashboard.services.suite_runs import SuiteOrder, SuiteStarts
from poor_bench.errors import ConfigError, RunRefusedError
from poor_bench.evaluation.stored_run import list_suite_runs
from poor_bench.models.llm import LLM, Prices
from tests.cli.test_suite import write_suite
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
def starts(folder: Path) -> SuiteStarts:
    return SuiteStarts(lambda: folder)


def test_the_suites_of_the_workspace_and_the_example_can_be_chosen(starts: SuiteStarts) -> None:
    assert starts.list_names() == ["long", "quick", "example"]
    assert starts.list_llms() == []


def test_a_plan_counts_trials_and_starts_nothing(starts: SuiteStarts, folder: Path) -> None:
    assert len(starts.plan(SuiteOrder(name="quick"))) == 3
    assert len(starts.plan(SuiteOrder(name="quick", trials=4))) == 8
    assert starts.run.state().phase is RunPhase.IDLE
    assert not list_suite_runs(folder)


@pytest.mark.parametrize("name", ["none", "../suites/quick", "/etc/passwd", ""])
def test_what_is_not_the_name_of_a_suite_is_refused(starts: SuiteStarts, name: str) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        starts.start(SuiteOrder(name=name))
    assert starts.run.state().phase is RunPhase.IDLE


def test_an_unknown_model_is_refused_before_anything_starts(starts: SuiteStarts) -> None:
    with pytest.raises(ConfigError, match="scripted:none"):
        starts.start(SuiteOrder(name="quick", llm_id="scripted:none"))
    assert starts.run.state().phase is RunPhase.IDLE


def test_options_are_those_of_the_console() -> None:
    written = write_options(trials=2, max_cost=0.0, llm="--x", judge=None, seed="")
    assert written == ["--trials=2", "--max-cost=0.0", "--llm=--x", "--json"]


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


@pytest.mark.slow(reason="a process")
def test_a_plan_is_what_the_command_says(folder: Path) -> None:
    run = ConsoleRun(lambda: folder)
    command = ["suite", "run", "--json", str(folder / "suites" / "quick.yaml")]
    assert run.plan(command)["plan"]["n_planned"] == 3
    with pytest.raises(ConfigError, match=r"none\.yaml"):
        run.plan(["suite", "run", "--json", "none.yaml"])
    assert run.state().phase is RunPhase.IDLE
    assert not list_suite_runs(folder)


@pytest.mark.slow(reason="two processes")
def test_a_run_is_stored_and_a_second_one_waits_for_its_end(
    starts: SuiteStarts, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POOR_BENCH_TOKEN", "token of the dashboard")
    assert starts.start(SuiteOrder(name="quick", trials=1)).phase is RunPhase.RUNNING
    with pytest.raises(RunRefusedError, match="quick is in progress"):
        starts.start(SuiteOrder(name="long"))
    starts.run.wait(LONGEST_S)
    assert starts.run.state().phase is RunPhase.FINISHED
    [run] = list_suite_runs(folder)
    assert run.report().passed == 2


@pytest.mark.slow(reason="a process")
def test_a_cancelled_run_keeps_what_is_finished(starts: SuiteStarts, folder: Path) -> None:
    starts.start(SuiteOrder(name="long"))
    wait_for(lambda: bool(list_suite_runs(folder)))
    assert starts.run.cancel().phase is RunPhase.STOPPING
    starts.run.wait(LONGEST_S)
    assert starts.run.state().phase is RunPhase.CANCELLED


@pytest.mark.slow(reason="a process")
def test_a_run_that_cannot_start_says_why(starts: SuiteStarts, folder: Path) -> None:
    order = SuiteOrder(name="quick", max_cost_usd=-1.0)  # the form does not send this
    starts.start(order)
    starts.run.wait(LONGEST_S)
    state = starts.run.state()
    assert state.phase is RunPhase.BROKEN
    assert "--max-cost" in state.message
