"""Trials that could not be run: one detector per kind of failure."""

from __future__ import annotations

from poor_bench.issues.background import Background
from poor_bench.issues.detector import Among, Check, Detector, each, never
from poor_bench.issues.issue import Severity
from poor_bench.issues.trial import Trial, quoted
from poor_bench.models.failure import FailureKind

_KINDS = {
    FailureKind.CONNECTION: (
        "Endpoint not reachable",
        "Nothing answers at the LLM's endpoint.",
        "Start the server, or correct `endpoint` in llms.json.",
    ),
    FailureKind.TIMEOUT: (
        "Timeout",
        "Connecting, the first token or the whole reply took longer than allowed.",
        "Lower max_tokens or switch thinking off; else raise the LLM's timeouts.",
    ),
    FailureKind.RATE_LIMITED: (
        "Rate limit",
        "The endpoint takes fewer requests than were sent, and waiting did not help.",
        "Set `requests_per_minute` or a lower `concurrency` for the LLM.",
    ),
    FailureKind.SERVER_ERROR: (
        "Server error",
        "The server broke down or broke off.",
        "Run again; if it stays, look into the server's log for lack of memory.",
    ),
    FailureKind.AUTH: (
        "Key refused",
        "The key is missing, wrong, or not allowed to use this model.",
        "Set the environment variable that `api_key_env` names.",
    ),
    FailureKind.QUOTA: (
        "Quota used up",
        "The account has no money or quota left.",
        "Top up the account; the tests stay pending.",
    ),
    FailureKind.MODEL_NOT_FOUND: (
        "Model unknown",
        "The endpoint does not serve this model.",
        "Pull the model, or correct its name in llms.json.",
    ),
    FailureKind.BAD_REQUEST: (
        "Request refused",
        "The server does not accept the request as it stands.",
        "Remove or correct the parameter that the message names.",
    ),
    FailureKind.SETTINGS: (
        "Settings not usable",
        "The LLM's entry cannot be used as it stands, or needs a package that is not installed.",
        "Correct in llms.json what the message names.",
    ),
    FailureKind.CONTEXT_OVERFLOW: (
        "Prompt too long",
        "The prompt is longer than the model's context.",
        "Raise num_ctx, or shorten the prompt.",
    ),
    FailureKind.MALFORMED_REPLY: (
        "Reply not understood",
        "The server's reply is not of its documented form.",
        "Check that `provider` fits the server behind the endpoint.",
    ),
    FailureKind.EVALUATOR: (
        "Evaluator failed",
        "The evaluator raised or returned something illegal; the LLM may have been right.",
        "Mend the evaluator, then rescore: the responses are kept.",
    ),
    FailureKind.SANDBOX: (
        "Sandbox failed",
        "Code could not be run for a reason that is not its own.",
        "Run the sandbox self-test, then rescore.",
    ),
    FailureKind.JUDGE: (
        "Judge failed",
        "The judge could not be asked or understood.",
        "Check the judge LLM, then rescore.",
    ),
    FailureKind.AGENT: (
        "Agent could not be run",
        "The browser or the endpoint of the agent failed, not the agent itself.",
        "Look at the message, then run the suite again.",
    ),
    FailureKind.INTERNAL: (
        "Internal error",
        "A fault of this program.",
        "Report it with the message; the tests stay pending.",
    ),
    FailureKind.OLDER_TOOL: (
        "Failure stored by an older tool",
        "A transport error was stored as if the LLM had said it, and scored 0.",
        "Run these tests again; until then they count as failed, not as wrong.",
    ),
}


def _check_of(kind: FailureKind) -> Check:
    def check(trial: Trial, _: Background) -> str | None:
        failure = trial.result.failure
        if failure is None or failure.kind is not kind:
            return None
        return quoted(failure.message, 200)

    return check


DETECTORS = tuple(
    Detector(
        id=f"failed_{kind}",
        title=title,
        severity=Severity.HIGH,
        meaning=meaning,
        advice=advice,
        find=each(_check_of(kind)),
        among=Among.FAILED,
        explains_loss=never,
    )
    for kind, (title, meaning, advice) in _KINDS.items()
)
