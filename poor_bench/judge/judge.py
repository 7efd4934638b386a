"""Ask a model for a judgement; the only step of judging that sends requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from poor_bench.judge.fallback import fallback_judgement
from poor_bench.judge.hearing import Hearing
from poor_bench.judge.judge_error import JudgeError
from poor_bench.judge.judgement import APPROVAL_THRESHOLD, Judgement
from poor_bench.judge.parts import halves_of, parts_of, put_together, with_costs_of
from poor_bench.judge.prompt import PROMPT_VERSION
from poor_bench.judge.rubric import DEFAULT_RUBRIC, Rubric
from poor_bench.judge.subject import Subject
from poor_bench.judge.token_limits import DEFAULT_MAX_TOKENS, context_limit, reply_limit
from poor_bench.judge.verdict_schema import ADVICE
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import Completion, Message
from poor_bench.models.llm import LLM, base_llm_id, split_think_suffix

DEFAULT_TEMPERATURE = 0.3


class Judge:
    """A model with a rubric; thread-safe."""

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
        """Prepare without sending requests.

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
        """Judge a subject; a failure gives the fallback.

        Raises:
            ConfigError: If the settings of the judge's LLM cannot be used.
            RunCancelledError: If `cancelled()` turned true.
        """
        try:
            return self.ask(subject, cancelled)
        except JudgeError as error:
            return error.fallback

    def ask(self, subject: Subject, cancelled: Callable[[], bool] = lambda: False) -> Judgement:
        """Judge a subject, in parts if it is too long for one request.

        Raises:
            JudgeError: If the judge could not be asked, or not be understood after a repair.
            ConfigError: If the settings of the judge's LLM cannot be used.
            RunCancelledError: If `cancelled()` turned true.
        """
        limits = reply_limit(self._parameters), context_limit(self._parameters)
        return self._of_parts(subject, parts_of(subject, *limits), cancelled)

    def _of_parts(
        self, subject: Subject, parts: Sequence[Subject], cancelled: Callable[[], bool]
    ) -> Judgement:
        """Judge a subject part by part; if one part fails, the whole judgement fails."""
        judged: list[Judgement] = []
        for part in parts:
            try:
                judged.append(self._of_part(part, cancelled))
            except JudgeError as error:
                names, cases = self.rubric.names, subject.cases
                spent = with_costs_of([*judged, error.fallback], error.fallback)
                fallback = fallback_judgement(spent, names, cases, str(error))
                raise JudgeError(str(error), fallback, hint=error.hint) from error.__cause__
        return put_together(judged, self.rubric)

    def _of_part(self, part: Subject, cancelled: Callable[[], bool]) -> Judgement:
        """Judge a part; split it in halves if it is too long."""
        try:
            return Hearing(self, part, cancelled).judgement()
        except JudgeError as error:
            if not error.is_too_long or len(part.cases) < 2:
                raise
            whole = self._of_parts(part, halves_of(part), cancelled)
            return with_costs_of([error.fallback, whole], whole)

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
        """Build an empty judgement of the subject; all scores are 0."""
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
        """True if schemas limit the lengths of lists and texts, as for local models."""
        return self._manager.is_local(self.llm)


def _parameters(llm: LLM, temperature: float | None, max_tokens: int | None) -> dict[str, Any]:
    given = {"temperature": temperature, "max_tokens": max_tokens}
    return {
        "temperature": DEFAULT_TEMPERATURE,
        "max_tokens": DEFAULT_MAX_TOKENS,
        **llm.parameters,
        **{name: value for name, value in given.items() if value is not None},
    }


def _wrote(llm: LLM, writer: str) -> bool:
    """True if a model is the writer, given by id or `provider:name`."""
    names = {llm.id, base_llm_id(llm.provider, llm.name)}
    return bool(writer) and (writer in names or split_think_suffix(writer)[0] in names)
