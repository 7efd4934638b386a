"""When a failed request is sent again, and how long to wait before: pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from poor_bench.errors import ProviderError
from poor_bench.models.failure import FailureKind


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how patiently a request is repeated."""

    max_attempts: Mapping[FailureKind, int] = field(
        default_factory=lambda: {
            FailureKind.RATE_LIMITED: 8,
            FailureKind.SERVER_ERROR: 5,
            FailureKind.CONNECTION: 4,
            FailureKind.TIMEOUT: 2,
            FailureKind.MALFORMED_REPLY: 2,
        }
    )
    """Requests in all for each kind of failure; kinds that are not named are not repeated."""
    first_wait_s: float = 0.5
    longest_wait_s: float = 30.0
    """Longest wait that we choose ourselves."""
    longest_retry_after_s: float = 120.0
    """A server that asks for more is not asked again."""

    def for_loading(self) -> RetryPolicy:
        """Return the policy for loading a model ahead: less patient, as requests load it, too."""
        most = self.max_attempts.get(FailureKind.SERVER_ERROR, 1)
        fewer = {
            FailureKind.SERVER_ERROR: min(3, most),
            FailureKind.TIMEOUT: 1,
            FailureKind.MALFORMED_REPLY: 1,
        }
        return replace(self, max_attempts={**self.max_attempts, **fewer})


def next_wait(
    policy: RetryPolicy, error: ProviderError, attempt: int, jitter: float
) -> float | None:
    """Return how many seconds to wait before the request is sent again.

    Args:
        policy: The limits.
        error: What the last attempt ended with.
        attempt: How many attempts were made, at least 1.
        jitter: A random number in [0, 1), so that many requests do not come back together.

    Returns:
        Seconds, at least 0; None if the request must not be sent again.

    Example:
        >>> error = ProviderError("busy", kind=FailureKind.SERVER_ERROR)
        >>> next_wait(RetryPolicy(), error, attempt=3, jitter=0.0)
        1.0
    """
    if attempt >= policy.max_attempts.get(error.kind, 1):
        return None
    if error.retry_after_s is not None:
        if error.retry_after_s > policy.longest_retry_after_s:
            return None
        return max(0.0, error.retry_after_s) * (1 + 0.1 * jitter)
    doubled = policy.first_wait_s * 2.0 ** (attempt - 1)
    return min(doubled, policy.longest_wait_s) * (0.5 + 0.5 * jitter)
