"""A session with a dask cluster: examines its workers, gives them work, hears when one is gone."""

from __future__ import annotations

import pickle
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from poor_bench.cluster import run_pickled, work
from poor_bench.cluster.definitions import Definitions
from poor_bench.cluster.members import (
    ClusterMember,
    MemberTable,
    Need,
    describe_missing,
    find_refusal,
)
from poor_bench.errors import PoorBenchError, RunCancelledError
from poor_bench.llm_manager import LOCAL_CONCURRENCY
from poor_bench.models.failure import FailureScope
from poor_bench.models.llm import LLM
from poor_bench.providers.endpoint import is_loopback, is_worker_local
from poor_bench.sandbox import Level

if TYPE_CHECKING:
    from distributed import Client, Future

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
_OVER = ("closing", "closed")
"""States of a client of dask that has given up its scheduler: it never connects again."""
_SCHEDULER_GONE = "the scheduler of the cluster ended"

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
        self._topic = f"poor_bench-{uuid.uuid4().hex}"
        self._hearers: dict[str, Callable[[Sequence[work.ChunkPart]], None]] = {}
        client.subscribe_topic(self._topic, self._hear)
        self._look()
        threading.Thread(target=self._watch, name="cluster watch", daemon=True).start()

    def wait_for_worker(self) -> bool:
        """Wait until a worker can work; False if none comes, or those that are there cannot."""
        return self.table.wait_for_ready()

    def close(self) -> None:
        """Stop watching the workers."""
        self._closed.set()
        with suppress(Exception):  # the scheduler may be gone: dask has its own errors for that
            self._client.unsubscribe_topic(self._topic)

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
        try:
            task = self._submit(member, do, self.content_hash, key, *arguments, key=key)
        except WorkerLostError:
            return None
        outcome: work.Outcome[Value] | None = task.wait(cancelled)
        return outcome

    def send_chunk(
        self,
        member: ClusterMember,
        llm: LLM,
        trials: Sequence[work.ChunkTrial],
        hear: Callable[[Sequence[work.ChunkPart]], None],
        end: Callable[[], None],
    ) -> Callable[[], None]:
        """Let a worker ask and score trials; returns at once.

        Args:
            member: The worker.
            llm: The LLM.
            trials: At least one.
            hear: Called in a thread of dask with what came of the trials.
            end: Called in a thread of dask when nothing more comes, unless the worker is lost.

        Returns:
            Tells the worker to end; to be called in every case.
        """
        key = f"ask-chunk-{uuid.uuid4().hex}"
        self._hearers[key] = hear
        arguments = self.content_hash, key, self._topic, llm, trials

        def forget() -> None:
            self._hearers.pop(key, None)

        try:
            task = self._submit(member, work.ask_chunk, *arguments, key=key)
        except WorkerLostError:
            end()
            return forget
        task.future.add_done_callback(lambda _future: end())

        def stop() -> None:
            forget()
            task.cancel()

        return stop

    def _hear(self, event: tuple[float, bytes]) -> None:
        key, parts = pickle.loads(event[1])  # noqa: S301 - dask itself trusts its workers so
        hear = self._hearers.get(key)
        if hear is not None:
            hear(parts)

    def exclude(self, member: ClusterMember, llm: LLM, error: PoorBenchError) -> bool:
        """Exclude a worker whose own server cannot serve an LLM; False if it stays."""
        kind = getattr(error, "kind", None)
        if not is_worker_local(llm) or kind is None or kind.scope is FailureScope.REQUEST:
            return False
        if not self.table.exclude(member, llm, str(error)):
            return False
        self.tell(f"Worker {member} is not asked for {llm.id}: {error}")
        return True

    def make_need(self, llm: LLM) -> Need:
        """Say what a worker needs to ask an LLM."""
        is_spread = is_worker_local(llm)
        return Need(
            llm=llm,
            host="" if is_spread or not is_loopback(llm) else self.host,
            per_server=(llm.concurrency or LOCAL_CONCURRENCY) if is_spread else None,
        )

    def _submit(
        self, member: ClusterMember, do: Callable[..., Any], *arguments: Any, key: str
    ) -> _Task:
        """Send a piece of work to a worker.

        Raises:
            WorkerLostError: If the scheduler is gone for good.
        """
        try:
            future = self._client.submit(
                run_pickled,
                pickle.dumps((do, arguments)),
                key=key,
                workers=[member.address],
                allow_other_workers=False,
                pure=False,
            )
        except Exception as error:
            if self._client.status not in _OVER:
                raise
            self._look()
            raise WorkerLostError(_SCHEDULER_GONE) from error
        return _Task(future, member)

    def _watch(self) -> None:
        while not self._closed.wait(_LOOK_S):
            with suppress(Exception):  # told by the work that waits
                self._look()

    def _look(self) -> None:
        """Notice which workers are gone and which are new."""
        try:
            infos = self._ask_for_workers()
        except Exception:  # noqa: BLE001 - dask has errors of its own for a scheduler that is gone
            if self._client.status == "running":
                return  # a busy scheduler answers later
            infos = {}
        for member in self.table.keep_only(infos):
            if not self._closed.is_set():
                self.tell(f"Worker {member} is gone; its work goes to others.")
        if self._client.status in _OVER:
            self.table.give_up(_SCHEDULER_GONE)
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
            reason = f"{type(error).__name__}: {first_line(error.__cause__ or error)}"
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
        """Do something on one worker, whatever it can or cannot be used for.

        Raises:
            WorkerLostError: If it ended meanwhile, as one without poor_bench does, or is silent.
        """
        key = f"{do.__name__}-{uuid.uuid4().hex}"
        task = self._submit(member, do, *arguments, key=key)
        for _ in range(round(_EXAMINE_S / _LOOK_S)):
            if task.ended.wait(_LOOK_S):
                value: Value = task.fetch(_EXAMINE_S)
                return value
            if self._is_gone(member):
                break
        task.cancel()
        raise WorkerLostError("it ended, or said nothing, when it was asked")

    def _is_gone(self, member: ClusterMember) -> bool:
        try:
            return member.address not in self._ask_for_workers()
        except (OSError, RuntimeError, TimeoutError, AttributeError):
            return False  # a busy scheduler answers later


class _Task:
    """One dask task, bound to one worker."""

    def __init__(self, future: Future, member: ClusterMember) -> None:
        self.future = future
        self._member = member
        self.ended = threading.Event()
        future.add_done_callback(lambda _future: self.ended.set())

    def wait(self, cancelled: Callable[[], bool]) -> Any:
        """Wait for the value; None if the worker is lost.

        Raises:
            RunCancelledError: If `cancelled()` turned true; the task is then told to end.
        """
        while not self.ended.wait(_CHECK_S):
            if cancelled():
                self.cancel()
                raise RunCancelledError("the run was stopped")
            if self._member.lost.is_set():
                self.cancel()
                return None
        return self._fetch_or_none()

    def _fetch_or_none(self) -> Any:
        from distributed.client import FutureCancelledError

        for _ in range(_MOST_FETCHES):
            # a worker may die before its value is here
            if self.future.status != "error" and self._member.lost.is_set():
                break
            try:
                return self.fetch(_FETCH_S)
            except TimeoutError:
                continue
            except (FutureCancelledError, OSError):
                break
        self.cancel()
        return None

    def cancel(self) -> None:
        """Tell the worker to end, if anyone can."""
        with suppress(Exception):  # as in `ClusterSession.close`
            self.future.cancel()

    def fetch(self, timeout_s: float) -> Any:
        """Fetch the value."""
        value = self.future.result(timeout=timeout_s)
        self.future.release()
        return value


def first_line(error: BaseException) -> str:
    """First line of what an error says; its type if it says nothing."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
