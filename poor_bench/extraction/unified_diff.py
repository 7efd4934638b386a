"""A unified diff out of a response: parse it, apply it, compare what two diffs change.

LLMs get much of the format wrong that does not matter for what changes: line numbers and counts in
hunk headers, `a/` and `b/` before names, the blank before an unchanged line. All that is read;
`Hunk.is_malformed` says so where it is more than a wrong number.

Of several fenced diffs the last one counts; where none is fenced, the lines from the first header
to the last line of a hunk do.

Format: GNU diffutils manual, "Detailed Description of Unified Format".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from poor_bench.extraction.fences import find_fenced_blocks
from poor_bench.extraction.found import Extracted, Found
from poor_bench.messages import write_count

_HUNK = re.compile(
    r"@@+(?:\s*-(?P<start>\d{1,9})(?:,(?P<n_old>\d{1,9}))?\s+\+\d{1,9}(?:,(?P<n_new>\d{1,9}))?\s*@@)?"
)
_NAME = re.compile(r"(?:---|\+\+\+)[ \t]+(?:[ab]/)?(?P<name>[^\t\r\n]*)")
_BETWEEN_FILES = ("diff ", "index ", "new file mode", "deleted file mode", "similarity ", "rename ")


@dataclass(frozen=True, slots=True)
class Hunk:
    """A piece of a file, before and after.

    Attributes:
        start: Line of the old file, from 1, as the header says; None where it does not.
        lines: Sign (` `, `-` or `+`) and text of every line, without line ends.
        is_malformed: Whether an unchanged line lacks its blank, or the header its numbers.
    """

    start: int | None
    lines: tuple[tuple[str, str], ...]
    is_malformed: bool

    @property
    def old(self) -> list[str]:
        """The lines before."""
        return [text for sign, text in self.lines if sign != "+"]

    @property
    def new(self) -> list[str]:
        """The lines after."""
        return [text for sign, text in self.lines if sign != "-"]


@dataclass(frozen=True, slots=True)
class FileDiff:
    """The hunks of one file; `name` is empty where the diff has no header."""

    name: str
    hunks: tuple[Hunk, ...]


def extract_diff(text: str) -> Extracted[tuple[FileDiff, ...]] | None:
    """Find the diff in `text`, one entry per file, or None where no line changes.

    Args:
        text: An answer, without thinking.
    """
    for block in reversed(find_fenced_blocks(text)):
        files = parse_diff(block.body)
        if files:
            return Extracted(files, Found.FENCED, block.body)
    files = parse_diff(text, ends_with_hunk=True)
    if not files:
        return None
    is_bare = text.lstrip().startswith(("---", "diff ", "@@"))
    return Extracted(files, Found.BARE if is_bare else Found.IN_PROSE, text.strip("\r\n"))


def parse_diff(text: str, *, ends_with_hunk: bool = False) -> tuple[FileDiff, ...]:
    """Read the files of a diff that change in some line; other text is passed over.

    Args:
        text: The diff.
        ends_with_hunk: Whether other text may follow: then a hunk ends where its header's counts
            are reached, or at the first line without a sign.
    """
    parser = _Parser(ends_with_hunk=ends_with_hunk)
    lines = [line.rstrip("\r") for line in text.split("\n")]
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        parser.take(line, following)
    return parser.finish()


class _Parser:
    """Reads a diff line by line."""

    def __init__(self, *, ends_with_hunk: bool) -> None:
        self._ends_with_hunk = ends_with_hunk
        self._files: list[FileDiff] = []
        self._name = ""
        self._hunks: list[Hunk] = []
        self._open: _OpenHunk | None = None
        self._has_old_name = False

    def take(self, line: str, following: str) -> None:
        """Read the next line, knowing the one after it."""
        header = _HUNK.match(line)
        if header is not None:
            self._end_hunk()
            self._open = _OpenHunk(header)
        # Within a hunk this may also be the removed line `-- `.
        elif line.startswith("--- ") and following.startswith("+++ "):
            self._end_file()
            self._name = _read_name(line)
            self._has_old_name = True
        elif line.startswith("+++ ") and self._has_old_name:
            self._name = self._name if "/dev/null" in line else _read_name(line)
            self._has_old_name = False
        elif line.startswith(_BETWEEN_FILES) or not self._add(line):
            self._end_hunk()

    def finish(self) -> tuple[FileDiff, ...]:
        """End the last file, and return all files that were read."""
        self._end_file()
        return tuple(self._files)

    def _add(self, line: str) -> bool:
        return self._open is None or self._open.take(line, self._ends_with_hunk)

    def _end_hunk(self) -> None:
        if self._open is not None:
            self._hunks.append(self._open.finish())
        self._open = None

    def _end_file(self) -> None:
        self._end_hunk()
        if any(sign != " " for hunk in self._hunks for sign, _ in hunk.lines):
            self._files.append(FileDiff(self._name, tuple(self._hunks)))
        self._name, self._hunks = "", []


class _OpenHunk:
    """A hunk whose lines are still being read."""

    def __init__(self, header: re.Match[str]) -> None:
        self._start = header["start"]
        self._n_old_missing = int(header["n_old"] or 1) if header["start"] else 0
        self._n_new_missing = int(header["n_new"] or 1) if header["start"] else 0
        self._lines: list[tuple[str, str]] = []
        self._is_malformed = header["start"] is None
        self._n_empty_at_end = 0

    def take(self, line: str, ends_with_hunk: bool) -> bool:
        """Add a line; return False where the hunk ended before it."""
        is_complete = self._n_old_missing <= 0 and self._n_new_missing <= 0
        sign, text = line[:1] or " ", line[1:]
        if sign == "\\":
            return True
        if sign not in "+- ":
            if ends_with_hunk and is_complete:
                return False
            sign, text = " ", line
            self._is_malformed = True
        elif ends_with_hunk and is_complete and sign == " " and self._start is not None:
            return False
        self._lines.append((sign, text))
        self._n_empty_at_end = 0 if line else self._n_empty_at_end + 1
        self._n_old_missing -= sign != "+"
        self._n_new_missing -= sign != "-"
        return True

    def finish(self) -> Hunk:
        while self._lines and self._lines[-1] == (" ", "") and self._is_last_too_many():
            self._lines.pop()
            self._n_old_missing += 1
            self._n_empty_at_end -= 1
        start = int(self._start) if self._start else None
        return Hunk(start, tuple(self._lines), self._is_malformed)

    def _is_last_too_many(self) -> bool:
        """True if a blank last line is no part of the hunk, by its sign or the header."""
        return self._n_empty_at_end > 0 or self._start is None or self._n_old_missing < 0


def _read_name(line: str) -> str:
    match = _NAME.match(line)
    return match["name"].strip() if match else ""


def list_changed_lines(hunks: Sequence[Hunk]) -> Iterator[tuple[str, str]]:
    """Yield sign and text of every line that a diff removes or adds."""
    return ((sign, text) for hunk in hunks for sign, text in hunk.lines if sign != " ")


_MAX_HUNKS = 500
_MAX_HUNK_LINES = 5_000


class DiffDoesNotApplyError(ValueError):
    """A hunk does not fit the text; the message says which."""


def apply_hunks(lines: Sequence[str], hunks: Sequence[Hunk]) -> list[str]:
    """Apply `hunks` to `lines`, in order.

    Each hunk goes where its old lines stand: nearest to where its header says, after the hunk
    before it. White space at the end of lines does not count.

    Args:
        lines: The text before, without line ends.
        hunks: Hunks of one file.

    Raises:
        DiffDoesNotApplyError: If the old lines of a hunk stand nowhere.
    """
    if len(hunks) > _MAX_HUNKS:
        raise DiffDoesNotApplyError(f"more than {_MAX_HUNKS} hunks")
    source = [line.rstrip() for line in lines]
    result: list[str] = []
    position = 0
    for number, hunk in enumerate(hunks, start=1):
        old = [line.rstrip() for line in hunk.old]
        place = _find(source, old, position, _find_expected_place(hunk))
        if place is None:
            raise DiffDoesNotApplyError(f"hunk {number} does not fit the original")
        result += source[position:place]
        result += (line.rstrip() for line in hunk.new)
        position = place + len(old)
    return result + source[position:]


def _find_expected_place(hunk: Hunk) -> int:
    if hunk.start is None:
        return 0
    # By the format, an insertion's header names the line that it comes after.
    return hunk.start if not hunk.old else max(hunk.start - 1, 0)


def _find(source: Sequence[str], old: Sequence[str], first: int, expected: int) -> int | None:
    last = len(source) - len(old)
    if not old:
        return min(max(expected, first), len(source))
    places = (
        place
        for place in range(first, last + 1)
        if source[place] == old[0] and source[place : place + len(old)] == old
    )
    return min(places, key=lambda place: abs(place - expected), default=None)


def normalise_changes(hunks: Sequence[Hunk]) -> list[tuple[list[str], list[str]]]:
    """List the changes of hunks, independent of context, order of signs and untouched lines.

    Returns:
        Removed and added lines of each place that changes, in order. Lines that a hunk removes
        and adds again are not among them.
    """
    from rapidfuzz.distance import Indel

    changes: list[tuple[list[str], list[str]]] = []
    for hunk in hunks:
        old = [line.rstrip() for line in hunk.old]
        new = [line.rstrip() for line in hunk.new]
        if len(old) + len(new) > _MAX_HUNK_LINES:
            changes.append((old, new))
            continue
        end = (-1, -1)
        for code in Indel.opcodes(old, new):
            if code.tag == "equal":
                continue
            pieces = old[code.src_start : code.src_end], new[code.dest_start : code.dest_end]
            if (code.src_start, code.dest_start) == end:
                changes[-1][0].extend(pieces[0])
                changes[-1][1].extend(pieces[1])
            else:
                changes.append(pieces)
            end = code.src_end, code.dest_end
    return changes


Files = Sequence[FileDiff]


def explain_difference(got: Files, expected: Files) -> str:
    """Explain how `got` changes something else than `expected`; empty if it does not.

    Names of files are compared without folders, and only where both diffs give them.
    """
    if len(got) != len(expected):
        return f"expected changes in {write_count(len(expected), 'file')}, got {len(got)}"
    for ours, theirs in zip(_sort_by_name(got), _sort_by_name(expected), strict=True):
        if (
            ours.name
            and theirs.name
            and _strip_directories(ours.name) != _strip_directories(theirs.name)
        ):
            return f"expected file {theirs.name!r:.80}, got {ours.name!r:.80}"
        if normalise_changes(ours.hunks) != normalise_changes(theirs.hunks):
            return "it changes other lines than expected"
    return ""


def compute_shared_changes(got: Files, expected: Files) -> float:
    """Compute the F1 score of changed lines, counted with their signs; 0.0 to 1.0."""
    ours, theirs = Counter(list_all_changes(got)), Counter(list_all_changes(expected))
    n_all = ours.total() + theirs.total()
    return 2 * (ours & theirs).total() / n_all if n_all else 0.0


def list_all_changes(files: Files) -> Iterable[str]:
    """List every changed line with its sign, without white space at its end."""
    return (sign + text.rstrip() for file in files for sign, text in list_changed_lines(file.hunks))


def _sort_by_name(files: Files) -> list[FileDiff]:
    return sorted(files, key=lambda file: _strip_directories(file.name))


def _strip_directories(name: str) -> str:
    return name.rpartition("/")[2]
