"""A cluster as a run uses it: who asks, who scores, and what is known of the machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from poor_bench.cluster.definitions import collect_definitions
from poor_bench.cluster.provider import RemoteProvider
from poor_bench.cluster.scorer import RemoteScorer
from poor_bench.cluster.session import PATIENCE_S, ClusterSession, close_client, open_client
from poor_bench.config.load import Workspace
from poor_bench.errors import ConfigError
from poor_bench.judge.response_judging import ResponseJudging
from poor_bench.llm_manager import LLMManager
from poor_bench.messages import write_count
from poor_bench.plugins import EvaluatorRegistry
from poor_bench.runner.run import Workforce
from poor_bench.runner.trial_states import Fingerprints
from poor_bench.sandbox import Level


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
