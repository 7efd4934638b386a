"""The one place that says which kind of failure a refusal is; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from poor_bench.models.failure import FailureKind
from poor_bench.providers.error_reply import ErrorReply

_TEMPORARY = frozenset({429, *range(500, 600)})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """Fits an error that has one of the statuses or codes, or whose text matches."""

    kind: FailureKind
    statuses: frozenset[int] = frozenset()
    codes: frozenset[str] = frozenset()
    text: re.Pattern[str] | None = None
    temporary_too: bool = True
    """Whether `text` counts in replies 429 and 5xx, which speak of the moment."""

    def fits(self, error: ErrorReply) -> bool:
        return (
            error.status in self.statuses
            or bool(self.codes & error.codes)
            or (self._reads(error) and self._matches(error.message))
        )

    def _reads(self, error: ErrorReply) -> bool:
        return self.temporary_too or error.status is None or error.status not in _TEMPORARY

    def _matches(self, message: str) -> bool:
        return self.text is not None and self.text.search(message) is not None


def _text(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_RULES = (
    _Rule(
        kind=FailureKind.QUOTA,
        statuses=frozenset({402}),
        codes=frozenset(
            {
                "insufficient_quota",
                "billing_error",
                "billing_hard_limit_reached",
                "billing_not_active",
                "credit_balance_exhausted",
                "enforced_spend_limit_reached",
            }
        ),
        text=_text(
            r"credit balance|insufficient (balance|credits?|quota|funds)"
            r"|specified (workspace )?API usage limits|spend(ing)? limit|billing hard limit"
        ),
    ),
    _Rule(
        kind=FailureKind.CONTEXT_OVERFLOW,
        statuses=frozenset({413}),
        codes=frozenset(
            {"context_length_exceeded", "exceed_context_size_error", "request_too_large"}
        ),
        text=_text(
            r"context[ _]?(length|size|window|limit)|(prompt|input) is too (long|large)"
            r"|too many (input |prompt )?tokens|maximum (input|prompt) length"
        ),
    ),
    _Rule(
        kind=FailureKind.MODEL_NOT_FOUND,
        codes=frozenset({"model_not_found", "model_not_available", "unknown_model"}),
        text=_text(
            r"\bmodel\b.{0,120}(not found|does not exist|not exist|is not available|try pulling)"
            r"|not a valid model|no such model|unknown model|invalid model( name)?\b"
            r"|no (endpoints|providers?) .{0,40}(found|available)"
        ),
        temporary_too=False,
    ),
    _Rule(kind=FailureKind.BAD_REQUEST, text=_text(r"\bflagged\b|moderation")),
    _Rule(
        kind=FailureKind.AUTH,
        statuses=frozenset({401, 403, 407}),
        codes=frozenset(
            {"invalid_api_key", "authentication_error", "permission_error", "unauthorized"}
        ),
        text=_text(r"(invalid|incorrect|missing|no|bad) api[ _-]?key|api[ _-]?key (is )?not valid"),
    ),
    _Rule(
        kind=FailureKind.RATE_LIMITED,
        statuses=frozenset({429}),
        codes=frozenset({"rate_limit_exceeded", "rate_limit_error", "too_many_requests"}),
        text=_text(r"maximum pending requests|rate limit(ed)? (reached|exceeded)"),
    ),
    _Rule(kind=FailureKind.BAD_REQUEST, text=_text(r"requires more system memory")),
    _Rule(kind=FailureKind.TIMEOUT, statuses=frozenset({408})),
    _Rule(
        kind=FailureKind.SERVER_ERROR,
        statuses=frozenset({409, 425, *range(500, 600)}),
        codes=frozenset({"overloaded_error", "api_error", "server_error", "timeout_error"}),
    ),
    _Rule(kind=FailureKind.MODEL_NOT_FOUND, statuses=frozenset({404, 405, 410})),
    _Rule(kind=FailureKind.BAD_REQUEST, statuses=frozenset(range(300, 500))),
)


def kind_of(error: ErrorReply) -> FailureKind:
    """Return the kind of failure that a server's refusal is; the first rule that fits decides.

    Source:
        The error pages of OpenAI, Anthropic, OpenRouter, Ollama and llama.cpp; `tests` hold an
        example of each.
    """
    for rule in _RULES:
        if rule.fits(error):
            return rule.kind
    return FailureKind.SERVER_ERROR
