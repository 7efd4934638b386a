"""Nothing waits for ever: not for a frozen browser or driver, nor for a page without end."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from poor_bench.calls.caller import SystemClock
from poor_bench.errors import AgentError, RunCancelledError
from poor_bench.evaluation.agent import AgentOutcome
from poor_bench.evaluation.browser import opening
from poor_bench.evaluation.browser.watchdog import Patience, Process
from tests.evaluation.browser.conftest import Trials
from tests.evaluation.browser.living import (
    PATIENCE_S,
    chromium_group,
    drivers,
    wait_until_gone,
)
from tests.waiting import wait_for

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

pytestmark = pytest.mark.browser
Part = Callable[[Path], list[Process]]
LOOPING = "<title>Fine</title><button onclick='while (true) {}'>Loop</button>"
OTHER = "<title>Other</title><p>Still here.</p>"


def chromium_of(profiles: Path) -> list[Process]:
    return chromium_group(profiles)


def driver_of(_profiles: Path) -> list[Process]:
    return drivers()


def both_of(profiles: Path) -> list[Process]:
    return [*drivers(), *chromium_group(profiles)]


def leader_of(profiles: Path) -> list[Process]:
    return [each for each in chromium_group(profiles) if each.number == each.group]


PARTS = pytest.mark.parametrize("part", [chromium_of, driver_of])


def freeze(processes: list[Process], how: signal.Signals = signal.SIGSTOP) -> None:
    assert processes
    for process in processes:
        with suppress(ProcessLookupError):  # Chromium starts programs that end by themselves
            os.kill(process.number, how)


@pytest.fixture
def quick(trials: Trials) -> Trials:
    """Trials that lose their patience at once, but not before a browser can start."""
    trials.patience = Patience(answer_s=0.3, new_tab_s=0.3, end_s=0.3, mild_s=0.3)
    return trials


@pytest.fixture(autouse=True)
def nothing_is_left(profiles: Path) -> Iterator[None]:
    yield
    wait_until_gone(both_of(profiles))
    assert not [path for path in profiles.iterdir() if "profile" in path.name]


@pytest.mark.parametrize(
    ("part", "how"),
    [
        (chromium_of, signal.SIGSTOP),
        (leader_of, signal.SIGSTOP),
        (driver_of, signal.SIGSTOP),
        (both_of, signal.SIGSTOP),
        (leader_of, signal.SIGKILL),
        (driver_of, signal.SIGKILL),
        (both_of, signal.SIGKILL),
    ],
)
def test_what_freezes_or_dies_within_a_trial_is_a_failure_of_ours(
    quick: Trials, profiles: Path, part: Part, how: signal.Signals
) -> None:
    with quick.session() as session:
        freeze(part(profiles), how)
        words = r"Chromium (is gone|stopped responding)"
        with pytest.raises(AgentError, match=words), session.errors():
            session.page.evaluate("1 + 1")


@pytest.mark.parametrize("part", [chromium_of, driver_of, both_of])
def test_closing_ends_what_is_frozen(quick: Trials, profiles: Path, part: Part) -> None:
    with quick.session():
        freeze(part(profiles))
        begun = time.monotonic()
    assert time.monotonic() - begun < PATIENCE_S


@PARTS
def test_stopping_the_run_ends_what_is_frozen(quick: Trials, profiles: Path, part: Part) -> None:
    quick.patience = Patience(answer_s=60, end_s=0.3, mild_s=0.3)
    with quick.session() as session:
        freeze(part(profiles))
        threading.Timer(0.1, quick.stopped.set).start()
        with pytest.raises(RunCancelledError), session.errors():
            session.page.evaluate("1 + 1")


@PARTS
def test_the_time_limit_ends_what_is_frozen(quick: Trials, profiles: Path, part: Part) -> None:
    def freeze_after_first_step(_step: object) -> None:
        freeze(part(profiles))

    quick.patience = Patience(answer_s=60, end_s=0.3, mild_s=0.3)
    quick.steps = _Telling(freeze_after_first_step)
    outcome = quick.playbook("steps:\n  - wait: {seconds: 0}\n  - press: a\n", time_limit_s=3)
    assert (outcome.success, outcome.error) == (False, "the time limit is reached")


class _Telling(list):  # type: ignore[type-arg]
    """Tells somebody what is appended, once."""

    def __init__(self, tell: Callable[[object], None]) -> None:
        super().__init__()
        self._tell = tell

    def append(self, item: object) -> None:
        if not self:
            self._tell(item)
        super().append(item)


class _PatientClock(SystemClock):
    """Stands still until it is let go, however slow the machine is; then every look takes 0.6 s."""

    def __init__(self) -> None:
        self.runs = threading.Event()
        self._looks = itertools.count()

    def monotonic(self) -> float:
        return 0.6 * next(self._looks) if self.runs.is_set() else 0.0


@pytest.mark.parametrize("is_stopped", [True, False])
@pytest.mark.parametrize("part", [chromium_of, driver_of])
def test_what_freezes_while_it_starts_is_ended(
    trials: Trials,
    profiles: Path,
    part: Part,
    is_stopped: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trials.patience = Patience(start_s=60 if is_stopped else 5, end_s=0.3, mild_s=0.3)
    trials.clock = clock = _PatientClock()
    make_context = opening.make_context

    def make_context_once_frozen(browser: Browser) -> BrowserContext:
        assert clock.runs.wait(PATIENCE_S)
        return make_context(browser)

    monkeypatch.setattr(opening, "make_context", make_context_once_frozen)

    def freeze_soon() -> None:
        wait_for(lambda: bool(part(profiles)))
        freeze(part(profiles))
        clock.runs.set()
        if is_stopped:
            trials.stopped.set()

    freezing = threading.Thread(target=freeze_soon)
    freezing.start()
    expected = RunCancelledError if is_stopped else AgentError
    with pytest.raises(expected), trials.session():
        pass
    freezing.join()


@PARTS
def test_ctrl_c_ends_a_run_whose_browser_is_frozen_with_its_report(
    chromium: None, profiles: Path, tmp_path: Path, part: Part
) -> None:
    (tmp_path / "wait.yaml").write_text("name: Wait\nsteps:\n  - wait: {seconds: 60}\n")
    case = {"id": "long", "directive": "Wait.", "playbook": "./wait.yaml"}
    (tmp_path / "suite.yaml").write_text(json.dumps({"name": "demo", "cases": [case]}))
    data, suite = str(tmp_path / "data"), str(tmp_path / "suite.yaml")
    command = [sys.executable, "main.py", "--data", data, "suite", "run", suite, "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    ) as ours:
        wait_for(lambda: any("type=renderer" in each.command for each in chromium_of(profiles)))
        started = [*drivers(ours.pid), *chromium_of(profiles)]
        freeze(drivers(ours.pid) if part is driver_of else chromium_of(profiles))
        os.killpg(ours.pid, signal.SIGINT)
        told, _ = ours.communicate(timeout=2 * PATIENCE_S)
    assert ours.returncode == 130
    assert json.loads(told)["cancelled"] is True
    wait_until_gone(started)


def test_a_page_in_an_endless_loop_is_ended_and_the_trial_goes_on(
    trials: Trials, serve: Callable[..., object]
) -> None:
    trials.patience = Patience(answer_s=4, mild_s=30)
    site = serve({"/": LOOPING, "/other": OTHER})
    address = site.address  # type: ignore[attr-defined]
    outcome: AgentOutcome = trials.playbook(
        f"""steps:
  - open: "{address}/"
  - click: {{role: button, name: Loop}}
""",
    )
    assert not outcome.success
    assert "stopped responding" in outcome.error
    with trials.session(start_url=f"{address}/") as session:
        with pytest.raises(Exception, match="stopped responding"), session.errors():
            session.page.evaluate("while (true) {}")
        assert any("crashed" in note for note in session.take_notes())
        with session.errors():
            session.page.goto(f"{address}/other")
            assert session.page.title() == "Other"
