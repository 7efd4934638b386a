"""Read, lock and replace one file of the workspace, as a whole or not at all; tell what is wrong.

A report collects the problems of a file, each with the place where it stands.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from poor_bench.command_line import next_command
from poor_bench.errors import ConfigError
from poor_bench.models.problem import Problem, Severity
from poor_bench.safe_files import open_regular

Place = tuple[str | int, ...]
"""Where something stands in a file: keys and list positions, from the outside in."""


def place_to_text(place: Place) -> str:
    """Write a place as users read it.

    Example:
        >>> place_to_text(("tests", 12, "evaluation_module", "name"))
        'tests[12].evaluation_module.name'
        >>> place_to_text(("overrides", "ollama:gemma3:1b"))
        'overrides["ollama:gemma3:1b"]'
    """
    text = ""
    for part in place:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part.isidentifier() or part.startswith("$"):
            text += f".{part}" if text else part
        else:
            text += f'["{part}"]'
    return text


def location_to_text(location: Sequence[int | str]) -> str:
    """Write a pydantic location as we write places.

    Example:
        >>> location_to_text(("evaluators", 0, "name"))
        'evaluators[0].name'
    """
    parts = (f"[{key}]" if isinstance(key, int) else f".{key}" for key in location)
    return "".join(parts).removeprefix(".")


def parse_place(text: str) -> Place:
    """Read the place that `place_to_text` wrote.

    Example:
        >>> parse_place('tests[12].fields["a b"]')
        ('tests', 12, 'fields', 'a b')
    """
    parts = re.findall(r'\["([^"]{0,300})"\]|\[(\d+)\]|([^.\[\]]+)', text)
    return tuple(quoted or name or int(index) for quoted, index, name in parts)


class Report:
    """The problems of one file.

    Attributes:
        file: Path of the file as the user would write it.
        problems: What was found so far.
    """

    def __init__(self, file: str, line_of: Callable[[Place], int | None] | None = None) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self._line_of = line_of or (lambda _place: None)

    def error(
        self, place: Place, message: str, *, hint: str = "", code: str = "", line: int | None = None
    ) -> None:
        """Note an error that must be fixed before anything can run."""
        self._add(Severity.ERROR, place, message, hint, code, line)

    def warning(
        self, place: Place, message: str, *, hint: str = "", code: str = "", line: int | None = None
    ) -> None:
        """Note something that is probably not what was meant."""
        self._add(Severity.WARNING, place, message, hint, code, line)

    def _add(
        self,
        severity: Severity,
        place: Place,
        message: str,
        hint: str,
        code: str,
        line: int | None,
    ) -> None:
        problem = Problem(
            file=self.file,
            place=place_to_text(place),
            message=message,
            hint=hint,
            severity=severity,
            line=self._line_of(place) if line is None else line,
            code=code,
        )
        self.problems.append(problem)


Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Loaded(Generic[Item]):
    """What one file holds; where an id stands twice, the first one."""

    report: Report
    by_id: dict[str, Item]
    places: dict[str, Place]
    written_ids: frozenset[str] = frozenset()
    """Ids of all entries, valid or not."""
    digest: str = ""
    """Names all that the entries depend on; empty where they are few enough to tell each."""

    @property
    def items(self) -> tuple[Item, ...]:
        """The entries in the order of the file."""
        return tuple(self.by_id.values())


def collect(
    entries: Iterable[tuple[Place, Item]],
    id_of: Callable[[Item], str],
    report: Report,
    *,
    written_ids: frozenset[str] = frozenset(),
    hint: str = "give one of them another id",
) -> Loaded[Item]:
    """Collect the entries by id; the report takes ids that stand twice."""
    loaded: Loaded[Item] = Loaded(report, {}, {}, written_ids)
    for place, item in entries:
        item_id = id_of(item)
        if item_id in loaded.by_id:
            first = place_to_text(loaded.places[item_id])
            message = f"the id `{item_id}` is already used by {first}"
            report.error(place, message, hint=hint, code="duplicate-id")
        else:
            loaded.by_id[item_id] = item
            loaded.places[item_id] = place
    return loaded


_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Document:
    """Plain data (dict, list, str, int, float, bool, None) and where each part of it stands."""

    data: Any
    line_of: Callable[[Place], int | None]


class UnreadableError(Exception):
    """A file cannot be parsed; one sentence says why.

    Attributes:
        hint: The way out.
        line: Where in the file, counted from 1, when known.
        place: The place that is wrong, when it is one.
    """

    def __init__(
        self, message: str, *, hint: str = "", line: int | None = None, place: Place = ()
    ) -> None:
        super().__init__(message)
        self.hint = hint
        self.line = line
        self.place = place


def find_line_and_column(text: str, position: int) -> tuple[int, int]:
    r"""Compute line and column of a position as editors show them, both counted from 1.

    Lines end with ``\n``, ``\r\n`` or ``\r``; a byte order mark must have been dropped.
    """
    lines = _LINE_END.split(text[:position])
    return len(lines), len(lines[-1]) + 1


def read_text(path: Path) -> str:
    """Read the text of a file; a byte order mark is dropped.

    Raises:
        UnreadableError: If the file does not exist, or is not UTF-8 text.
    """
    try:
        with open_regular(path) as stream:
            raw = stream.read().removeprefix(BOM_UTF8)
    except FileNotFoundError:
        raise UnreadableError("the file does not exist", hint=_write_example_hint()) from None
    except IsADirectoryError:
        raise UnreadableError("this is a directory; a file is expected here") from None
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror or error}") from None
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode()
        line, column = find_line_and_column(before, len(before))
        message = f"this is not UTF-8 text: byte 0x{raw[error.start]:02x} at column {column}"
        raise UnreadableError(message, hint="save it as UTF-8", line=line) from None
    if not text.strip():
        raise UnreadableError(
            "the file is empty",
            hint=_write_example_hint(),
        )
    return text


def read_given_text(path: Path) -> str:
    """Read a file that a user named.

    Raises:
        ConfigError: If it cannot be read.
    """
    try:
        return read_text(path)
    except UnreadableError as error:
        raise ConfigError(f"{path}: {error}", hint=error.hint) from error


def _write_example_hint() -> str:
    command = next_command("init FOLDER", in_workspace=False)
    return f"`{command}` makes a workspace with an example of it"


def open_document(path: Path, parse: Callable[[str], Document]) -> tuple[Document | None, Report]:
    """Open a parsed file and the report for what is wrong in it.

    Returns:
        The document, or None where the file cannot be parsed; the report then says why.
    """
    try:
        document = parse(read_text(path))
    except UnreadableError as error:
        report = Report(str(path))
        report.error(error.place, str(error), hint=error.hint, line=error.line, code="unreadable")
        return None, report
    return document, Report(str(path), document.line_of)


_WAIT_S = 30.0


@contextmanager
def lock_for_writing(path: Path) -> Iterator[None]:
    """Keep other processes from changing a file in the meantime; reading needs no lock.

    Raises:
        ConfigError: If another process holds it for long, or the folder cannot be written.
    """
    from filelock import FileLock

    lock = FileLock(path.with_name(f".{path.name}.lock"), timeout=_WAIT_S)
    try:
        lock.acquire()
    except OSError as error:
        raise ConfigError(f"{path} cannot be locked for writing: {error}") from error
    try:
        yield
    finally:
        lock.release()


def write_atomically(path: Path, text: str | Iterable[str]) -> None:
    """Write a file so that readers see the old content or the new one, also after a crash.

    Permissions of an existing file are kept; a symbolic link is followed.

    Args:
        path: The file.
        text: Its content, as a whole or in pieces.

    Raises:
        ConfigError: If it cannot be written; what was there before is untouched.
    """
    import tempfile

    target = path.resolve()
    temporary: Path | None = None
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        temporary = Path(name)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as stream:
            stream.writelines((text,) if isinstance(text, str) else text)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(_read_mode(target))
        temporary.replace(target)
    except BaseException as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()
        if not isinstance(error, OSError):
            raise  # what yields the pieces failed
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from error


def _read_mode(target: Path) -> int:
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        return 0o644
