"""Workers of a cluster: which of them may do what, and how busy each is. No network here."""

from __future__ import annotations

import platform
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from poor_bench import __version__
from poor_bench.cluster.work import Identity, Readiness
from poor_bench.errors import RunCancelledError
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM
from poor_bench.sandbox import Level

_CHECK_S = 0.5
_LESS_PATIENT = 6


@dataclass(slots=True, kw_only=True)
class ClusterMember:
    """One worker that was examined."""

    address: str
    host: str
    n_threads: int
    readiness: Readiness | None = None
    """None if it gets no work at all."""
    refusal: str = ""
    """Why it gets no work."""
    lost: threading.Event = field(default_factory=threading.Event)
    """Set when it is gone."""
    excluded: dict[str, str] = field(default_factory=dict)
    """LLM id to why its own server cannot serve it."""

    def __str__(self) -> str:
        return f"{self.address} ({self.host})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What a piece of work asks of a worker."""

    llm: LLM | None = None
    """Asked by the worker; None for scoring."""
    level: Level = Level.NONE
    """Lowest sandbox level."""
    host: str = ""
    """The only machine that reaches the server; empty for any."""
    per_server: int | None = None
    """Requests at once to the worker's own server; None where all workers share a server."""


class NoMemberError(Exception):
    """No worker can do a piece of work; the message says why."""

    def __init__(self, message: str, kind: FailureKind) -> None:
        super().__init__(message)
        self.kind = kind


def find_refusal(found: Identity, own: Identity) -> str:
    """Say why a worker cannot work for this process; empty if it can.

    Example:
        >>> own = Identity("desk-1", "3.12.4", "0.1.0", "aa")
        >>> find_refusal(own._replace(python="3.11.2"), own)
        'Python 3.11.2 there, 3.12.4 here'
        >>> find_refusal(own._replace(host="desk-2", python="3.12.1"), own)
        ''
    """
    if found.python.split(".")[:2] != own.python.split(".")[:2]:
        return f"Python {found.python} there, {own.python} here"
    if found.poor_bench != own.poor_bench:
        return f"poor_bench {found.poor_bench} there, {own.poor_bench} here"
    if found.code != own.code:
        return "its built-in evaluators differ from those here, so its scores would"
    return ""


def describe_missing() -> str:
    """Say what a worker needs that cannot be asked for its versions."""
    python = ".".join(platform.python_version_tuple()[:2])
    return f"it and the scheduler need poor_bench {__version__} and Python {python}"


class MemberTable:
    """The workers of a session; safe to use from several threads."""

    def __init__(self, patience_s: float, monotonic: Callable[[], float]) -> None:
        """Start with an empty table.

        Args:
            patience_s: How long work waits while no worker can do it.
            monotonic: Tells the time.
        """
        self._patience_s = patience_s
        self._monotonic = monotonic
        self._members: dict[str, ClusterMember] = {}
        self._n_busy: Counter[tuple[str, bool]] = Counter()
        """By address and whether it scores: pieces of work under way."""
        self._n_asking: Counter[str] = Counter()
        """By server of a worker: requests under way."""
        self._given_up = ""
        """Why no work waits any more; empty while a worker may come."""
        self._changed = threading.Condition()

    @property
    def members(self) -> list[ClusterMember]:
        """All workers that were examined and are not gone."""
        with self._changed:
            return list(self._members.values())

    def add(self, member: ClusterMember) -> None:
        """Give a worker work from now on."""
        with self._changed:
            self._members[member.address] = member
            self._given_up = ""
            self._changed.notify_all()

    def give_up(self, reason: str) -> None:
        """Let no work wait for a worker until one comes."""
        with self._changed:
            self._given_up = reason
            self._changed.notify_all()

    def keep_only(self, addresses: Iterable[str]) -> list[ClusterMember]:
        """Drop the workers that are gone, and return them; who waits for them hears of it."""
        with self._changed:
            gone = [self._members.pop(a) for a in set(self._members) - set(addresses)]
            self._changed.notify_all()
        for member in gone:
            member.lost.set()
        return gone

    def wait_for_ready(self) -> bool:
        """Wait until a worker can work; False if none comes, or those that are there cannot."""
        deadline = self._monotonic() + self._patience_s
        with self._changed:
            while not self._members and self._monotonic() < deadline:
                self._changed.wait(_CHECK_S)
            return any(member.readiness for member in self._members.values())

    def exclude(self, member: ClusterMember, llm: LLM, reason: str) -> bool:
        """Ask a worker's own server for this LLM no more, unless nobody else could serve it."""
        with self._changed:
            if len(self._find_able(Need(llm=llm))) <= 1:
                return False
            member.excluded[llm.id] = reason
            self._changed.notify_all()
            return True

    def count_servers(self, llm: LLM) -> int:
        """Count the workers' own servers that can serve an LLM; 1 while no worker is there."""
        with self._changed:
            return max(1, len({_server(m, llm) for m in self._find_able(Need(llm=llm))}))

    def one_per_server(self, llm: LLM) -> list[ClusterMember]:
        """Pick a worker for each of the workers' own servers that can serve an LLM."""
        with self._changed:
            return list({_server(m, llm): m for m in self._find_able(Need(llm=llm))}.values())

    @contextmanager
    def place(self, need: Need, cancelled: Callable[[], bool]) -> Iterator[ClusterMember]:
        """Hold a place of the worker that is least busy.

        Raises:
            NoMemberError: If no worker can do it, also not after a while.
            RunCancelledError: If `cancelled()` turned true while waiting.
        """
        member = self._wait_for(need, cancelled)
        try:
            yield member
        finally:
            self._count(need, member, -1)

    def _wait_for(self, need: Need, cancelled: Callable[[], bool]) -> ClusterMember:
        with self._changed:
            deadline = self._find_deadline()
            while True:
                able = self._find_able(need)
                free = [member for member in able if self._has_place(need, member)]
                if free:
                    best = min(free, key=lambda member: self._measure_load(need, member))
                    self._count(need, best, +1)
                    return best
                if able:
                    deadline = self._find_deadline()
                elif self._given_up or self._monotonic() >= deadline:
                    raise self._explain(need)
                if cancelled():
                    raise RunCancelledError("the run was stopped")
                self._changed.wait(_CHECK_S)

    def _find_deadline(self) -> float:
        """Wait less long where workers are there, but of no use: most of these never will be."""
        is_any_ready = any(member.readiness for member in self._members.values())
        most_s = self._patience_s / _LESS_PATIENT if is_any_ready else self._patience_s
        return self._monotonic() + most_s

    def _find_able(self, need: Need) -> list[ClusterMember]:
        return [m for m in self._members.values() if not _find_obstacle(m, need)]

    def _has_place(self, need: Need, member: ClusterMember) -> bool:
        if need.llm is None:
            return self._n_busy[member.address, True] <= member.n_threads  # one of them waits there
        asking = self._n_asking[_server(member, need.llm)]
        return need.per_server is None or asking < need.per_server

    def _measure_load(self, need: Need, member: ClusterMember) -> tuple[int, float]:
        server = _server(member, need.llm) if need.llm and need.per_server else ""
        busy = self._n_busy[member.address, need.llm is None]
        return self._n_asking[server], busy / max(1, member.n_threads)

    def _count(self, need: Need, member: ClusterMember, change: int) -> None:
        with self._changed:
            self._n_busy[member.address, need.llm is None] += change
            if need.llm is not None and need.per_server is not None:
                self._n_asking[_server(member, need.llm)] += change
            self._changed.notify_all()

    def _explain(self, need: Need) -> NoMemberError:
        if not self._members:
            self._given_up = self._given_up or "the cluster has no workers"
            return NoMemberError(self._given_up, FailureKind.CONNECTION)
        members = self._members.values()
        told = "; ".join(f"{member}: {_find_obstacle(member, need)}" for member in members)
        lacks_key = need.llm and any(
            member.readiness and need.llm.id in member.readiness.missing_keys for member in members
        )
        kind = FailureKind.AUTH if lacks_key else FailureKind.SETTINGS
        return NoMemberError(f"no worker of the cluster can do this: {told}", kind)


def _find_obstacle(member: ClusterMember, need: Need) -> str:
    """Say why a worker cannot do a piece of work; empty if it can."""
    ready = member.readiness
    if ready is None:
        return member.refusal
    if ready.sandbox < need.level:
        return f"sandbox level {ready.sandbox.label}, {need.level.label} is required"
    if need.host and member.host != need.host:
        return f"the server's address is one of {need.host} only"
    if need.llm is None:
        return ""
    return ready.missing_keys.get(need.llm.id) or member.excluded.get(need.llm.id, "")


def _server(member: ClusterMember, llm: LLM) -> str:
    assert member.readiness is not None
    return member.readiness.servers.get(llm.id, member.address)
