"""Which worker gets what: no network, no dask."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any

import pytest

from poor_bench.cluster.members import (
    ClusterMember,
    MemberTable,
    Need,
    NoMemberError,
    find_refusal,
)
from poor_bench.cluster.work import Identity, Readiness
from poor_bench.errors import RunCancelledError
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM
from poor_bench.sandbox import Level

GEMMA = LLM(id="ollama:gemma", provider="ollama", name="gemma")
OWN_SERVER = Need(llm=GEMMA, per_server=1)
SCORING = Need()


def table(*members: ClusterMember, patience_s: float = 3.0) -> MemberTable:
    seconds: Iterator[int] = count()  # each look at the clock takes a second
    made = MemberTable(patience_s, lambda: float(next(seconds)))
    for member in members:
        made.add(member)
    return made


def worker(name: str, *, host: str = "", n_threads: int = 1, **facts: Any) -> ClusterMember:
    readiness = Readiness(
        machine={},
        sandbox=facts.get("sandbox", Level.FULL),
        missing_keys=facts.get("missing_keys", {}),
        keys=(),
        servers={GEMMA.id: facts.get("server", f"{host or name} http://127.0.0.1:11434")},
    )
    return ClusterMember(address=name, host=host or name, n_threads=n_threads, readiness=readiness)


def place(workers: MemberTable, need: Need = SCORING, *, is_cancelled: bool = False) -> str:
    with workers.place(need, lambda: is_cancelled) as member:
        return member.address


def test_work_goes_to_the_worker_that_is_least_busy_for_its_threads() -> None:
    workers = table(worker("small"), worker("large", n_threads=3))
    with ExitStack() as held:
        taken = [
            held.enter_context(workers.place(Need(llm=GEMMA), lambda: False)).address
            for _ in range(8)
        ]
    assert taken.count("large") == 6


def test_each_server_of_a_worker_is_asked_once_at_a_time() -> None:
    workers = table(worker("a"), worker("b"), worker("b too", host="b"))
    assert workers.count_servers(GEMMA) == 2
    with ExitStack() as held:
        taken = {
            held.enter_context(workers.place(OWN_SERVER, lambda: False)).host for _ in range(2)
        }
        assert taken == {"a", "b"}
        with pytest.raises(RunCancelledError):
            place(workers, OWN_SERVER, is_cancelled=True)
    assert place(workers, OWN_SERVER)


def test_worker_below_the_sandbox_level_gets_no_code_but_may_ask() -> None:
    workers = table(worker("weak", sandbox=Level.LIMITS), worker("strong"))
    code = Need(level=Level.ISOLATED)
    with ExitStack() as held:
        taken = [held.enter_context(workers.place(code, lambda: False)).address for _ in range(2)]
    assert taken == ["strong", "strong"]
    workers.keep_only(["weak"])
    assert place(workers, Need(llm=GEMMA)) == "weak"
    with pytest.raises(NoMemberError, match="sandbox level limits, isolated is required"):
        place(workers, code)


def test_worker_without_the_key_is_not_asked_and_named() -> None:
    lacking = worker("poor", missing_keys={GEMMA.id: "the variable SOME_KEY is not set"})
    workers = table(lacking, worker("rich"))
    assert {place(workers, Need(llm=GEMMA)) for _ in range(4)} == {"rich"}
    workers.keep_only(["poor"])
    with pytest.raises(NoMemberError, match=r"poor \(poor\): the variable SOME_KEY") as raised:
        place(workers, Need(llm=GEMMA))
    assert raised.value.kind is FailureKind.AUTH


def test_server_that_fails_is_excluded_unless_it_is_the_last() -> None:
    first, second = worker("a"), worker("b")
    workers = table(first, second)
    assert workers.exclude(first, GEMMA, "model not found")
    assert {place(workers, OWN_SERVER) for _ in range(3)} == {"b"}
    assert not workers.exclude(second, GEMMA, "model not found")
    assert place(workers, OWN_SERVER) == "b"


def test_worker_that_is_gone_is_told_to_those_who_wait_for_it() -> None:
    gone, left = worker("gone"), worker("left")
    workers = table(gone, left)
    assert workers.keep_only(["left", "unknown"]) == [gone]
    assert gone.lost.is_set()
    assert not left.lost.is_set()


@pytest.mark.slow(reason="waits for real processes or limits")
def test_without_workers_the_wait_has_an_end() -> None:
    refused = ClusterMember(address="old", host="old", n_threads=1, refusal="poor_bench 0.0 there")
    with pytest.raises(NoMemberError, match="no workers") as raised:
        place(table())
    assert raised.value.kind is FailureKind.CONNECTION
    with pytest.raises(NoMemberError, match=r"poor_bench 0\.0 there"):
        place(table(refused))


@pytest.mark.slow(reason="waits for real processes or limits")
def test_work_waits_once_for_workers_that_do_not_come() -> None:
    looks = count()
    workers = MemberTable(2.0, lambda: float(next(looks)))
    with pytest.raises(NoMemberError, match="no workers"):
        place(workers)
    n_looks = next(looks)
    with pytest.raises(NoMemberError, match="no workers"):
        place(workers)
    assert next(looks) == n_looks + 2, "the second wait ends at once"
    workers.add(worker("late"))
    assert place(workers) == "late"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"python": "3.13.0"}, "Python 3.13.0 there, 3.12.1 here"),
        ({"poor_bench": "9.9"}, "poor_bench 9.9 there, 0.1.0 here"),
        ({"code": "bb"}, "built-in evaluators differ"),
        ({"python": "3.12.9", "host": "other"}, ""),
    ],
)
def test_other_versions_are_refused(changed: dict[str, str], reason: str) -> None:
    own = Identity("desk", "3.12.1", "0.1.0", "aa")
    refusal = find_refusal(own._replace(**changed), own)
    assert reason in refusal
    assert bool(refusal) == bool(reason)
