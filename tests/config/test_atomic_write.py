from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from poor_bench.config.document import write_atomically
from poor_bench.errors import ConfigError, StoreError


def test_the_file_has_the_new_content_and_the_old_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o600)
    write_atomically(path, "new ü")
    assert path.read_text(encoding="utf-8") == "new ü"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old", encoding="utf-8")
    (tmp_path / "link").symlink_to("real")
    write_atomically(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text(encoding="utf-8") == "new"


def test_a_failure_keeps_the_old_content_and_leaves_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_text("old", encoding="utf-8")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigError, match="No space left"):
        write_atomically(path, "new")
    assert [(p.name, p.read_text(encoding="utf-8")) for p in tmp_path.iterdir()] == [("a", "old")]


def test_a_missing_folder_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be written"):
        write_atomically(tmp_path / "no" / "a", "x")


def test_pieces_that_cannot_be_made_keep_the_old_content(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old", encoding="utf-8")

    def pieces() -> Iterator[str]:
        yield "new"
        raise StoreError("the index is damaged")

    with pytest.raises(StoreError, match="damaged"):
        write_atomically(path, pieces())
    assert [(p.name, p.read_text(encoding="utf-8")) for p in tmp_path.iterdir()] == [("a", "old")]
    write_atomically(path, iter(["ne", "w"]))
    assert path.read_text(encoding="utf-8") == "new"
