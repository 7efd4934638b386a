"""Trials that failed to run: one detector per kind of failure."""

from __future__ import annotations

from poor_bench.issues.detector import (
    Among,
    Check,
    Detector,
    IssueSeverity,
    Trial,
    never,
    shorten_quote,
)
from poor_bench.models.failure import FailureKind

_KINDS = {
    FailureKind.CONNECTION: (
        "Endpoint not reachable",
        "Cannot connect to the model's endpoint.",
        "Start the server, or correct `endpoint` in llms.json.",
    ),
    FailureKind.TIMEOUT: (
        "Timeout",
        "Connecting, the first token or the whole reply took longer than allowed.",
        "Lower max_tokens, turn thinking off, or raise the model's timeouts.",
    ),
    FailureKind.RATE_LIMITED: (
        "Rate limit",
        "The endpoint accepts fewer requests than were sent; retries did not help.",
        "Set `requests_per_minute` or a lower `concurrency` for the model.",
    ),
    FailureKind.SERVER_ERROR: (
        "Server error",
        "The server failed or closed the connection.",
        "Run again. If the error stays, check the server's log, for example for lack of memory.",
    ),
    FailureKind.AUTH: (
        "Key refused",
        "The key is missing, wrong, or not allowed to use this model.",
        "Set the environment variable that `api_key_env` names.",
    ),
    FailureKind.QUOTA: (
        "Quota used up",
        "The account has no credit or quota left.",
        "Top up the account; the tests stay pending.",
    ),
    FailureKind.MODEL_NOT_FOUND: (
        "Model not found",
        "The endpoint does not serve this model.",
        "Pull the model, or correct its name in llms.json.",
    ),
    FailureKind.BAD_REQUEST: (
        "Request refused",
        "The server rejected the request.",
        "Remove or correct the parameter named in the message.",
    ),
    FailureKind.SETTINGS: (
        "Invalid settings",
        "The model's entry in llms.json is not valid, or needs a package that is not installed.",
        "Correct the setting named in the message.",
    ),
    FailureKind.CONTEXT_OVERFLOW: (
        "Prompt too long",
        "The prompt is longer than the model's context.",
        "Raise num_ctx, or shorten the prompt.",
    ),
    FailureKind.CANCELLED: (
        "Batch cancelled",
        "The batch was cancelled before the request was answered.",
        "Run the tests again, live or in a new batch.",
    ),
    FailureKind.MALFORMED_REPLY: (
        "Malformed reply",
        "The server's reply does not follow its documented format.",
        "Check that `provider` matches the server at the endpoint.",
    ),
    FailureKind.EVALUATOR: (
        "Evaluator failed",
        "The evaluator raised an error or returned an invalid value.",
        "Fix the evaluator, then rescore. Responses are stored.",
    ),
    FailureKind.SANDBOX: (
        "Sandbox failed",
        "The code could not be run for a reason outside the code.",
        "Run the sandbox self-test, then rescore.",
    ),
    FailureKind.JUDGE: (
        "Judge failed",
        "The judge could not be reached, or its reply could not be read.",
        "Check the judge model, then rescore.",
    ),
    FailureKind.AGENT: (
        "Agent not run",
        "The browser or the endpoint of the agent failed, not the agent itself.",
        "Read the message, then run the suite again.",
    ),
    FailureKind.INTERNAL: (
        "Internal error",
        "An error in poor_bench itself.",
        "Report the message. The tests stay pending.",
    ),
    FailureKind.OLDER_TOOL: (
        "Failure of an older tool",
        "An older tool stored a transport error as a response with score 0.",
        "Run these tests again. Until then they count as failed, not as wrong.",
    ),
}


def _build_check(kind: FailureKind) -> Check:
    def check(trial: Trial) -> str | None:
        failure = trial.result.failure
        if failure is None or failure.kind is not kind:
            return None
        return shorten_quote(failure.message, 200)

    return check


DETECTORS = tuple(
    Detector(
        id=f"failed_{kind}",
        title=title,
        severity=IssueSeverity.HIGH,
        meaning=meaning,
        advice=advice,
        check=_build_check(kind),
        among=Among.FAILED,
        explains_loss=never,
    )
    for kind, (title, meaning, advice) in _KINDS.items()
)
