"""`--cluster`: the machines of a dask cluster in place of this one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import click

from poor_bench.cli.output import say, show_status
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from poor_bench.cli.context import AppContext
    from poor_bench.cluster.cluster import Cluster

cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Ask and score on the workers of a dask scheduler (tcp://HOST:8786), or of N processes "
    "here (local:N).",
)


def use_cluster(app: AppContext, address: str | None) -> Cluster | None:
    """Open the cluster that the option names until the command ends; None without the option.

    Raises:
        ConfigError: If nobody answers there, or no worker can be used.
        MissingExtraError: If the extra `cluster` is not installed.
    """
    if address is None:
        return None
    return click.get_current_context().with_resource(open_chosen_cluster(app, address))


@contextmanager
def open_chosen_cluster(app: AppContext, address: str) -> Iterator[Cluster]:
    """Open a cluster for a workspace; tell on standard error what happens to workers.

    Raises:
        ConfigError: If nobody answers there, or no worker can be used.
        MissingExtraError: If the extra `cluster` is not installed.
    """
    from poor_bench.cluster.cluster import open_cluster
    from poor_bench.sandbox import lowest_level
    from poor_bench.workspace_runner import accept_level_in

    accept_level_in(app.data_dir)
    with ExitStack() as stack:
        with show_status(f"Connecting to the cluster {address}"):
            opened = open_cluster(address, app.workspace, lowest_level(), tell=_tell)
            cluster = stack.enter_context(opened)
        say(_describe(cluster), err=True)
        yield cluster


def _tell(sentence: str) -> None:
    say(sentence, err=True)


def _describe(cluster: Cluster) -> str:
    ready = [member for member in cluster.session.table.members if member.readiness]
    n_threads = sum(member.n_threads for member in ready)
    hosts = {member.host for member in ready}
    return (
        f"Cluster: {write_count(len(ready), 'worker')} on {write_count(len(hosts), 'machine')}, "
        f"{write_count(n_threads, 'thread')}."
    )
