"""`doctor --cluster`: what each worker of a cluster can do for the workspace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from poor_bench.cli.cluster import open_chosen_cluster
from poor_bench.errors import PoorBenchError
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from poor_bench.cli.context import AppContext
    from poor_bench.cluster.members import ClusterMember
    from poor_bench.cluster.session import ClusterSession
    from poor_bench.models.llm import LLM

Row = tuple[str, str, str]
"""What was looked at; `ok`, `note` or `problem`; what was found."""


def examine_cluster(app: AppContext, address: str) -> Iterator[Row]:
    """Examine a cluster: versions, sandbox, keys by name and servers of each worker.

    Raises:
        ConfigError: If nobody answers there, or no worker can be used.
        MissingExtraError: If the extra `cluster` is not installed.
    """
    with open_chosen_cluster(app, address) as cluster:
        session = cluster.session
        members = session.table.members
        yield "cluster", "ok", f"{address}: {write_count(len(members), 'worker')}"
        for member in members:
            yield from _examine_worker(session, member, app.workspace.enabled_llms)


def _examine_worker(
    session: ClusterSession, member: ClusterMember, llms: tuple[LLM, ...]
) -> Iterator[Row]:
    from poor_bench import __version__
    from poor_bench.comparison.times import machine_text

    name, ready = str(member), member.readiness
    if ready is None:
        yield name, "problem", member.refusal
        return
    facts = f"{machine_text(ready.machine)}, {write_count(member.n_threads, 'thread')}"
    yield name, "ok", f"poor_bench {__version__}, Python {ready.machine['python']}; {facts}"
    yield name, "ok", f"has the definitions of the workspace ({session.content_hash[:8]})"
    is_weak = ready.sandbox < session.lowest
    required = f"; {session.lowest.label} is required" if is_weak else ""
    yield name, "problem" if is_weak else "ok", f"sandbox level {ready.sandbox.label}{required}"
    if ready.keys:
        yield name, "ok", f"keys in its environment: {', '.join(ready.keys)}"
    for llm in llms:
        yield name, *_check_llm(session, member, llm)


def _check_llm(session: ClusterSession, member: ClusterMember, llm: LLM) -> tuple[str, str]:
    from poor_bench.cluster import work

    assert member.readiness is not None
    if problem := member.readiness.missing_keys.get(llm.id):
        return "problem", f"{llm.id}: {problem}"
    try:
        outcome = session.call_member(member, work.check, llm)
    except PoorBenchError as error:
        outcome = error
    if not isinstance(outcome, work.WorkDone):
        return "problem", f"{llm.id}: {outcome or 'the worker is gone'}"
    state = "ok" if outcome.value.state == "ready" else "problem"
    return state, f"{llm.id}: {outcome.value.message or 'reachable'}"
