"""A cluster of threads in this process, shared by the tests of a worker of pytest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from poor_bench.sandbox import accept_level


def start_cluster(n_workers: int) -> Any:
    """Start a scheduler and workers in this process."""
    return pytest.importorskip("distributed").LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address=":0",
        memory_limit=None,
    )


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with start_cluster(2) as opened:
        yield opened


@pytest.fixture(autouse=True)
def no_accepted_level() -> Iterator[None]:
    """Workers in this process accept levels in it."""
    yield
    accept_level(None)
