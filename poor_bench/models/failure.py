"""Why a test could not be scored: a failure of ours, never a zero of the model's."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FailureKind(StrEnum):
    """What went wrong, named so that a user knows whom to blame."""

    CONNECTION = "connection"
    """The endpoint cannot be reached."""
    TIMEOUT = "timeout"
    """Connecting, the first token or the whole reply took longer than allowed."""
    RATE_LIMITED = "rate_limited"
    """Too many requests, and waiting did not help."""
    SERVER_ERROR = "server_error"
    """The server answered 5xx, or stopped in the middle of its reply."""
    AUTH = "auth"
    """The key is missing, wrong or not allowed to use this model."""
    QUOTA = "quota"
    """The account's money or quota is used up."""
    MODEL_NOT_FOUND = "model_not_found"
    """The endpoint does not know this model."""
    BAD_REQUEST = "bad_request"
    """The server refuses the request as it stands."""
    SETTINGS = "settings"
    """The LLM's settings cannot be used, or need a package that is not installed."""
    CONTEXT_OVERFLOW = "context_overflow"
    """The prompt is longer than the model's context."""
    MALFORMED_REPLY = "malformed_reply"
    """The server's reply is not of its documented form."""
    CANCELLED = "cancelled"
    """The batch was cancelled before this request was answered."""
    EVALUATOR = "evaluator"
    """The evaluator raised or broke its contract."""
    SANDBOX = "sandbox"
    """Candidate code could not be run for a reason that is not its own."""
    JUDGE = "judge"
    """The judge could not be asked or understood."""
    AGENT = "agent"
    """The agent under test could not be run: no browser, or its endpoint is gone."""
    INTERNAL = "internal"
    """An error of poor_bench itself: please report it."""
    OLDER_TOOL = "older_tool"
    """A transport error that an older tool stored as if it were a response."""

    @property
    def is_retryable(self) -> bool:
        """True if sending the same request again can succeed."""
        return self in _RETRYABLE

    @property
    def comes_after_response(self) -> bool:
        """True if the LLM had answered: the answer can be scored without asking again."""
        return self in _AFTER_RESPONSE

    @property
    def scope(self) -> FailureScope:
        """What else is sure to fail for the same reason."""
        return _SCOPES.get(self, FailureScope.REQUEST)


class FailureScope(StrEnum):
    """What else is sure to fail for the same reason."""

    REQUEST = "request"
    LLM = "llm"
    ENDPOINT = "endpoint"


_RETRYABLE = frozenset(
    {
        FailureKind.CONNECTION,
        FailureKind.TIMEOUT,
        FailureKind.RATE_LIMITED,
        FailureKind.SERVER_ERROR,
        FailureKind.MALFORMED_REPLY,
        FailureKind.CANCELLED,
    }
)
_AFTER_RESPONSE = frozenset(
    {FailureKind.EVALUATOR, FailureKind.SANDBOX, FailureKind.JUDGE, FailureKind.INTERNAL}
)
_SCOPES = {
    FailureKind.CONNECTION: FailureScope.ENDPOINT,
    FailureKind.QUOTA: FailureScope.ENDPOINT,
    FailureKind.AUTH: FailureScope.LLM,
    FailureKind.SETTINGS: FailureScope.LLM,
    FailureKind.MODEL_NOT_FOUND: FailureScope.LLM,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Failure of a trial that ended without a score."""

    kind: FailureKind
    message: str
    """Error in one sentence, without keys or other secrets."""
    attempts: int = 1
    """Number of requests sent, at least 1."""


WAITS_FOR_JUDGE = Failure(kind=FailureKind.JUDGE, message="the response waits for its judge")
"""Stored with a response as soon as it is there, so that it survives until it is judged."""
