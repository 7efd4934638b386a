"""Ask a judge about one subject, with one repair request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from poor_bench.errors import RecordedError
from poor_bench.judge.fallback import fallback_judgement
from poor_bench.judge.judge_error import JudgeError
from poor_bench.judge.judgement import Judgement
from poor_bench.judge.parts import added
from poor_bench.judge.prompt import judge_messages, repair_message
from poor_bench.judge.quoting import nonce_for
from poor_bench.judge.reply_reading import Reading, read_verdict
from poor_bench.judge.reply_search import UnusableReplyError, find_verdict
from poor_bench.judge.subject import Subject
from poor_bench.judge.verdict_schema import verdict_schema
from poor_bench.models.completion import Completion, FinishReason, Message
from poor_bench.models.failure import FailureKind
from poor_bench.scoring.cost import cost_usd

if TYPE_CHECKING:
    from poor_bench.judge.judge import Judge


_OTHER_JUDGE = "choose another judge: set `judge.model` in config.yaml, or ANTHROPIC_MODEL"


class _Answer(NamedTuple):
    """Result of one request."""

    reading: Reading | None
    """None if the reply is not valid."""
    problem: str
    """Problem of the reply; empty if there is none."""

    @property
    def is_complete(self) -> bool:
        return not self.problem


def _n_gaps(answer: _Answer) -> float:
    return float("inf") if answer.reading is None else answer.reading.n_gaps


@dataclass(slots=True)
class Hearing:
    """Asks a judge about one subject, repairs the reply once, and adds up the cost."""

    judge: Judge
    subject: Subject
    cancelled: Callable[[], bool]
    nonce: str = field(init=False)
    so_far: Judgement = field(init=False)
    is_cut_off: bool = False
    """True if the last invalid reply was truncated."""

    def __post_init__(self) -> None:
        self.nonce = nonce_for(self.subject.texts())
        self.so_far = self.judge.blank(self.subject)

    def judgement(self) -> Judgement:
        """Ask for the judgement, with a repair request if needed.

        Raises:
            JudgeError: If the judge could not be asked, or not be understood.
            ConfigError: If the settings of the judge's LLM cannot be used.
            RunCancelledError: If the run was cancelled.
        """
        messages = judge_messages(self.subject, self.judge.rubric, self.nonce, self.judge.advice)
        first = self._answer(messages)
        if first.is_complete:
            return self._of(first)
        if self.is_cut_off and len(self.subject.cases) > 1:
            raise self._error(f"the judge's reply is truncated: {first.problem}", is_too_long=True)
        repair = repair_message(first.problem, self.nonce)
        reply = Message("assistant", self.so_far.reply or "{}")
        try:
            second = self._answer((*messages, reply, repair))
        except JudgeError:
            if first.reading is None:
                raise
            return self._of(first)
        return self._of(min(first, second, key=_n_gaps))

    def _answer(self, messages: tuple[Message, ...]) -> _Answer:
        completion = self._ask(messages)
        try:
            reading = self._read(completion)
        except UnusableReplyError as error:
            return _Answer(None, str(error))
        self.is_cut_off = completion.finish_reason is FinishReason.LENGTH and bool(reading.n_gaps)
        return _Answer(reading, " and ".join(self._gaps(reading)))

    def _gaps(self, reading: Reading) -> Iterator[str]:
        """List the gaps that justify a repair request; the score of a single case does not."""
        if reading.missing:
            yield f"`scores` lacks {', '.join(reading.missing)}"
        if reading.unscored and len(self.subject.cases) > 1:
            yield f"`test_case_evaluations` lacks case {', '.join(map(str, reading.unscored))}"

    def _ask(self, messages: tuple[Message, ...]) -> Completion:
        judge = self.judge
        n_cases = len(self.subject.cases)
        schema = verdict_schema(
            judge.rubric, n_cases, self.nonce, judge.advice, is_bounded=judge.is_bounded
        )
        self.so_far = replace(self.so_far, attempts=self.so_far.attempts + 1)
        try:
            completion = judge.complete(messages, schema, self.cancelled)
        except RecordedError as error:
            hint = _OTHER_JUDGE if error.kind is FailureKind.MODEL_NOT_FOUND else error.hint
            way_out = f" ({hint})" if hint else ""
            message = f"the judge cannot be reached: {error}{way_out}"
            is_too_long = error.kind is FailureKind.CONTEXT_OVERFLOW
            raise self._error(message, hint, is_too_long=is_too_long) from error
        self._note(completion)
        if completion.prompt_truncated:
            raise self._error(
                "the judge's context is too small: the server dropped part of the prompt",
                "raise the judge's num_ctx",
                is_too_long=True,
            )
        return completion

    def _note(self, completion: Completion) -> None:
        """Add usage and cost of an attempt; an unknown cost makes the sum unknown."""
        before = self.so_far
        cost = cost_usd(completion.usage, self.judge.llm.prices)
        is_first = before.attempts == 1
        known = None if before.cost_usd is None or cost is None else before.cost_usd + cost
        self.so_far = replace(
            before,
            usage=completion.usage if is_first else added(before.usage, completion.usage),
            cost_usd=cost if is_first else known,
            time_ms=(before.time_ms or 0.0) + completion.timing.total_ms,
            reply=completion.text,
            repairs=completion.notes,
        )

    def _read(self, completion: Completion) -> Reading:
        rubric, subject = self.judge.rubric, self.subject
        try:
            verdict = find_verdict(completion.text, rubric, self.nonce, subject.texts())
        except UnusableReplyError as error:
            if completion.finish_reason is FinishReason.STOP:
                raise
            self.is_cut_off = completion.finish_reason is FinishReason.LENGTH
            reason = f"{error} (finish reason: {completion.finish_reason.value})"
            raise UnusableReplyError(reason) from error
        return read_verdict(verdict, rubric, subject.cases, self.judge.advice)

    def _of(self, answer: _Answer) -> Judgement:
        reading = answer.reading
        if reading is None:
            message = f"the judge's reply is not valid: {answer.problem}"
            raise self._error(message, is_too_long=self.is_cut_off)
        texts = reading.texts
        return replace(
            self.so_far,
            overall_score=reading.overall_score,
            scores=reading.scores,
            test_case_evaluations=reading.test_case_evaluations,
            strengths=texts["strengths"],
            weaknesses=texts["weaknesses"],
            failures=texts["failures"],
            warnings=texts["warnings"] + self.so_far.repairs + reading.repairs,
            repairs=self.so_far.repairs + reading.repairs,
            recommendations=texts["recommendations"],
        )

    def _error(self, message: str, hint: str = "", *, is_too_long: bool = False) -> JudgeError:
        names = self.judge.rubric.names
        fallback = fallback_judgement(self.so_far, names, self.subject.cases, message)
        return JudgeError(message, fallback, hint=hint, is_too_long=is_too_long)
