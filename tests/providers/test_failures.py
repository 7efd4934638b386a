"""One real error text of every kind and maker, as their documentation and users report them."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.models.failure import FailureKind
from poor_bench.providers.error_reply import ErrorReply, parse_error_reply
from poor_bench.providers.failures import classify

K = FailureKind


def openai(message: str, code: str | None = None, kind: str = "invalid_request_error") -> Any:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def anthropic(kind: str, message: str, **more: Any) -> Any:
    return {"type": "error", "error": {"type": kind, "message": message, **more}}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, openai("Incorrect API key provided: sk-ab**cd.", "invalid_api_key"), K.AUTH),
        (429, openai("You exceeded your current quota", "insufficient_quota"), K.QUOTA),
        (429, openai("Rate limit reached for gpt-4o", "rate_limit_exceeded"), K.RATE_LIMITED),
        (404, openai("The model `x` does not exist", "model_not_found"), K.MODEL_NOT_FOUND),
        (403, openai("Project has no access to model `x`", "model_not_found"), K.MODEL_NOT_FOUND),
        (
            400,
            openai("This model's maximum context length is 8192", "context_length_exceeded"),
            K.CONTEXT_OVERFLOW,
        ),
        (400, openai("you must provide a model parameter"), K.BAD_REQUEST),
        (503, openai("The model is overloaded", kind="server_error"), K.SERVER_ERROR),
        (503, openai("That model is not available at the moment"), K.SERVER_ERROR),
        (401, anthropic("authentication_error", "invalid x-api-key"), K.AUTH),
        (402, anthropic("billing_error", "payment issue"), K.QUOTA),
        (403, anthropic("permission_error", "not allowed"), K.AUTH),
        (404, anthropic("not_found_error", "model: claude-x"), K.MODEL_NOT_FOUND),
        (413, anthropic("request_too_large", "too large"), K.CONTEXT_OVERFLOW),
        (400, anthropic("invalid_request_error", "Your credit balance is too low"), K.QUOTA),
        (
            400,
            anthropic("invalid_request_error", "You have reached your specified API usage limits."),
            K.QUOTA,
        ),
        (429, anthropic("rate_limit_error", "Number of requests exceeded"), K.RATE_LIMITED),
        (
            429,
            anthropic(
                "rate_limit_error",
                "limit",
                details={"error_code": "enforced_spend_limit_reached"},
            ),
            K.QUOTA,
        ),
        (529, anthropic("overloaded_error", "Overloaded"), K.SERVER_ERROR),
        (None, anthropic("overloaded_error", "Overloaded"), K.SERVER_ERROR),
        (None, anthropic("rate_limit_error", "slow"), K.RATE_LIMITED),
        (
            400,
            anthropic("invalid_request_error", "prompt is too long: 201 tokens > 200 maximum"),
            K.CONTEXT_OVERFLOW,
        ),
        (404, {"error": "model 'x' not found"}, K.MODEL_NOT_FOUND),
        (404, {"error": 'model "x" not found, try pulling it first'}, K.MODEL_NOT_FOUND),
        (400, {"error": "the prompt is longer than the context length"}, K.CONTEXT_OVERFLOW),
        (
            503,
            {"error": "server busy, please try again. maximum pending requests exceeded"},
            K.RATE_LIMITED,
        ),
        (
            500,
            {"error": "model requires more system memory (5.6 GiB) than is available"},
            K.BAD_REQUEST,
        ),
        (500, {"error": "model runner has unexpectedly stopped"}, K.SERVER_ERROR),
        (
            400,
            openai(
                "the request exceeds the available context size", kind="exceed_context_size_error"
            ),
            K.CONTEXT_OVERFLOW,
        ),
        (503, openai("Loading model", kind="unavailable_error"), K.SERVER_ERROR),
        (402, {"error": {"code": 402, "message": "Insufficient credits"}}, K.QUOTA),
        (
            400,
            {"error": {"code": 400, "message": "x is not a valid model ID"}},
            K.MODEL_NOT_FOUND,
        ),
        (403, {"error": {"code": 403, "message": "Input was flagged"}}, K.BAD_REQUEST),
        (200, {"error": {"code": 502, "message": "Provider returned error"}}, K.SERVER_ERROR),
        (404, {"detail": "Not Found"}, K.MODEL_NOT_FOUND),
        (405, {"detail": "Method Not Allowed"}, K.MODEL_NOT_FOUND),
        (400, [{"error": {"code": 400, "message": "API key not valid."}}], K.AUTH),
        (407, {}, K.AUTH),
        (418, {}, K.BAD_REQUEST),
        (200, {"error": "something"}, K.SERVER_ERROR),
    ],
)
def test_real_errors_are_of_the_right_kind(
    status: int | None, body: Any, kind: FailureKind
) -> None:
    assert classify(parse_error_reply(status, orjson.dumps(body))) is kind


@given(st.integers(300, 599) | st.none(), st.text(), st.frozensets(st.text()))
def test_every_error_is_of_some_kind_of_a_providers(
    status: int | None, message: str, codes: frozenset[str]
) -> None:
    kind = classify(ErrorReply(status=status, message=message, codes=codes))
    assert kind not in {K.EVALUATOR, K.SANDBOX, K.JUDGE, K.OLDER_TOOL}
