"""Chromium is gone afterwards, whatever happened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from poor_bench.errors import AgentError, ConfigError, RunCancelledError
from tests.evaluation.browser.conftest import Trials

pytestmark = pytest.mark.browser
PATIENCE_S = 30
ENDLESS = "steps:\n  - wait: {seconds: 60}\n"


@dataclass(frozen=True)
class Process:
    """A living process."""

    number: int
    group: int
    command: str


def processes() -> Iterator[Process]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                command = (folder / "cmdline").read_text()
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z":
                yield Process(int(folder.name), int(fields[2]), command)


def chromium_group(profiles: Path) -> list[Process]:
    """Return Chromium and its children, by the folder that its profile is in."""
    known = list(processes())
    groups = {each.group for each in known if f"--user-data-dir={profiles}" in each.command}
    return [each for each in known if each.group in groups]


def wait_until_gone(started: list[Process]) -> None:
    groups = {each.group for each in started}
    deadline = time.monotonic() + PATIENCE_S
    while left := [each for each in processes() if each.group in groups]:
        assert time.monotonic() < deadline, left
        threading.Event().wait(0.1)


@pytest.fixture
def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that profiles of browsers of this test are in."""
    folder = tmp_path / "profiles"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def test_a_session_has_a_chromium_of_its_own_that_ends_with_it(
    trials: Trials, profiles: Path
) -> None:
    with trials.session():
        started = chromium_group(profiles)
    assert len(started) > 2
    wait_until_gone(started)
    assert list(profiles.iterdir()) == []


def test_a_crash_of_ours_ends_it(trials: Trials, profiles: Path) -> None:
    started: list[Process] = []

    def crash() -> None:
        with trials.session():
            started.extend(chromium_group(profiles))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        crash()
    assert started
    wait_until_gone(started)


def test_stopping_the_run_ends_a_trial_that_waits(trials: Trials, profiles: Path) -> None:
    started: list[Process] = []

    def stop() -> None:
        started.extend(chromium_group(profiles))
        trials.stopped.set()

    threading.Timer(4, stop).start()
    begun = time.monotonic()
    with pytest.raises(RunCancelledError):
        trials.playbook(ENDLESS)
    assert time.monotonic() - begun < PATIENCE_S
    wait_until_gone(started)


def test_the_time_limit_ends_a_trial_that_waits_and_is_a_failure_of_the_agent(
    trials: Trials,
) -> None:
    outcome = trials.playbook(ENDLESS, time_limit_s=4)
    assert (outcome.success, outcome.error) == (False, "the time limit is over")


def test_a_chromium_that_is_killed_is_a_failure_of_ours(trials: Trials, profiles: Path) -> None:
    with trials.session() as session:
        for process in chromium_group(profiles):
            os.kill(process.number, signal.SIGKILL)
        with pytest.raises(AgentError, match="Chromium is gone"), session.errors():
            session.page.goto("about:blank")


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_killing_our_own_process_ends_it(
    chromium: None, profiles: Path, tmp_path: Path, signal_number: int
) -> None:
    script = Path(__file__).with_name("endless_trial.py")
    with subprocess.Popen(
        [sys.executable, str(script), str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
        start_new_session=True,
    ) as ours:
        assert ours.stdout is not None
        assert ours.stdout.readline() == b"open\n"
        started = chromium_group(profiles)
        assert started
        if signal_number == signal.SIGINT:
            os.killpg(ours.pid, signal.SIGINT)  # as Ctrl-C in a terminal does
        else:
            ours.send_signal(signal_number)
        ours.wait(PATIENCE_S)
    wait_until_gone(started)


def test_a_chromium_that_cannot_be_started_is_a_failure_of_ours(trials: Trials) -> None:
    trials.environ["POOR_BENCH_CHROMIUM"] = "/nowhere/chromium"
    with pytest.raises(AgentError, match="no Chromium could be started") as raised:
        trials.playbook(ENDLESS)
    assert "POOR_BENCH_CHROMIUM" in raised.value.hint


def test_a_start_page_that_does_not_answer_is_a_failure_of_ours(trials: Trials) -> None:
    with pytest.raises(AgentError, match="cannot be opened"):
        trials.playbook(ENDLESS, start_url="http://127.0.0.1:1/")


def test_credentials_that_are_not_set_are_a_mistake_of_the_user(trials: Trials) -> None:
    with pytest.raises(ConfigError, match="NOT_SET"):
        trials.playbook(ENDLESS, credentials={"NOT_SET": "https://shop.example"})
