from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from poor_bench.config.document import UnreadableError, read_text
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.evaluation.reports import read_report
from poor_bench.importers.rows import read_rows
from poor_bench.results.results_file import read_results_file
from poor_bench.results.store import open_store
from poor_bench.safe_files import open_regular, require_within


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "input.json"
    os.mkfifo(path)
    return path


READERS: tuple[tuple[Callable[[Path], Any], type[Exception]], ...] = (
    (open_regular, OSError),
    (read_text, UnreadableError),
    (read_results_file, PoorBenchError),
    (read_report, ConfigError),
    (read_rows, ConfigError),
)


@pytest.mark.parametrize(("read", "error"), READERS)
def test_a_pipe_is_refused_and_not_waited_for(
    read: Callable[[Path], Any], error: type[Exception], pipe: Path
) -> None:
    with pytest.raises(error, match="pipe or a device"):
        read(pipe)


@pytest.mark.parametrize(("read", "error"), READERS)
def test_a_device_that_never_ends_is_refused(
    read: Callable[[Path], Any], error: type[Exception], tmp_path: Path
) -> None:
    path = tmp_path / "endless.json"
    path.symlink_to("/dev/zero")
    with pytest.raises(error, match="pipe or a device"):
        read(path)


def test_a_pipe_in_place_of_results_is_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "results.json")
    with pytest.raises(PoorBenchError, match="pipe or a device"):
        list(open_store(tmp_path).results())


def test_paths_stay_in_the_workspace(tmp_path: Path) -> None:
    folder = tmp_path / "bench"
    (folder / "agents").mkdir(parents=True)
    (tmp_path / "secret.md").write_text("secret")
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    assert require_within(folder, "tone.md") == (folder / "tone.md").resolve()
    assert require_within(folder, "../tone.md", folder / "agents") == (folder / "tone.md").resolve()
    for written in ("../secret.md", str(tmp_path / "secret.md"), "link.md", "agents/../../x"):
        with pytest.raises(PermissionError, match="leads out of"):
            require_within(folder, written)
