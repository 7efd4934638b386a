from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.calls.caller import RetryPolicy, compute_next_wait
from poor_bench.errors import ProviderError
from poor_bench.models.failure import FailureKind

POLICY = RetryPolicy()


def _error(kind: FailureKind, retry_after_s: float | None = None) -> ProviderError:
    return ProviderError("x", kind=kind, retry_after_s=retry_after_s)


@pytest.mark.parametrize(
    "kind", [kind for kind in FailureKind if not kind.is_retryable], ids=lambda kind: kind.value
)
def test_what_cannot_succeed_is_not_sent_again(kind: FailureKind) -> None:
    assert compute_next_wait(POLICY, _error(kind, retry_after_s=1), 1, 0.5) is None


def test_wait_doubles_and_is_bounded() -> None:
    error = _error(FailureKind.RATE_LIMITED)
    waits = [compute_next_wait(POLICY, error, attempt, 0.999) for attempt in range(1, 8)]
    assert [round(wait or 0) for wait in waits] == [0, 1, 2, 4, 8, 16, 30]


def test_server_that_names_a_wait_is_obeyed() -> None:
    assert compute_next_wait(POLICY, _error(FailureKind.RATE_LIMITED, 7.0), 1, 0.0) == 7.0


def test_wait_that_is_too_long_is_given_up() -> None:
    assert compute_next_wait(POLICY, _error(FailureKind.RATE_LIMITED, 3600.0), 1, 0.0) is None


@given(
    attempt=st.integers(1, 50),
    jitter=st.floats(0, 0.999),
    kind=st.sampled_from(list(FailureKind)),
    retry_after_s=st.none() | st.floats(0, 1e6),
)
def test_wait_is_never_negative_and_never_for_ever(
    attempt: int, jitter: float, kind: FailureKind, retry_after_s: float | None
) -> None:
    wait = compute_next_wait(POLICY, _error(kind, retry_after_s), attempt, jitter)
    assert wait is None or 0 <= wait <= POLICY.longest_retry_after_s * 1.1
