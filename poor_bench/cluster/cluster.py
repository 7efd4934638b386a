"""A cluster as a run uses it: how to reach it, who asks, who scores, and what is known of it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from poor_bench.cluster.definitions import collect_definitions
from poor_bench.cluster.remote import RemoteProvider, RemoteScorer
from poor_bench.cluster.session import CONNECT_S, PATIENCE_S, ClusterSession, first_line
from poor_bench.cluster.trials import RemoteTrials
from poor_bench.config.load import Workspace
from poor_bench.errors import ConfigError
from poor_bench.extras import import_extra
from poor_bench.judge.response_judging import ResponseJudging
from poor_bench.llm_manager import LLMManager
from poor_bench.messages import write_count
from poor_bench.plugins import EvaluatorRegistry
from poor_bench.runner.run import Workforce
from poor_bench.runner.trial_states import Fingerprints
from poor_bench.sandbox import Level

if TYPE_CHECKING:
    from distributed import Client

REQUIREMENT = "distributed>=2025.1"
_QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.scheduler.work-stealing": False,
}
"""Settings of a cluster on this machine. By default each process of dask wakes up 50 to 150 times a
second to watch itself, which costs those that score 4 % of two processors."""


class Cluster:
    """Machines that ask and score for the runs of one workspace."""

    def __init__(self, session: ClusterSession) -> None:
        self.session = session

    def make_manager(self, data_dir: Path) -> LLMManager:
        """Make what asks the LLMs: limits, retries and budget here, requests on the workers."""
        return LLMManager(
            data_dir,
            create=lambda llm, _services: RemoteProvider(llm, self.session),
            count_servers=self.session.table.count_servers,
        )

    def make_scorer(
        self,
        workspace: Workspace,
        evaluators: EvaluatorRegistry,
        fingerprints: Fingerprints,
        judging: ResponseJudging,
    ) -> RemoteScorer:
        """Make what scores responses."""
        return RemoteScorer(workspace, evaluators, fingerprints, judging, self.session)

    def make_workforce(self, scorer: RemoteScorer, manager: LLMManager) -> Workforce:
        """Describe the machines to a run."""
        n_threads = sum(m.n_threads for m in self.session.table.members if m.readiness)
        return Workforce(
            machines=self.session.machines,
            n_spare_slots=2 * max(1, n_threads),
            make_jobs=partial(RemoteTrials, self.session),
            rescore=lambda items, _scorer: scorer.rescore(items, manager),
        )

    def require_sandbox(self) -> None:
        """Make sure that a worker may run code of models.

        Raises:
            ConfigError: If none may; the message says which level each of them has.
        """
        lowest = self.session.lowest
        ready = [(m, m.readiness) for m in self.session.table.members if m.readiness]
        if any(readiness.sandbox >= lowest for _, readiness in ready):
            return
        levels = ", ".join(f"{member}: {found.sandbox.label}" for member, found in ready)
        raise ConfigError(
            f"no worker has the sandbox level {lowest.label}, so code of models is not run "
            f"({levels})",
            hint="Run workers in a container on Linux (see docs/security.md), or accept a lower "
            "level: `sandbox` in config.yaml",
        )


@contextmanager
def open_cluster(
    address: str,
    workspace: Workspace,
    lowest: Level,
    *,
    tell: Callable[[str], None],
    patience_s: float = PATIENCE_S,
) -> Iterator[Cluster]:
    """Connect to a cluster and examine its workers; both end with the `with` block.

    Args:
        address: Such as `tcp://10.0.0.5:8786`, or `local:4` for four processes here.
        workspace: What the workers get.
        lowest: Lowest sandbox level at which code of models may run.
        tell: Told what happens to workers, one sentence each.
        patience_s: How long work waits while no worker can do it.

    Raises:
        ConfigError: If the address is wrong, nobody answers, or no worker can be used.
        MissingExtraError: If the extra `cluster` is not installed.
    """
    definitions = collect_definitions(workspace)
    client = open_client(address)
    try:
        session = ClusterSession(client, definitions, lowest, tell=tell, patience_s=patience_s)
        try:
            if not session.table.members:
                tell(f"The cluster has no workers yet; waiting up to {patience_s:g} s for one.")
            _require_worker(session, address)
            yield Cluster(session)
        finally:
            session.close()
    finally:
        close_client(client)


def _require_worker(session: ClusterSession, address: str) -> None:
    if session.wait_for_worker():
        return
    members = session.table.members
    if not members:
        raise ConfigError(
            f"the cluster at {address} has no workers",
            hint="Start some with `dask worker ADDRESS` on machines that have poor_bench.",
        )
    problems = "; ".join(f"{member}: {member.refusal}" for member in members)
    n_workers = write_count(len(members), "worker")
    raise ConfigError(f"the cluster at {address} has {n_workers}, but none can work: {problems}")


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
    dask = import_extra("dask", "--cluster needs", REQUIREMENT)
    _silence_dask()
    with ExitStack() as on_failure:
        if isinstance(target, int):
            with dask.config.set(_QUIET):
                target = on_failure.enter_context(
                    distributed.LocalCluster(
                        n_workers=target,
                        threads_per_worker=1,
                        processes=True,
                        dashboard_address=":0",
                        memory_limit=None,
                        silence_logs=logging.CRITICAL,
                    )
                )
        try:
            client = _connect(partial(distributed.Client, target, timeout=connect_s), 2 * connect_s)
        except Exception as error:
            raise ConfigError(
                f"the cluster at {address} does not answer: {_describe_silence(error)}",
                hint="Start a scheduler with `dask scheduler`, and check address and firewall.",
            ) from error
        on_failure.pop_all()
        return client


def _connect(make: Callable[..., Client], timeout_s: float) -> Client:
    """Make a client in a thread: dask waits without end for a server that says nothing."""
    made: Future[Client] = Future()

    def connect() -> None:
        try:
            made.set_result(make(set_as_default=False))
        except Exception as error:  # noqa: BLE001 - raised again where it is waited for
            made.set_exception(error)

    threading.Thread(target=connect, name="cluster connect", daemon=True).start()
    try:
        return made.result(timeout_s)
    except TimeoutError:
        raise TimeoutError(f"nothing was said within {timeout_s:g} s") from None


def _describe_silence(error: Exception) -> str:
    """Say why no scheduler answers; dask takes the first bytes of any server for a length."""
    if isinstance(error, MemoryError):
        return "another kind of server listens there, not a dask scheduler"
    return first_line(error)


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
