"""Safe access to files: regular ones only, inside the workspace, nested 100 levels at most."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from poor_bench.errors import StoreError

MAX_DEPTH = 100
_TOO_DEEP = f"it is nested more than {MAX_DEPTH} levels deep"
_BINARY: int = getattr(os, "O_BINARY", 0)
_JSON_TEXT = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_BRACKET = re.compile(r"[\[\]{}]")


class TooDeepError(ValueError):
    """A text is nested so deeply that code which follows its levels would fail."""


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading, and nothing else: a pipe or device would block or never end.

    Raises:
        OSError: If it cannot be opened, or is not a regular file.
    """
    # without O_NONBLOCK, opening a pipe waits for a writer; Windows has neither
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY)
    kind = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(kind):
        os.close(descriptor)
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        raise OSError(errno.EINVAL, "this is a pipe or a device, not a file", str(path))
    return open(descriptor, "rb")  # noqa: PTH123 - a descriptor; the caller closes it


def require_within(folder: Path, written: str, start: Path | None = None) -> Path:
    """Find the file that a file of a workspace names, symbolic links followed.

    Args:
        folder: What the file has to be in.
        written: The path as it is written.
        start: What a relative path starts at; `folder` by default.

    Raises:
        PermissionError: If the path leads out of the folder.
    """
    path = ((start or folder) / written).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise PermissionError(
            errno.EACCES, f"it leads out of {folder}; copy the file into it", written
        )
    return path


def write_beside(path: Path, write: Callable[[BinaryIO], object]) -> bool:
    """Write a file of the index as a whole; without permission or space, the one before stays.

    Returns:
        True if it was written.
    """
    draft = path.with_name(f".{os.getpid()}.{time.monotonic_ns()}.draft")
    with suppress(OSError):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with draft.open("wb") as stream:
                write(stream)
            draft.replace(path)
            return True
        finally:
            draft.unlink(missing_ok=True)
    return False


def read_kept(path: Path, about: str) -> Any:
    """Read what `write_kept` wrote; None where there is nothing, or it is damaged.

    Args:
        path: The file.
        about: What the values depend on; values of anything else count as nothing.
    """
    import orjson

    try:
        with open_regular(path) as stream:
            digest, content = stream.readline().strip(), stream.read()
        if digest != sha256(content).hexdigest().encode():
            return None
        known, values = orjson.loads(content)
        return values if known == about else None
    except (OSError, TypeError, ValueError):
        return None


def write_kept(path: Path, about: str, values: object) -> None:
    """Keep values that JSON can hold; without permission or space, nothing is kept.

    Raises:
        TypeError: If JSON cannot hold them.
    """
    import orjson

    content = orjson.dumps([about, values], option=orjson.OPT_NON_STR_KEYS)
    lines = (sha256(content).hexdigest().encode(), b"\n", content)
    write_beside(path, lambda stream: stream.writelines(lines))


@contextmanager
def tell_os_errors(path: Path) -> Iterator[None]:
    """Raise what the operating system refuses as an error of the store.

    Args:
        path: The file that is named where the system names none.

    Raises:
        StoreError: Instead of every OSError.
    """
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{error.filename or path}: {error.strerror or error}",
            hint="Check the permissions of the file and its folder. Stored results are intact.",
        ) from error


def load_json_text(text: str, **how: Any) -> Any:
    """Parse JSON of a user or a stranger.

    Args:
        text: The JSON.
        how: Arguments of `json.loads`.

    Raises:
        TooDeepError: If it is nested too deeply.
        ValueError: If it is not JSON.
    """
    refuse_deep_json(text)
    return json.loads(text, **how)


def refuse_deep_json(text: str) -> None:
    """Raise TooDeepError for JSON that is nested too deeply; brackets in texts do not count."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for bracket in _BRACKET.findall(_JSON_TEXT.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        if depth > MAX_DEPTH:
            raise TooDeepError(_TOO_DEEP)


def load_yaml_text(text: str) -> Any:
    """Parse YAML of a user or a stranger into what `yaml.safe_load` makes of it.

    Raises:
        YAMLError: If it is not YAML, or nested too deeply.
    """
    import yaml

    refuse_deep_yaml(text)
    return yaml.safe_load(text)


def refuse_deep_yaml(text: str) -> None:
    """Raise before the parser builds nodes: it recurses in C, and depth ends the process.

    Only brackets, indentation and markers of lists and keys nest, so most texts need no look.

    Raises:
        YAMLError: If it is nested too deeply.
    """
    import yaml

    if sum(map(text.count, "[{-?:")) < MAX_DEPTH:
        return
    try:
        depth = 0
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                raise _make_depth_error(event.start_mark)
    except yaml.scanner.ScannerError as error:
        # from 6.0.4 on, PyYAML stops at 1,000 levels by itself, which it may read ahead
        if "nesting depth" in (error.problem or ""):
            raise _make_depth_error(error.problem_mark) from None
        raise


def _make_depth_error(mark: Any) -> Exception:
    import yaml

    return yaml.MarkedYAMLError(problem=_TOO_DEEP, problem_mark=mark)
