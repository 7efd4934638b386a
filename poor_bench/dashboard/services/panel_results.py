"""Everything that the result panel shows of one result, and what can be done with it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from poor_bench.config.edit_entries import report_test
from poor_bench.config.load import Workspace
from poor_bench.dashboard.services.stored_results import StoredResults
from poor_bench.dashboard.services.trial_search import ResultDetails, TrialSearch
from poor_bench.dashboard.services.workspace_watch import WorkspaceWatch
from poor_bench.errors import ConfigError
from poor_bench.extraction.thinking import split_thinking
from poor_bench.metrics.trust import TrustNote, list_trial_notes
from poor_bench.models.completion import ChatRequest, Message
from poor_bench.models.failure import Failure
from poor_bench.models.llm import resolve_llm_id
from poor_bench.models.result import Result
from poor_bench.prompts import (
    build_messages,
    build_parameters,
    choose_template,
    find_override,
)
from poor_bench.providers.catalog import find_entry
from poor_bench.providers.registry import write_curl
from poor_bench.rescoring import Rescoring
from poor_bench.results.earlier import find_earlier
from poor_bench.results.table import ResultTable, TrialKey
from poor_bench.runner.rescore import Rescored
from poor_bench.runner.stale import StaleCheck
from poor_bench.workspace_runner import WorkspaceRunner

if TYPE_CHECKING:
    from poor_bench.workspace_folder import WorkspaceFolder

_EXCERPT = 4_000
_READ = 20_000
"""Characters of a response that an excerpt is made from: thinking may stand before the answer."""
_MOST_OTHERS = 200


class TextPart(StrEnum):
    """A text of a result that may be too long to be shown at once."""

    ANSWER = "answer"
    THINKING = "thinking"
    PROMPT = "prompt"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptFacts:
    """Where the prompt of a result came from, by the files of today."""

    template: str
    """The template that this model gets; empty where the test or the model is gone."""
    override: str | None
    """Key of the override that it stands under; None for the default template."""
    changed_to: tuple[str, str] | None
    """System prompt and prompt that would be sent today, if they differ from what was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherAnswer:
    """Another answer to the same test."""

    llm_id: str
    key: TrialKey
    score: float | None
    timestamp: str
    notes: tuple[TrustNote, ...]
    """Why it has no score; empty where it has one."""
    excerpt: str
    """The beginning of its answer, or why there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelResult:
    """One result with all that the panel shows of it."""

    details: ResultDetails
    key: TrialKey
    prompt: PromptFacts
    notes: tuple[TrustNote, ...]
    others: tuple[OtherAnswer, ...]
    """Of other models, best first."""
    trials: tuple[OtherAnswer, ...]
    """Of this model: other trials, and a failure that is newer than the score."""
    is_http: bool
    """True if its model is asked over HTTP, so that its request can be a curl command."""
    reported: str
    """Why a reader thinks that the test is wrong."""

    @property
    def is_pending(self) -> bool:
        """True if there is no result yet: neither a score nor a failure."""
        return self.details.result.score is None and self.details.result.failure is None


class PanelResults:
    """Reads results for the panel; nothing here is kept between two calls.

    Its methods raise ConfigError or StoreError where workspace or results cannot be read.
    """

    def __init__(
        self,
        files: WorkspaceWatch,
        results: StoredResults,
        trials: TrialSearch,
        open_config: Callable[[], WorkspaceFolder],
    ) -> None:
        self._files = files
        self._results = results
        self._trials = trials
        self._open_config = open_config

    def read(self, llm_id: str, key: TrialKey) -> PanelResult | None:
        """Read everything about a result, or what is to be asked where it is pending.

        None where there is neither.
        """
        details = self._find(llm_id, key)
        if details is None:
            return None
        workspace = self._files.workspace()
        answers = self._answers(key.test_id)
        test = workspace.tests_by_id.get(key.test_id)
        result = details.result
        reason = StaleCheck(self._files.config()).find_reason(result)
        return PanelResult(
            details=details,
            key=key,
            prompt=_find_prompt_facts(workspace, result),
            notes=list_trial_notes(result.failure, reason),
            others=tuple(each for each in answers if each.llm_id != llm_id),
            trials=tuple(each for each in answers if each.llm_id == llm_id and each.key != key),
            is_http=_is_asked_over_http(workspace, llm_id),
            reported=test.reported if test else "",
        )

    def text(self, llm_id: str, key: TrialKey, part: TextPart) -> str | None:
        """Read one text of a result as a whole; None where `read` finds none."""
        details = self._find(llm_id, key)
        if details is None:
            return None
        match part:
            case TextPart.ANSWER:
                return details.answer
            case TextPart.THINKING:
                return details.thinking
            case TextPart.PROMPT:
                return details.prompt
            case TextPart.SYSTEM:
                return details.system_prompt

    def _find(self, llm_id: str, key: TrialKey) -> ResultDetails | None:
        return self._trials.details(llm_id, key) or self._trials.pending(llm_id, key)

    def earlier(self, llm_id: str, test_id: str) -> list[Result]:
        """Find earlier results of a model for a test in the files of the runs, newest first."""
        llms = self._files.workspace().llms
        store = self._files.store()
        return find_earlier(
            store.paths, lambda name: resolve_llm_id(name, llms) or name, llm_id, test_id
        )

    def curl(self, llm_id: str, key: TrialKey) -> str:
        """Write the curl command that sends the prompt of a result with the parameters of today.

        Raises:
            ConfigError: If the result or its model is gone, or it is not asked over HTTP.
        """
        details = self._trials.details(llm_id, key)
        workspace = self._files.workspace()
        llm = workspace.llms_by_id.get(llm_id)
        if details is None or llm is None or not details.prompt:
            raise ConfigError("Unknown result")
        test_class = workspace.test_classes.get(details.class_id)
        messages = [Message("system", details.system_prompt)] if details.system_prompt else []
        messages.append(Message("user", details.prompt))
        parameters = build_parameters(llm, test_class) if test_class else llm.parameters
        request = ChatRequest(messages=tuple(messages), parameters=parameters)
        return write_curl(llm, request, os.environ)

    def rescore(self, llm_id: str, key: TrialKey) -> Rescored:
        """Score the stored response with today's evaluator, and store the new score.

        Raises:
            ConfigError: If there is nothing to score, or a model judges it.
        """
        details = self._trials.details(llm_id, key)
        if details is None:
            raise ConfigError("Unknown result")
        runner = WorkspaceRunner(self._open_config())
        try:
            return Rescoring(runner).rescore_stored(details.result)
        finally:
            runner.close()

    def report(self, test_id: str, reason: str) -> None:
        """Note in tests.json why a test may be wrong; an empty reason removes the note."""
        report_test(self._files.workspace(), test_id, reason)

    def _answers(self, test_id: str) -> list[OtherAnswer]:
        """Read the beginnings of all answers to a test: the best models first, then by trial."""
        table = self._results.read_stored()
        code = table.find_code("test_id", test_id)
        rows = [int(row) for row in (table.columns["test_id"] == code).nonzero()[0]]
        rows = rows[:_MOST_OTHERS]
        columns = [f"left(response, {_READ})", "failure_message", "timestamp"]
        texts = table.text_columns(rows, columns)
        answers = [
            OtherAnswer(
                llm_id=table.value("llm_id", row),
                key=table.key(row),
                score=table.number("score", row),
                timestamp=timestamp or "",
                notes=list_trial_notes(_find_failure(table, row), None),
                excerpt=_write_excerpt(response or "", failure or ""),
            )
            for row, (response, failure, timestamp) in zip(rows, texts, strict=True)
        ]
        unscored = -1.0
        return sorted(
            answers,
            key=lambda each: (
                -(unscored if each.score is None else each.score),
                each.llm_id,
                each.key.trial,
            ),
        )


def _find_failure(table: ResultTable, row: int) -> Failure | None:
    kind = table.value("failure_kind", row)
    return None if kind is None else Failure(kind=kind, message="")


def _write_excerpt(response: str, failure: str) -> str:
    return failure or split_thinking(response).answer.strip()[:_EXCERPT]


def _is_asked_over_http(workspace: Workspace, llm_id: str) -> bool:
    llm = workspace.llms_by_id.get(llm_id)
    return llm is not None and find_entry(llm).wire.has_endpoint


def _find_prompt_facts(workspace: Workspace, result: Result) -> PromptFacts:
    llm = workspace.llms_by_id.get(result.llm_id)
    test = workspace.tests_by_id.get(result.test_id)
    if llm is None or test is None:
        return PromptFacts(template="", override=None, changed_to=None)
    test_class = workspace.test_classes[test.class_id]
    now = {each.role: each.content for each in build_messages(llm, test_class, test)}
    today = now.get("system", ""), now["user"]
    is_changed = bool(result.prompt) and today != (result.system_prompt, result.prompt)
    return PromptFacts(
        template=choose_template(test_class, llm),
        override=find_override(test_class, llm),
        changed_to=today if is_changed else None,
    )
