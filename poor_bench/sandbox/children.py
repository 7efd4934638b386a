"""A child as this process sees it: its interpreter, output, scratch folder, order and end."""

from __future__ import annotations

import itertools
import os
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from poor_bench.errors import SandboxError
from poor_bench.sandbox.channel import Channel, ChannelClosedError, DeadlineError
from poor_bench.sandbox.encoding import DecodeError
from poor_bench.sandbox.levels import Mechanism
from poor_bench.sandbox.messages import (
    CheckerOrder,
    Order,
    message_to_readiness,
    order_to_message,
)
from poor_bench.sandbox.program import Exit

_PROJECT = Path(__file__).parents[2]
# imports one part of the package without the rest: what is not there need not be forked
_START = """
import sys, types
sys.path.insert(0, sys.argv[1])
package = types.ModuleType("poor_bench.sandbox")
package.__path__ = [sys.argv[1] + "/poor_bench/sandbox"]
sys.modules[package.__name__] = package
from poor_bench.sandbox.inside.{module} import main
main(*sys.argv[2:])
"""
START_TIMEOUT_S = 60.0
MAX_REASON = 2000
_MAX_REMOVAL_S = 1.0
# one thread: programs that leave much behind wait for each other, and the disk is not flooded
_cleaner = ThreadPoolExecutor(max_workers=1, thread_name_prefix="scratch folders")
_NEEDED_TO_START = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")
_ENVIRONMENT = {
    "HOME": "/",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    # the same order of sets every time, so that the same program gets the same score
    "PYTHONHASHSEED": "0",
    # resolve all symbols once, and not again in every child
    "LD_BIND_NOW": "1",
    # the C library and numerical ones reserve memory for each thread
    "MALLOC_ARENA_MAX": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


def build_interpreter_command(module: str, *arguments: str) -> list[str]:
    """Build the command that runs `main` of a module in `poor_bench.sandbox.inside`."""
    start = _START.format(module=module)
    return [sys.executable, "-s", "-P", "-c", start, str(_PROJECT), *arguments]


def build_environment() -> dict[str, str]:
    """Build the environment of the sandbox's interpreters: nothing of this process's own."""
    needed = {name: os.environ[name] for name in _NEEDED_TO_START if name in os.environ}
    return {**_ENVIRONMENT, **needed}


class ChildOutputFile:
    """A file for what a child writes; it outlives the child, so that nothing is lost with it.

    It is in memory where the system has such files. The child's limits limit its size. Child and
    reader may share their position in it, which is why reading never moves that.
    """

    def __init__(self) -> None:
        self._n_taken = 0
        self._path: Path | None = None
        if hasattr(os, "memfd_create"):
            self._descriptor = os.memfd_create("output")
        else:
            self._descriptor, name = tempfile.mkstemp(prefix="output-")
            self._path = Path(name)

    def fileno(self) -> int:
        """Number of the descriptor that the child inherits."""
        return self._descriptor

    def take(self, max_bytes: int) -> str:
        """Read what was written since the last time, as far as it is within the first bytes."""
        content = self._read(self._n_taken, max(0, max_bytes - self._n_taken))
        self._n_taken += len(content)
        return content.decode("utf-8", "replace")

    def close(self) -> None:
        """Drop the file."""
        os.close(self._descriptor)
        if self._path is not None:
            self._path.unlink()

    def _read(self, start: int, length: int) -> bytes:
        if self._path is None:
            return os.pread(self._descriptor, length, start)
        with self._path.open("rb") as file:
            file.seek(start)
            return file.read(length)


class ChildProcess(Protocol):
    """A child that was started and waits for its order."""

    channel: Channel
    output: ChildOutputFile

    def hand_over(self, other: Channel, message: object, deadline: float) -> bool:
        """Send a message over another channel, and our end of this one, where that is possible.

        Args:
            other: To another child.
            message: Plain data.
            deadline: When it has to be sent, in seconds of `time.monotonic`.

        Returns:
            True if it was sent; `channel` is then of no more use.

        Raises:
            ChannelClosedError: If the other child is gone.
            DeadlineError: If it did not take the message in time.
            EncodeError: If the message is too large to be sent.
        """

    def end(self) -> Exit:
        """Kill the child and all that it started; return once they are gone.

        Raises:
            SandboxError: If nothing is known of its end.
        """


class Launcher(Protocol):
    """Starts children; used by one program at a time.

    Attributes:
        links_children: True if they can be handed over to each other.
    """

    links_children: bool

    def missing(self) -> Mapping[Mechanism, str]:
        """Tell which mechanisms are not in force, and why.

        Raises:
            SandboxError: If children cannot be started at all.
        """

    def launch(self, *, is_apart: bool = False) -> ChildProcess:
        """Start a child, or take one that was started before and waits for its order.

        Args:
            is_apart: Give it a scratch folder of its own instead of the one that children have in
                turn; it can then live beside others.

        Raises:
            SandboxError: If it cannot be started.
        """

    def close(self) -> None:
        """End all children."""


class RunningChild:
    """A child that has its order."""

    def __init__(self, process: ChildProcess, output_bytes: int) -> None:
        self.process = process
        self._output_bytes = output_bytes
        self._exit: Exit | None = None

    @property
    def channel(self) -> Channel:
        """The way to the child."""
        return self.process.channel

    def take_output(self) -> str:
        """Read what the child wrote to stdout and stderr since the last time."""
        return self.process.output.take(self._output_bytes)

    def end(self) -> Exit:
        """Kill the child and all that it started; tell how it ended.

        Raises:
            SandboxError: If nothing is known of its end.
        """
        if self._exit is None:
            self._exit = self.process.end()
        return self._exit

    def wait_until_ready(self) -> None:
        """Wait until the child is locked in, before it sees any candidate code.

        Raises:
            SandboxError: If it cannot be locked in.
        """
        with _failing_to_start(self):
            message = self.channel.receive(time.monotonic() + START_TIMEOUT_S)
            reason = message_to_readiness(message)
        if reason:
            raise SandboxError(f"a program cannot be locked in: {reason}")


@contextmanager
def run_child(launcher: Launcher, order: Order) -> Iterator[RunningChild]:
    """Start a child and give it its order, completed with a scratch folder where it needs one.

    The child, all that it started and the folder are gone afterwards.

    Raises:
        SandboxError: If the child cannot be started.
        EncodeError: If the order is too large to be sent.
    """
    with provide_scratch_folder(launcher.missing()) as scratch:
        process = launcher.launch(is_apart=isinstance(order, CheckerOrder))
        child = RunningChild(process, order.limits.output_bytes)
        try:
            with _failing_to_start(child):
                message = order_to_message(order._replace(scratch=scratch))
                child.channel.send_trusted(message, time.monotonic() + START_TIMEOUT_S)
            yield child
        finally:
            try:
                child.end()
            finally:
                process.output.close()


@contextmanager
def _failing_to_start(child: RunningChild) -> Iterator[None]:
    try:
        yield
    except (ChannelClosedError, DeadlineError, DecodeError) as error:
        reason = child.take_output().strip()[-MAX_REASON:] or type(error).__name__
        raise SandboxError(f"a process of the sandbox does not start: {reason}") from error


@contextmanager
def provide_scratch_folder(missing: Mapping[Mechanism, str]) -> Iterator[str | None]:
    """Make a folder for one child, and remove it and all that is in it afterwards.

    What takes longer than `_MAX_REMOVAL_S` to remove is removed in the background.

    Yields:
        Its path, or None where children make their own.
    """
    if Mechanism.BARE_ROOT not in missing:
        yield None
        return
    folder = tempfile.mkdtemp(prefix="poor_bench-")
    try:
        yield folder
    finally:
        with suppress(TimeoutError):
            _cleaner.submit(_remove, folder).result(_MAX_REMOVAL_S)


def _remove(folder: str) -> None:
    with suppress(OSError, RecursionError):
        shutil.rmtree(folder)
    with suppress(OSError):
        _remove_deep_folders(Path(folder))


def _remove_deep_folders(root: Path) -> None:
    """Remove a folder in which others are nested too deeply for paths and recursion, if it exists.

    What is in a folder is moved to the top before that folder is removed, so paths stay short.
    """
    if not root.exists():
        return
    token, numbers = secrets.token_hex(8), itertools.count()
    folders = [root]
    while folders:
        folder = folders.pop()
        for item in list(folder.iterdir()):
            if item.is_dir() and not item.is_symlink():
                item.chmod(0o700)
                folders.append(item.rename(root / f"{token}-{next(numbers)}"))
            else:
                item.unlink()
        if folder != root:
            folder.rmdir()
    root.rmdir()
