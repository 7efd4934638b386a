"""What counts as one model."""

from __future__ import annotations

from poor_bench.models.result import Result


def model_of(result: Result) -> str:
    """Return what tells models apart: the digest where the server told it, else the LLM's id.

    LLMs that are one model with other parameters or prompts fail alike, and are no independent
    witnesses against a test.

    Example:
        >>> model_of(Result(llm_id="a:json", test_id="t", score=1.0, model_digest="sha256:1"))
        'sha256:1'
    """
    return result.model_digest or result.llm_id
