"""Ask a model for a judgement, in parts where needed; the only step of judging that sends requests.

Scores by dimension are means over the parts by their number of cases, and the overall score is
computed from them as ever.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from poor_bench.errors import RecordedError
from poor_bench.judge.judgement import (
    APPROVAL_THRESHOLD,
    JudgeError,
    Judgement,
    make_fallback_judgement,
)
from poor_bench.judge.prompt import (
    ADVICE,
    DEFAULT_MAX_TOKENS,
    PROMPT_VERSION,
    JudgeEvidence,
    build_verdict_schema,
    find_context_limit,
    find_reply_limit,
    judge_messages,
    make_nonce,
    repair_message,
    split_evidence,
    split_in_halves,
)
from poor_bench.judge.reply import (
    Reading,
    UnusableReplyError,
    compute_weighted_mean,
    find_verdict,
    read_verdict,
)
from poor_bench.judge.rubric import DEFAULT_RUBRIC, Rubric
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import (
    Completion,
    FinishReason,
    Message,
    Usage,
    cost_usd,
    sum_whole,
)
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM, build_base_llm_id, split_think_suffix

_DEFAULTS: Mapping[str, Any] = {"temperature": 0.3, "max_tokens": DEFAULT_MAX_TOKENS}
_OTHER_JUDGE = "choose another judge: set `judge.model` in config.yaml, or ANTHROPIC_MODEL"


class Judge:
    """A model with a rubric; thread-safe."""

    def __init__(
        self,
        llm: LLM,
        manager: LLMManager,
        rubric: Rubric = DEFAULT_RUBRIC,
        *,
        threshold: float = APPROVAL_THRESHOLD,
        advice: tuple[str, ...] = ADVICE,
    ) -> None:
        """Prepare without sending requests.

        Args:
            llm: The model that judges.
            manager: Sends the requests.
            rubric: Its dimensions are scored.
            threshold: Lowest overall score, 0 to 10, that approves.
            advice: Lists of texts wanted beside the scores; they cost time and money.
        """
        self.llm = llm
        self.rubric = rubric
        self.threshold = threshold
        self.advice = advice
        self._manager = manager
        self._parameters = {**_DEFAULTS, **llm.parameters}

    def judge(
        self, evidence: JudgeEvidence, cancelled: Callable[[], bool] = lambda: False
    ) -> Judgement:
        """Judge the evidence; a failure gives the fallback.

        Raises:
            ConfigError: If the settings of the judge's LLM cannot be used.
            RunCancelledError: If `cancelled()` turned true.
        """
        try:
            return self.ask(evidence, cancelled)
        except JudgeError as error:
            return error.fallback

    def ask(
        self, evidence: JudgeEvidence, cancelled: Callable[[], bool] = lambda: False
    ) -> Judgement:
        """Judge the evidence, in parts if it is too long for one request.

        Raises:
            JudgeError: If the judge could not be asked, or not be understood after a repair.
            ConfigError: If the settings of the judge's LLM cannot be used.
            RunCancelledError: If `cancelled()` turned true.
        """
        limits = find_reply_limit(self._parameters), find_context_limit(self._parameters)
        return self._judge_parts(evidence, split_evidence(evidence, *limits), cancelled)

    def _judge_parts(
        self, evidence: JudgeEvidence, parts: Sequence[JudgeEvidence], cancelled: Callable[[], bool]
    ) -> Judgement:
        """Judge part by part; if one part fails, the whole judgement fails."""
        judged: list[Judgement] = []
        for part in parts:
            try:
                judged.append(self._judge_part(part, cancelled))
            except JudgeError as error:
                spent = add_costs([*judged, error.fallback], error.fallback)
                fallback = make_fallback_judgement(
                    spent, self.rubric.names, evidence.cases, str(error)
                )
                raise JudgeError(str(error), fallback, hint=error.hint) from error.__cause__
        return merge_judgements(judged, self.rubric)

    def _judge_part(self, part: JudgeEvidence, cancelled: Callable[[], bool]) -> Judgement:
        """Judge a part; split it in halves if it is too long."""
        try:
            return JudgeSession(self, part, cancelled).judgement()
        except JudgeError as error:
            if not error.is_too_long or len(part.cases) < 2:
                raise
            whole = self._judge_parts(part, split_in_halves(part), cancelled)
            return add_costs([error.fallback, whole], whole)

    def complete(
        self,
        messages: tuple[Message, ...],
        schema: Mapping[str, Any],
        cancelled: Callable[[], bool],
    ) -> Completion:
        """Request a reply in the form of `schema`.

        Raises:
            ProviderError: If no usable reply came.
            ConfigError: If the settings of the LLM cannot be used.
            RunCancelledError: If `cancelled()` turned true.
        """
        response_format = {"type": "json_schema", "name": "verdict", "schema": schema}
        parameters = {**self._parameters, "response_format": response_format}
        return self._manager.complete(self.llm, messages, cancelled, parameters)

    def blank_judgement(self, evidence: JudgeEvidence) -> Judgement:
        """Build a judgement of the evidence without scores."""
        return Judgement(
            overall_score=0.0,
            scores={},
            judge=self.llm.id,
            attempts=0,
            threshold=self.threshold,
            rubric_name=self.rubric.name,
            rubric_hash=self.rubric.hash,
            prompt_version=PROMPT_VERSION,
            is_self_judged=_is_writer(self.llm, evidence.written_by),
            timestamp=self._manager.clock.now_iso(),
        )

    @property
    def is_bounded(self) -> bool:
        """True if schemas limit the lengths of lists and texts, as for local models."""
        return self._manager.is_local(self.llm)


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One reply of the judge, as far as it is usable."""

    completion: Completion
    reading: Reading | None
    """None if the reply contains no verdict."""
    problem: str
    """Reason for a repair request; empty if the verdict is complete."""
    is_truncated: bool

    @property
    def n_gaps(self) -> float:
        return float("inf") if self.reading is None else self.reading.n_gaps


@dataclass(slots=True)
class JudgeSession:
    """One judgement: a request, and at most one repair request if its reply has gaps."""

    judge: Judge
    evidence: JudgeEvidence
    cancelled: Callable[[], bool]
    _nonce: str = field(init=False)
    _blank: Judgement = field(init=False)
    _n_requests: int = 0
    _attempts: list[_Attempt] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._nonce = make_nonce(self.evidence.texts())
        self._blank = self.judge.blank_judgement(self.evidence)

    def judgement(self) -> Judgement:
        """Ask for the judgement.

        Raises:
            JudgeError: If the judge could not be asked, or not be understood.
            ConfigError: If the settings of the judge's LLM cannot be used.
            RunCancelledError: If the run was cancelled.
        """
        judge = self.judge
        messages = judge_messages(self.evidence, judge.rubric, self._nonce, judge.advice)
        first = self._attempt(messages)
        if not first.problem:
            return self._accept(first)
        if first.is_truncated and len(self.evidence.cases) > 1:
            # A repair would be truncated, too: fewer cases at once are the way out.
            message = f"the judge's reply is truncated: {first.problem}"
            raise self._error(message, is_too_long=True)
        repair = repair_message(first.problem, self._nonce)
        reply = Message("assistant", first.completion.text or "{}")
        try:
            second = self._attempt((*messages, reply, repair))
        except JudgeError:
            if first.reading is None:
                raise
            return self._accept(first)
        return self._accept(min(first, second, key=lambda attempt: attempt.n_gaps))

    def _attempt(self, messages: tuple[Message, ...]) -> _Attempt:
        completion = self._request(messages)
        is_cut_off = completion.finish_reason is FinishReason.LENGTH
        try:
            reading = self._read(completion)
        except UnusableReplyError as error:
            attempt = _Attempt(completion, None, _explain(error, completion), is_cut_off)
        else:
            problem = " and ".join(self._list_gaps(reading))
            is_truncated = is_cut_off and bool(reading.n_gaps)
            attempt = _Attempt(completion, reading, problem, is_truncated)
        self._attempts.append(attempt)
        if completion.prompt_truncated:
            raise self._error(
                "the judge's context is too small: the server dropped part of the prompt",
                "raise the judge's num_ctx",
                is_too_long=True,
            )
        return attempt

    def _request(self, messages: tuple[Message, ...]) -> Completion:
        judge, n_cases = self.judge, len(self.evidence.cases)
        schema = build_verdict_schema(
            judge.rubric, n_cases, self._nonce, judge.advice, is_bounded=judge.is_bounded
        )
        self._n_requests += 1
        try:
            return judge.complete(messages, schema, self.cancelled)
        except RecordedError as error:
            hint = _OTHER_JUDGE if error.kind is FailureKind.MODEL_NOT_FOUND else error.hint
            fix = f" ({hint})" if hint else ""
            message = f"the judge cannot be reached: {error}{fix}"
            is_too_long = error.kind is FailureKind.CONTEXT_OVERFLOW
            raise self._error(message, hint, is_too_long=is_too_long) from error

    def _read(self, completion: Completion) -> Reading:
        rubric, evidence = self.judge.rubric, self.evidence
        verdict = find_verdict(completion.text, rubric, self._nonce, evidence.texts())
        return read_verdict(verdict, rubric, evidence.cases, self.judge.advice)

    def _list_gaps(self, reading: Reading) -> Iterator[str]:
        """List the gaps that justify a repair request; the score of a single case does not."""
        if reading.missing:
            yield f"`scores` lacks {', '.join(reading.missing)}"
        if reading.unscored and len(self.evidence.cases) > 1:
            yield f"`test_case_evaluations` lacks case {', '.join(map(str, reading.unscored))}"

    def _accept(self, attempt: _Attempt) -> Judgement:
        reading = attempt.reading
        if reading is None:
            is_too_long = any(other.is_truncated for other in self._attempts)
            message = f"the judge's reply is not valid: {attempt.problem}"
            raise self._error(message, is_too_long=is_too_long)
        spent, texts = self._note_spent(), reading.texts
        return replace(
            spent,
            overall_score=reading.overall_score,
            scores=reading.scores,
            test_case_evaluations=reading.test_case_evaluations,
            strengths=texts["strengths"],
            weaknesses=texts["weaknesses"],
            failures=texts["failures"],
            warnings=texts["warnings"] + spent.repairs + reading.repairs,
            recommendations=texts["recommendations"],
            repairs=spent.repairs + reading.repairs,
        )

    def _note_spent(self) -> Judgement:
        """Build the judgement without scores, with usage and cost of all replies."""
        completions = [attempt.completion for attempt in self._attempts]
        if not completions:
            return replace(self._blank, attempts=self._n_requests)
        prices = self.judge.llm.prices
        return replace(
            self._blank,
            attempts=self._n_requests,
            usage=sum_usage([completion.usage for completion in completions]),
            cost_usd=sum_whole([cost_usd(completion.usage, prices) for completion in completions]),
            time_ms=sum(completion.timing.total_ms for completion in completions),
            reply=completions[-1].text,
            repairs=completions[-1].notes,
        )

    def _error(self, message: str, hint: str = "", *, is_too_long: bool = False) -> JudgeError:
        cases = self.evidence.cases
        fallback = make_fallback_judgement(
            self._note_spent(), self.judge.rubric.names, cases, message
        )
        return JudgeError(message, fallback, hint=hint, is_too_long=is_too_long)


def _explain(error: UnusableReplyError, completion: Completion) -> str:
    if completion.finish_reason is FinishReason.STOP:
        return str(error)
    return f"{error} (finish reason: {completion.finish_reason.value})"


def _is_writer(llm: LLM, writer: str) -> bool:
    """True if a model is the writer, given by id or `provider:name`."""
    names = {llm.id, build_base_llm_id(llm.provider, llm.name)}
    return bool(writer) and (writer in names or split_think_suffix(writer)[0] in names)


_MOST_TEXTS = 50


def merge_judgements(parts: Sequence[Judgement], rubric: Rubric) -> Judgement:
    """Merge the judgements of the parts, in their order."""
    if len(parts) == 1:
        return parts[0]
    first, weights = parts[0], [len(part.test_case_evaluations) for part in parts]
    scores = {
        name: math.fsum(part.scores[name] * n for part, n in zip(parts, weights, strict=True))
        / sum(weights)
        for name in rubric.names
    }
    note = f"judged in {len(parts)} parts of {', '.join(map(str, weights))} cases"
    repairs = _list_unique((note,), *(part.repairs for part in parts))
    texts = {name: _list_unique(*(getattr(part, name) for part in parts)) for name in ADVICE}
    return replace(
        add_costs(parts, first),
        overall_score=compute_weighted_mean(scores, rubric),
        scores={name: round(score, 2) for name, score in scores.items()},
        test_case_evaluations=tuple(case for part in parts for case in part.test_case_evaluations),
        repairs=repairs,
        reply="\n\n".join(part.reply for part in parts),
        strengths=texts["strengths"],
        weaknesses=texts["weaknesses"],
        failures=texts["failures"],
        warnings=_list_unique(texts["warnings"], (note,)),
        recommendations=texts["recommendations"],
    )


def add_costs(parts: Sequence[Judgement], whole: Judgement) -> Judgement:
    """Add up usage and cost of several judgements.

    Requests that were never answered took nothing.
    """
    answered = [part for part in parts if part.time_ms is not None] or parts
    return replace(
        whole,
        usage=sum_usage([part.usage for part in answered]),
        cost_usd=sum_whole([part.cost_usd for part in answered]),
        attempts=sum(part.attempts for part in parts),
        time_ms=math.fsum(part.time_ms or 0.0 for part in parts),
    )


def sum_usage(usages: Sequence[Usage]) -> Usage:
    """Add up the tokens of several requests; a figure is None if one of them is unknown."""

    def total(name: str) -> int | None:
        counts = [getattr(usage, name) for usage in usages]
        return None if None in counts else sum(counts)

    return Usage(**{item.name: total(item.name) for item in fields(Usage)})


def _list_unique(*texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for some in texts for text in some))[:_MOST_TEXTS]
