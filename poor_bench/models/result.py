"""The stored record of one trial: scored, or failed to run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import Any

from poor_bench.models.failure import Failure, FailureKind

WEAK_SANDBOXES = frozenset({"process", "limits"})
"""Levels at which code of a response may reach beyond its sandbox."""

ANSWER_ID_PREFIX = "answer-"


@dataclass(frozen=True, kw_only=True)
class Result:
    """One trial of one test by one model.

    Either `score` or `failure` is set. A failure never has a score.
    """

    llm_id: str
    test_id: str
    score: float | None = None
    """0.0 to 1.0; None if and only if `failure` is set."""
    strict_score: float | None = None
    """Score under the format rule of the class; None if the answer met it, if no rule applies or
    if that is not known, see `tells_form`."""
    details: str = ""
    """Explanation by the evaluator, as Markdown."""
    response: str = ""
    """The raw response, for rescoring. `thinking` holds separately sent thinking."""
    thinking: str = ""
    timestamp: str = ""
    """ISO 8601, UTC."""
    execution_time_ms: float | None = None
    """Time from sending the request to the last byte, without model load."""
    think: bool | str | None = None
    trial: int = 1
    run_id: str = ""
    via: str = ""
    """`batch` if the answer came from a batch: half the price, no latency. Empty: a live call."""
    prompt: str = ""
    """The user message as sent."""
    system_prompt: str = ""
    found: str = ""
    """Form in which the evaluator found the answer: bare, fenced, in prose, repaired, ..."""
    extracted: str = ""
    """The extracted answer, as text."""
    expected: str = ""
    got: str = ""
    cause: str = ""
    """Why score was lost, a `Cause` or an id of the evaluator's own; empty in older files."""
    sandbox: str = ""
    """Sandbox level at which code of the response ran; empty if no code ran."""
    finish_reason: str = ""
    marks: tuple[str, ...] = ()
    """Flags of the response: no_answer, truncated, prompt_truncated, refusal, loop, ..."""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    thinking_tokens: int | None = None
    cached_tokens: int | None = None
    first_token_ms: float | None = None
    load_ms: float | None = None
    queue_ms: float | None = None
    prefill_ms: float | None = None
    decode_ms: float | None = None
    cost_usd: float | None = None
    model_digest: str | None = None
    machine: str = ""
    """Name of the machine of a cluster that asked the model; its facts stand in the run's header.
    Empty if the run's own machine did."""
    memory_bytes: int | None = None
    """Total memory of the loaded model in bytes, if the server reports it."""
    gpu_share: float | None = None
    """Share of the memory that was on the GPU, 0.0 to 1.0."""
    request_fingerprint: str = ""
    """Hash of the request and its model; empty in older files."""
    evaluator_fingerprint: str = ""
    """Hash of the evaluator's name, parameters and code; empty in older files."""
    judgement: Mapping[str, Any] | None = None
    """Judgement by a model: judge, cost_usd, and samples as in `Judgement.as_dict`."""
    failure: Failure | None = None

    @property
    def tells_form(self) -> bool:
        """True if the strict score is known; a missing one then says that no rule was broken.

        Older tools stored neither strict scores nor runs: nothing is known of their results.
        """
        return self.strict_score is not None or bool(self.found or self.run_id)

    @property
    def can_be_scored(self) -> bool:
        """True if it holds an answer of the LLM, scored or not; a transport error is none."""
        if self.failure is None:
            return True
        return self.failure.kind.comes_after_response and bool(self.response or self.thinking)

    @property
    def weak_sandbox(self) -> str:
        """Level at which code of the response ran, where it did not isolate it; else empty."""
        return self.sandbox if self.sandbox in WEAK_SANDBOXES else ""

    @property
    def judge_cost_usd(self) -> float | None:
        """What judging the response cost in US dollars, apart from the response itself.

        None where no LLM judged it, or nobody knows.
        """
        cost = None if self.judgement is None else self.judgement.get("cost_usd")
        return float(cost) if isinstance(cost, int | float) else None

    @cached_property
    def thinking_share(self) -> float:
        """Share of the generated tokens, or else of the text, that is thinking, 0.0 to 1.0.

        The index keeps it, so that a result without its texts has it, too.
        """
        if self.thinking_tokens is not None and self.completion_tokens:
            return min(1.0, self.thinking_tokens / self.completion_tokens)
        length = len(self.thinking) + len(self.response)
        return len(self.thinking) / length if length else 0.0

    @property
    def answer_id(self) -> str:
        """Fingerprint of prompt and response: the same words get the same id from any model."""
        said = json.dumps([self.test_id, self.system_prompt, self.prompt, self.response])
        return f"{ANSWER_ID_PREFIX}{hashlib.blake2b(said.encode(), digest_size=8).hexdigest()}"

    @property
    def key(self) -> tuple[str, str, int]:
        """What identifies a trial: LLM id, test id, trial number."""
        return self.llm_id, self.test_id, self.trial


def keep_one_per_trial(results: Iterable[Result]) -> list[Result]:
    """Select the score of each trial, or its failure where it has no score.

    A trial may have a score and a newer failure: it counts as scored.
    """
    known = list(results)
    scored = {result.key for result in known if result.failure is None}
    return [result for result in known if result.failure is None or result.key not in scored]


_DEFAULTS = {item.name: item.default for item in fields(Result)}
_APART = frozenset({"llm_id", "failure"})
_COMPUTED = _APART | {"thinking_share"}
_NAMES = tuple(name for name in _DEFAULTS if name not in _APART)
_NUMBER = (int, float)
_TYPES: dict[str, Any] = {
    **{name: str if _DEFAULTS[name] == "" else _NUMBER for name in _NAMES},
    "llm_id": str,
    "test_id": str,
    "score": object,
    "think": (bool, str),
    "trial": int,
    "marks": (list, tuple),
    "model_digest": str,
    "judgement": dict,
}
"""What a field of a record must be to be read."""
_API_ERROR = "[API ERROR]"


def result_to_record(result: Result) -> dict[str, Any]:
    """Write the record of `result` as it stands in files, without fields at their defaults."""
    record: dict[str, Any] = {"llm_id": result.llm_id}
    record |= {
        name: value
        for name, value in vars(result).items()
        if name not in _COMPUTED and value != _DEFAULTS[name]
    }
    if result.failure is not None:
        record["failure"] = {
            "kind": result.failure.kind.value,
            "message": result.failure.message,
            "attempts": result.failure.attempts,
        }
    else:
        record["score"] = result.score
        record.setdefault("details", "")
        record.setdefault("response", "")
    return record


def record_to_result(llm_id: str, record: Mapping[str, Any]) -> Result:
    """Read the result that a record describes; unknown fields are ignored.

    Values of a wrong type are ignored too, but for those that a result cannot do without. Rows that
    an older tool stored with a response `[API ERROR] ...` become failures.

    Raises:
        ValueError: If the record has no test id, no usable trial number or response, or neither
            a usable score nor a failure.
    """
    values = _keep_usable(record)
    if "test_id" not in values:
        raise ValueError("a result needs a test_id")
    if values.get("trial", 1) < 1 or ("trial" in record) > ("trial" in values):
        raise ValueError(f"trial must be a whole number from 1, not {record['trial']!r}")
    if "response" in record and not isinstance(record["response"], str | None):
        raise ValueError("response must be a text")
    if "marks" in values:
        values["marks"] = tuple(map(str, values["marks"]))
    failure = _read_failure(record)
    score = values.pop("score", None)
    if failure is None:
        if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
            raise ValueError(f"score must be a number from 0 to 1, not {score!r}")
        values["score"] = float(score)
    return build_result({**values, "llm_id": llm_id, "failure": failure})


def _keep_usable(record: Mapping[str, Any]) -> dict[str, Any]:
    """Pick the fields of a record that are ours and of a right type.

    Most records of a file have the same fields of the same types: those need no look at each.
    """
    if _is_usable(tuple(record), tuple(map(type, record.values()))):
        return dict(record)
    return {
        name: value for name, value in record.items() if isinstance(value, _TYPES.get(name, ()))
    }


@lru_cache(maxsize=1024)
def _is_usable(names: tuple[str, ...], types: tuple[type, ...]) -> bool:
    return all(
        issubclass(kind, _TYPES.get(name, ())) for name, kind in zip(names, types, strict=True)
    )


def build_result(values: Mapping[str, Any]) -> Result:
    """Build a result of fields that are known to be right; those that are not there are default.

    All fields are set at once: one by one, as a frozen class does it, is most of the time that
    reading many results takes.
    """
    result = object.__new__(Result)
    result.__dict__.update(values)
    return result


def _read_failure(record: Mapping[str, Any]) -> Failure | None:
    stored = record.get("failure")
    if isinstance(stored, dict):
        return Failure(
            kind=FailureKind(stored["kind"]),
            message=str(stored.get("message", "")),
            attempts=int(stored.get("attempts", 1)),
        )
    response = record.get("response")
    if isinstance(response, str) and response.lstrip().startswith(_API_ERROR):
        message = response.strip().removeprefix(_API_ERROR).strip()
        return Failure(kind=FailureKind.OLDER_TOOL, message=message)
    return None
