"""Chromium is gone afterwards, whatever happened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from poor_bench.errors import AgentError, ConfigError, RunCancelledError
from poor_bench.evaluation.browser.watchdog import Process
from tests.evaluation.browser.conftest import Trials
from tests.evaluation.browser.living import PATIENCE_S, chromium_group, wait_until_gone

pytestmark = pytest.mark.browser
ENDLESS = "steps:\n  - wait: {seconds: 60}\n"


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
    outcome = trials.playbook(ENDLESS, time_limit_s=2)
    assert (outcome.success, outcome.error) == (False, "the time limit is reached")


def test_a_chromium_that_is_killed_is_a_failure_of_ours(trials: Trials, profiles: Path) -> None:
    with trials.session() as session:
        for process in chromium_group(profiles):
            with suppress(ProcessLookupError):  # the end of one ends others
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
    with pytest.raises(AgentError, match="cannot start Chromium") as raised:
        trials.playbook(ENDLESS)
    assert "POOR_BENCH_CHROMIUM" in raised.value.hint


def test_a_start_page_that_does_not_answer_is_a_failure_of_ours(trials: Trials) -> None:
    with pytest.raises(AgentError, match="cannot open the start page"):
        trials.playbook(ENDLESS, start_url="http://127.0.0.1:1/")


def test_credentials_that_are_not_set_are_a_mistake_of_the_user(trials: Trials) -> None:
    with pytest.raises(ConfigError, match="NOT_SET"):
        trials.playbook(ENDLESS, credentials={"NOT_SET": "https://shop.example"})
