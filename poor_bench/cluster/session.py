"""A session with a dask cluster: examines its workers, gives them work, hears when one is gone."""

from __future__ import annotations

import logging
import pickle
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from poor_bench.cluster import work
from poor_bench.cluster.definitions import Definitions
from poor_bench.cluster.members import (
    ClusterMember,
    MemberTable,
    Need,
    describe_missing,
    find_refusal,
)
from poor_bench.cluster.task import run_pickled
from poor_bench.errors import ConfigError, RunCancelledError
from poor_bench.extras import import_extra
from poor_bench.sandbox import Level

if TYPE_CHECKING:
    from distributed import Client, Future

REQUIREMENT = "distributed>=2025.1"
CONNECT_S = 10.0
"""Seconds within which a scheduler has to answer."""
PATIENCE_S = 60.0
"""Seconds that work waits for a worker while the cluster has none that can do it."""
MOST_ATTEMPTS = 3
"""Workers that may die with a piece of work before it is given up."""
_EXAMINE_S = 60.0
_FETCH_S = 2.0
_MOST_FETCHES = 30
_LOOK_S = 0.5
_CHECK_S = 0.25

Value = TypeVar("Value")


class WorkerLostError(Exception):
    """Workers died with a piece of work, one after the other."""


class ClusterSession:
    """Work for the workers of one cluster; safe to use from several threads."""

    def __init__(
        self,
        client: Client,
        definitions: Definitions,
        lowest: Level,
        *,
        tell: Callable[[str], None],
        patience_s: float = PATIENCE_S,
    ) -> None:
        """Examine the workers that are there; later ones are examined when they come.

        Args:
            client: Connected; the session does not close it.
            definitions: The workspace.
            lowest: Lowest sandbox level at which code of models may run.
            tell: Told what happens to workers, one sentence each.
            patience_s: How long work waits while no worker can do it.
        """
        self.lowest = lowest
        self.content_hash = definitions.content_hash
        self.table = MemberTable(patience_s, time.monotonic)
        self.host = work.identify().host
        self._client = client
        self._definitions = definitions
        self.tell = tell
        self._seen: set[str] = set()
        self._closed = threading.Event()
        self._look()
        threading.Thread(target=self._watch, name="cluster watch", daemon=True).start()

    def wait_for_worker(self) -> bool:
        """Wait until a worker can work; False if none comes, or those that are there cannot."""
        return self.table.wait_for_ready()

    def close(self) -> None:
        """Stop watching the workers."""
        self._closed.set()

    def machines(self) -> dict[str, dict[str, Any]]:
        """Collect the facts of the machines that work, by their names."""
        return {m.host: m.readiness.machine for m in self.table.members if m.readiness}

    def call(
        self,
        do: Callable[..., work.Outcome[Value]],
        *arguments: Any,
        need: Need,
        cancelled: Callable[[], bool],
        most_attempts: int = MOST_ATTEMPTS,
    ) -> tuple[Value, ClusterMember]:
        """Do a piece of work on a worker, and on another one if that dies; return its value.

        Args:
            do: A function of `work`.
            arguments: Of it, after the hash of the definitions and the name of the task.
            need: What the worker must be able to do.
            cancelled: Asked again and again; true ends the wait.
            most_attempts: Workers that it is tried on.

        Raises:
            PoorBenchError: What `do` ended with; its attribute `member` names the worker.
            NoMemberError: If no worker can do it, also not after a while.
            WorkerLostError: If workers died with it, or the cluster lost it.
            RunCancelledError: If `cancelled()` turned true.
        """
        for _ in range(most_attempts):
            with self.table.place(need, cancelled) as member:
                outcome = self.call_member(member, do, *arguments, cancelled=cancelled)
            if isinstance(outcome, work.WorkDone):
                return outcome.value, member
            if outcome is not None:
                outcome.__dict__["member"] = member
                raise outcome
        raise WorkerLostError(f"{most_attempts} workers died with it")

    def call_member(
        self,
        member: ClusterMember,
        do: Callable[..., work.Outcome[Value]],
        *arguments: Any,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> work.Outcome[Value] | None:
        """Do a piece of work on one worker; None if that died.

        Raises:
            RunCancelledError: If `cancelled()` turned true.
        """
        key = f"{do.__name__}-{uuid.uuid4().hex}"
        task = self._submit(member, do, self.content_hash, key, *arguments, key=key)
        outcome: work.Outcome[Value] | None = task.wait(cancelled)
        return outcome

    def _submit(
        self, member: ClusterMember, do: Callable[..., Any], *arguments: Any, key: str
    ) -> _Task:
        future = self._client.submit(
            run_pickled,
            pickle.dumps((do, arguments)),
            key=key,
            workers=[member.address],
            allow_other_workers=False,
            pure=False,
        )
        return _Task(future, member)

    def _watch(self) -> None:
        while not self._closed.wait(_LOOK_S):
            with suppress(OSError, RuntimeError, ValueError):  # told by the work that waits
                self._look()

    def _look(self) -> None:
        """Notice which workers are gone and which are new."""
        try:
            infos = self._ask_for_workers()
        except (OSError, RuntimeError, TimeoutError, AttributeError):
            if self._client.status == "running":
                return  # a busy scheduler answers later
            infos = {}
        for member in self.table.keep_only(infos):
            if not self._closed.is_set():
                self.tell(f"Worker {member} is gone; its work goes to others.")
        new = [address for address in infos if address not in self._seen]
        self._seen = set(infos)
        examiners = [
            threading.Thread(target=self._admit, args=(address, infos[address]["nthreads"]))
            for address in new
        ]
        for thread in examiners:
            thread.start()
        for thread in examiners:
            thread.join()

    def _ask_for_workers(self) -> dict[str, Any]:
        """Ask the scheduler for its workers, by address.

        Not by `Client.scheduler_info`: another thread of dask replaces its answer by one without
        workers now and then.
        """
        identify = self._client.scheduler.identity
        answer = self._client.sync(identify, n_workers=-1, callback_timeout=CONNECT_S)
        workers: dict[str, Any] = answer["workers"]
        return workers

    def _admit(self, address: str, n_threads: int) -> None:
        member = ClusterMember(address=address, host="?", n_threads=n_threads)
        try:
            self._examine(member)
        except Exception as error:  # noqa: BLE001 - code of another version may raise anything
            reason = f"{type(error).__name__}: {_first_line(error.__cause__ or error)}"
            member.refusal = f"{describe_missing()} ({reason})"
        if member.refusal:
            self.tell(f"Worker {member} gets no work: {member.refusal}.")
        elif member.readiness and member.readiness.sandbox < self.lowest:
            found, required = member.readiness.sandbox.label, self.lowest.label
            self.tell(
                f"Worker {member} gets no code of models to run: its sandbox level is {found}, "
                f"{required} is required."
            )
        self.table.add(member)

    def _examine(self, member: ClusterMember) -> None:
        found: work.Identity = self.run(member, work.identify)
        member.host = found.host
        member.refusal = find_refusal(found, work.identify())
        if member.refusal:
            return
        is_known = self.run(member, work.has_definitions, self.content_hash)
        sent = None if is_known else self._definitions
        ready = self.run(member, work.prepare, self.content_hash, sent, self.lowest)
        if isinstance(ready, work.WorkDone):
            member.readiness = ready.value
        else:
            member.refusal = str(ready)

    def run(self, member: ClusterMember, do: Callable[..., Value], *arguments: Any) -> Value:
        """Do something on one worker, whatever it can or cannot be used for."""
        key = f"{do.__name__}-{uuid.uuid4().hex}"
        value: Value = self._submit(member, do, *arguments, key=key).fetch(_EXAMINE_S)
        return value


class _Task:
    """One dask task, bound to one worker."""

    def __init__(self, future: Future, member: ClusterMember) -> None:
        self._future = future
        self._member = member
        self._ended = threading.Event()
        future.add_done_callback(lambda _future: self._ended.set())

    def wait(self, cancelled: Callable[[], bool]) -> Any:
        """Wait for the value; None if the worker is lost.

        Raises:
            RunCancelledError: If `cancelled()` turned true; the task is then told to end.
        """
        while not self._ended.wait(_CHECK_S):
            if cancelled():
                self._future.cancel()
                raise RunCancelledError("the run was stopped")
            if self._member.lost.is_set():
                self._future.cancel()
                return None
        return self._fetch_or_none()

    def _fetch_or_none(self) -> Any:
        from distributed.client import FutureCancelledError

        for _ in range(_MOST_FETCHES):
            # a worker may die before its value is here
            if self._future.status != "error" and self._member.lost.is_set():
                break
            try:
                return self.fetch(_FETCH_S)
            except TimeoutError:
                continue
            except (FutureCancelledError, OSError):
                break
        self._future.cancel()
        return None

    def fetch(self, timeout_s: float) -> Any:
        """Fetch the value."""
        value = self._future.result(timeout=timeout_s)
        self._future.release()
        return value


def split_address(address: str) -> int | str:
    """Read what `--cluster` names: a number of workers on this machine, or a scheduler.

    Raises:
        ConfigError: If it is neither.

    Example:
        >>> split_address("local:4"), split_address("10.0.0.5:8786")
        (4, 'tcp://10.0.0.5:8786')
    """
    scheme, _, rest = address.strip().partition(":")
    if scheme == "local" and rest.isdecimal() and 1 <= int(rest) <= 1024:
        return int(rest)
    if "://" in address:
        return address.strip()
    if scheme and scheme != "local" and rest.isdecimal():
        return f"tcp://{address.strip()}"
    hint = "such as tcp://10.0.0.5:8786 or local:4"
    raise ConfigError(f"{address!r} is not a cluster", hint=hint)


def open_client(address: str, connect_s: float = CONNECT_S) -> Client:
    """Connect to a cluster, or start one on this machine; close it with `close_client`.

    Raises:
        ConfigError: If the address is wrong, or no scheduler answers there.
        MissingExtraError: If the extra `cluster` is not installed.
    """
    target = split_address(address)
    distributed = import_extra("distributed", "--cluster needs", REQUIREMENT)
    _silence_dask()
    if isinstance(target, int):
        target = distributed.LocalCluster(
            n_workers=target,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            memory_limit=None,
            silence_logs=logging.CRITICAL,
        )
    made: SimpleQueue[Client | Exception] = SimpleQueue()

    def connect() -> None:
        try:
            made.put(distributed.Client(target, timeout=connect_s, set_as_default=False))
        except Exception as error:  # noqa: BLE001 - told below, whatever it is
            made.put(error)

    # in a thread: dask waits without end for a server that accepts and says nothing
    threading.Thread(target=connect, name="cluster connect", daemon=True).start()
    try:
        client = made.get(timeout=2 * connect_s)
    except Empty:
        client = TimeoutError(f"nothing was said within {2 * connect_s:g} s")
    if isinstance(client, Exception):
        raise ConfigError(
            f"the cluster at {address} does not answer: {_describe_silence(client)}",
            hint="Start a scheduler with `dask scheduler`, and check address and firewall.",
        ) from client
    return client


def _describe_silence(error: Exception) -> str:
    """Say why no scheduler answers; dask takes the first bytes of any server for a length."""
    if isinstance(error, MemoryError):
        return "another kind of server listens there, not a dask scheduler"
    return _first_line(error)


def _silence_dask() -> None:
    """Keep dask's logs off the screen: the session tells what matters."""
    for name in [*logging.root.manager.loggerDict]:
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)
    logging.getLogger("asyncio").addFilter(_is_not_of_dask)


def _is_not_of_dask(record: logging.LogRecord) -> bool:
    """False for a task that dask dropped when a future was cancelled."""
    kind = record.exc_info[0] if isinstance(record.exc_info, tuple) else None
    return kind is None or not kind.__module__.startswith("distributed")


def close_client(client: Client) -> None:
    """End the connection, and the cluster where it was started for it."""
    cluster = client.cluster
    client.close()
    if cluster is not None:
        cluster.close()


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
