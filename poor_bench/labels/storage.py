"""The file of all labels of a workspace: lines are appended, and none is ever changed."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import orjson

from poor_bench.config.document import lock_for_writing
from poor_bench.labels.label import (
    Label,
    keep_current_labels,
    label_from_record,
    label_to_record,
)
from poor_bench.messages import describe_invalid
from poor_bench.runs.journal import dump_record
from poor_bench.safe_files import open_regular, tell_os_errors

_LOG = logging.getLogger(__name__)
LABELS_FILE = "human_labels.jsonl"


def read_labels(data_dir: Path) -> list[Label]:
    """Read all labels of a workspace, oldest first.

    Lines that cannot be read are left out and logged.

    Raises:
        StoreError: If the file cannot be read.
    """
    path = data_dir / LABELS_FILE
    if not path.exists():
        return []
    labels = []
    with tell_os_errors(path), open_regular(path) as stream:
        lines = stream.read().splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            labels.append(label_from_record(orjson.loads(line)))
        except (ValueError, AttributeError) as error:
            _LOG.warning("%s:%d is skipped: %s", path, number, describe_invalid(error))
    return labels


def fingerprint_labels(data_dir: Path) -> tuple[int, int]:
    """Fingerprint of the file: it changes with every label; zeros without a file.

    Raises:
        StoreError: If the file cannot be looked at.
    """
    path = data_dir / LABELS_FILE
    with tell_os_errors(path):
        if not path.exists():
            return 0, 0
        seen = path.stat()
    return seen.st_size, seen.st_mtime_ns


def add_labels(data_dir: Path, labels: Iterable[Label]) -> None:
    """Append labels to those of a workspace.

    Raises:
        StoreError: If they cannot be written.
        ConfigError: If another process holds the file for long.
    """
    with lock_for_writing(data_dir / LABELS_FILE):
        _append(data_dir / LABELS_FILE, labels)


def merge_labels(data_dir: Path, labels: Iterable[Label], *, untimed: str = "") -> int:
    """Append those labels that a workspace does not hold yet; return their number.

    The run is not compared: sheets do not name it.

    Args:
        data_dir: The workspace.
        labels: The labels.
        untimed: Time of labels whose source has none; they are known if they repeat what the
            person says now.

    Raises:
        StoreError: If they cannot be written.
        ConfigError: If another process holds the file for long.
    """

    def choose(stored: list[Label]) -> list[Label]:
        said = (replace(label, when=untimed) for label in keep_current_labels(stored))
        known = {replace(label, run_id="") for label in (*stored, *said)}
        return [label for label in dict.fromkeys(labels) if replace(label, run_id="") not in known]

    return extend_labels(data_dir, choose)


def extend_labels(data_dir: Path, choose: Callable[[list[Label]], list[Label]]) -> int:
    """Append what is chosen by the stored labels; nobody else writes meanwhile.

    Args:
        data_dir: The workspace.
        choose: Returns the labels to append; takes all stored ones, oldest first.

    Returns:
        Number of appended labels.

    Raises:
        StoreError: If they cannot be written.
        ConfigError: If another process holds the file for long.
    """
    with lock_for_writing(data_dir / LABELS_FILE):
        new = choose(read_labels(data_dir))
        if new:
            _append(data_dir / LABELS_FILE, new)
    return len(new)


def _append(path: Path, labels: Iterable[Label]) -> None:
    lines = b"".join(dump_record(label_to_record(label)) + b"\n" for label in labels)
    with tell_os_errors(path), path.open("ab+") as stream:
        stream.write(lines if _ends_a_line(path) else b"\n" + lines)
        stream.flush()
        os.fsync(stream.fileno())


def _ends_a_line(path: Path) -> bool:
    """True if the file ends with a complete line; a killed process may leave half of one."""
    with open_regular(path) as stream:
        size = stream.seek(0, os.SEEK_END)
        if size == 0:
            return True
        stream.seek(size - 1)
        return stream.read(1) == b"\n"
