"""Nothing of a browser stays behind, and nothing of others is touched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from poor_bench.evaluation.browser.watchdog import (
    Process,
    give_to_children,
    make_temporary_folder,
    remove_leftovers,
)
from tests.evaluation.browser.conftest import Trials
from tests.evaluation.browser.living import (
    PATIENCE_S,
    chromium_group,
    drivers,
    wait_until_gone,
)
from tests.waiting import wait_for

KILLED = """
import os, signal
from poor_bench.evaluation.browser.watchdog import make_temporary_folder
with make_temporary_folder() as folder:
    (folder / "playwright-artifacts-x").mkdir()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def left_by_a_killed_process() -> None:
    subprocess.run([sys.executable, "-c", KILLED], check=False)


@pytest.mark.slow(reason="kills a process of its own")
def test_files_of_a_killed_process_are_removed_at_the_next_start(profiles: Path) -> None:
    left_by_a_killed_process()
    [left] = profiles.iterdir()
    assert [path.name for path in left.glob("playwright*")] == ["playwright-artifacts-x"]
    remove_leftovers(list)
    assert list(profiles.iterdir()) == []


def test_files_in_use_and_files_of_others_are_kept(profiles: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (target / "lock").touch()
    (profiles / "poor_bench-browser-link").symlink_to(target)
    (profiles / "poor_bench-browser-foreign").mkdir()
    (profiles / "playwright-artifacts-foreign").mkdir()
    with make_temporary_folder() as used:
        remove_leftovers(list)
        assert used.is_dir()
    assert len(list(profiles.iterdir())) == 3
    assert list(target.iterdir()) == [target / "lock"]


def test_no_folder_is_made_within_that_of_a_driver_that_starts_meanwhile(profiles: Path) -> None:
    with make_temporary_folder() as other, give_to_children(other), make_temporary_folder() as own:
        assert own.parent == other.parent == profiles


@pytest.mark.slow(reason="kills a process of its own")
def test_a_chromium_of_a_killed_process_is_ended_and_no_other(profiles: Path) -> None:
    left_by_a_killed_process()
    [left] = profiles.iterdir()
    with (
        subprocess.Popen(
            [sys.executable, "-c", "input()"], stdin=-1, start_new_session=True
        ) as its,
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=-1, process_group=0) as other,
    ):
        command = f"chromium --user-data-dir={left}/playwright_chromiumdev_profile-a --flag"
        table = [
            Process(its.pid, 1, its.pid, command),
            Process(other.pid, 1, other.pid, command.replace(str(left), f"{left}z")),
        ]
        remove_leftovers(lambda: table)
        assert its.wait(PATIENCE_S) == -signal.SIGKILL
        assert other.poll() is None
        other.kill()


def test_the_environment_is_as_before(profiles: Path) -> None:
    with make_temporary_folder() as folder, give_to_children(folder):
        assert os.environ["TMPDIR"] == str(folder)
    assert os.environ["TMPDIR"] == str(profiles)


@pytest.mark.browser
def test_killing_a_run_with_its_driver_and_its_browser_leaves_nothing_behind(
    trials: Trials, profiles: Path, tmp_path: Path
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
        started = [*drivers(ours.pid), *chromium_group(profiles)]
        for process in started:
            with suppress(ProcessLookupError):  # some end as soon as another one is killed
                os.kill(process.number, signal.SIGKILL)
        ours.kill()
    wait_until_gone(started)
    wait_for(lambda: any(profiles.iterdir()))
    with trials.session():
        assert len(list(profiles.glob("*"))) == 1
    assert list(profiles.iterdir()) == []
