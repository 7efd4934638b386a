from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from poor_bench.errors import ProviderError
from poor_bench.models.failure import FailureKind
from poor_bench.providers.http_chat import describe_reachability


def failing(kind: FailureKind) -> Callable[[], Iterable[str]]:
    def fetch() -> Iterable[str]:
        raise ProviderError("no", kind=kind, hint="do this")

    return fetch


@pytest.mark.parametrize(
    ("fetch", "state"),
    [
        (lambda: ["tiny"], "ready"),
        (lambda: ["tiny:latest"], "ready"),
        (list, "ready"),
        (lambda: ["other"], "model missing"),
        (failing(FailureKind.AUTH), "refused"),
        (failing(FailureKind.CONNECTION), "unreachable"),
        (failing(FailureKind.TIMEOUT), "unreachable"),
    ],
)
def test_the_state_follows_from_what_the_endpoint_says(
    fetch: Callable[[], Iterable[str]], state: str
) -> None:
    assert describe_reachability("tiny", fetch).state == state


def test_a_failure_is_told_with_its_way_out() -> None:
    assert describe_reachability("tiny", failing(FailureKind.AUTH)).message == "no (do this)"
