"""Ask an LLM for a judgement: the one step of judging that goes over a wire."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from poor_bench.errors import RecordedError
from poor_bench.judge.fallback import fallback_judgement
from poor_bench.judge.judge_error import JudgeError
from poor_bench.judge.judgement import APPROVAL_THRESHOLD, Judgement
from poor_bench.judge.prompt import PROMPT_VERSION, judge_messages, repair_message
from poor_bench.judge.quoting import nonce_for
from poor_bench.judge.reply_reading import Reading, read_verdict
from poor_bench.judge.reply_search import UnusableReplyError, find_verdict
from poor_bench.judge.rubric import DEFAULT_RUBRIC, Rubric
from poor_bench.judge.subject import Subject
from poor_bench.judge.verdict_schema import ADVICE, verdict_schema
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import Completion, FinishReason, Message, Usage
from poor_bench.models.llm import LLM
from poor_bench.models.llm_id import base_llm_id, split_think_suffix
from poor_bench.scoring.cost import cost_usd

DEFAULT_TEMPERATURE = 0.3
DEFAULT_MAX_TOKENS = 4000
MOST_ATTEMPTS = 2
"""The first request, and one that tells what was wrong with its reply."""


class Judge:
    """An LLM with a rubric; safe to use from several threads."""

    def __init__(
        self,
        llm: LLM,
        manager: LLMManager,
        rubric: Rubric = DEFAULT_RUBRIC,
        *,
        threshold: float = APPROVAL_THRESHOLD,
        temperature: float | None = None,
        max_tokens: int | None = None,
        advice: tuple[str, ...] = ADVICE,
    ) -> None:
        """Ask nobody yet.

        Args:
            llm: Who judges.
            manager: Asks it.
            rubric: By what.
            threshold: Overall score, 0 to 10, from which on a subject is approved.
            temperature: In place of the LLM's own, which is 0.3 where it sets none.
            max_tokens: In place of the LLM's own, which is 4000 where it sets none.
            advice: Which lists of texts are wanted beside the scores; they cost time and money.
        """
        self.llm = llm
        self.rubric = rubric
        self.threshold = threshold
        self.advice = advice
        self._manager = manager
        self._parameters = _parameters(llm, temperature, max_tokens)

    def judge(self, subject: Subject, cancelled: Callable[[], bool] = lambda: False) -> Judgement:
        """Return the judgement of a subject; the fallback where there is none to be had.

        Raises:
            ConfigError: If the settings of the judge's LLM cannot be used.
            RunCancelledError: If `cancelled()` turned true.
        """
        try:
            return self.ask(subject, cancelled)
        except JudgeError as error:
            return error.fallback

    def ask(self, subject: Subject, cancelled: Callable[[], bool] = lambda: False) -> Judgement:
        """Return the judgement of a subject.

        Raises:
            JudgeError: If the judge could not be asked, or not be understood after a repair.
            ConfigError: If the settings of the judge's LLM cannot be used.
            RunCancelledError: If `cancelled()` turned true.
        """
        return _Hearing(self, subject, cancelled).judgement()

    def complete(
        self,
        messages: tuple[Message, ...],
        schema: Mapping[str, Any],
        cancelled: Callable[[], bool],
    ) -> Completion:
        """Ask the LLM for a reply of the form of `schema`.

        Raises:
            ProviderError: If there is no reply to be had.
            ConfigError: If the settings of the LLM cannot be used.
            RunCancelledError: If `cancelled()` turned true.
        """
        response_format = {"type": "json_schema", "name": "verdict", "schema": schema}
        parameters = {**self._parameters, "response_format": response_format}
        return self._manager.complete(self.llm, messages, cancelled, parameters)

    def blank(self, subject: Subject) -> Judgement:
        """Return a judgement of the subject before anything was asked; all its scores are 0."""
        return Judgement(
            overall_score=0.0,
            scores={},
            judge=self.llm.id,
            attempts=0,
            threshold=self.threshold,
            rubric_name=self.rubric.name,
            rubric_hash=self.rubric.hash,
            prompt_version=PROMPT_VERSION,
            is_self_judged=_wrote(self.llm, subject.written_by),
            timestamp=self._manager.clock.now_iso(),
        )

    @property
    def is_bounded(self) -> bool:
        """Whether schemas limit the lengths of lists and texts, for models on own machines."""
        return self._manager.is_local(self.llm)


@dataclass(slots=True)
class _Hearing:
    """One subject before a judge: asking, one repair, and what both cost."""

    judge: Judge
    subject: Subject
    cancelled: Callable[[], bool]
    nonce: str = field(init=False)
    so_far: Judgement = field(init=False)

    def __post_init__(self) -> None:
        self.nonce = nonce_for(self.subject.texts())
        self.so_far = self.judge.blank(self.subject)

    def judgement(self) -> Judgement:
        messages = judge_messages(self.subject, self.judge.rubric, self.nonce, self.judge.advice)
        incomplete: Reading | None = None
        problem = ""
        while self.so_far.attempts < MOST_ATTEMPTS:
            completion = self._ask(messages)
            try:
                reading = self._read(completion)
            except UnusableReplyError as error:
                problem = str(error)
            else:
                if not reading.missing:
                    return self._of(reading)
                incomplete = reading
                problem = f"`scores` lacks {', '.join(reading.missing)}"
            repair = repair_message(problem, self.nonce)
            messages = (*messages, Message("assistant", completion.text or "{}"), repair)
        if incomplete is not None:
            return self._of(incomplete)
        raise self._error(f"the judge's reply cannot be used: {problem}")

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
            raise self._error(f"the judge could not be asked: {error}", error.hint) from error
        self._note(completion)
        if completion.prompt_truncated:
            raise self._error(
                "the judge's context is too short: the server dropped a part of what it was shown",
                "raise num_ctx of the judge, or judge fewer cases at once",
            )
        return completion

    def _note(self, completion: Completion) -> None:
        """Add what an attempt took; an unknown cost makes the sum unknown."""
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
            reason = f"{error} (the reply ended by {completion.finish_reason.value})"
            raise UnusableReplyError(reason) from error
        return read_verdict(verdict, rubric, subject.cases, self.judge.advice)

    def _of(self, reading: Reading) -> Judgement:
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

    def _error(self, message: str, hint: str = "") -> JudgeError:
        names = self.judge.rubric.names
        fallback = fallback_judgement(self.so_far, names, self.subject.cases, message)
        return JudgeError(message, fallback, hint=hint)


def added(first: Usage, second: Usage) -> Usage:
    """Return the tokens of two requests together; None where one of them is unknown."""

    def total(one: int | None, other: int | None) -> int | None:
        return None if one is None or other is None else one + other

    return Usage(
        prompt_tokens=total(first.prompt_tokens, second.prompt_tokens),
        completion_tokens=total(first.completion_tokens, second.completion_tokens),
        thinking_tokens=total(first.thinking_tokens, second.thinking_tokens),
        cached_tokens=total(first.cached_tokens, second.cached_tokens),
    )


def _parameters(llm: LLM, temperature: float | None, max_tokens: int | None) -> dict[str, Any]:
    given = {"temperature": temperature, "max_tokens": max_tokens}
    return {
        "temperature": DEFAULT_TEMPERATURE,
        "max_tokens": DEFAULT_MAX_TOKENS,
        **llm.parameters,
        **{name: value for name, value in given.items() if value is not None},
    }


def _wrote(llm: LLM, writer: str) -> bool:
    """Return whether an LLM is the writer, told by an id or as `provider:name`."""
    names = {llm.id, base_llm_id(llm.provider, llm.name)}
    return bool(writer) and (writer in names or split_think_suffix(writer)[0] in names)
