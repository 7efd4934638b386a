"""Two diffs compared by what they change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from poor_bench.extraction.diff_application import normal_changes
from poor_bench.extraction.unified_diff import FileDiff, changed_lines
from poor_bench.messages import counted

Files = Sequence[FileDiff]


def difference_of_diffs(got: Files, expected: Files) -> str:
    """Return in words how `got` changes something else than `expected`; empty if it does not.

    Names of files are compared without folders, and only where both diffs give them.
    """
    if len(got) != len(expected):
        return f"expected changes in {counted(len(expected), 'file')}, got {len(got)}"
    for ours, theirs in zip(_by_name(got), _by_name(expected), strict=True):
        if ours.name and theirs.name and _base(ours.name) != _base(theirs.name):
            return f"expected file {theirs.name!r:.80}, got {ours.name!r:.80}"
        if normal_changes(ours.hunks) != normal_changes(theirs.hunks):
            return "it changes other lines than expected"
    return ""


def share_of_changes(got: Files, expected: Files) -> float:
    """Return the F1 score of changed lines, counted with their signs; 0.0 to 1.0."""
    ours, theirs = Counter(all_changes(got)), Counter(all_changes(expected))
    n_all = ours.total() + theirs.total()
    return 2 * (ours & theirs).total() / n_all if n_all else 0.0


def all_changes(files: Files) -> Iterable[str]:
    """Return every changed line with its sign, without white space at its end."""
    return (sign + text.rstrip() for file in files for sign, text in changed_lines(file.hunks))


def _by_name(files: Files) -> list[FileDiff]:
    return sorted(files, key=lambda file: _base(file.name))


def _base(name: str) -> str:
    return name.rpartition("/")[2]
