"""Tries prompts on cases: each pair once, several at a time, every attempt kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict

from poor_bench.errors import CostLimitError, RunCancelledError
from poor_bench.models.failure import FailureScope
from poor_bench.pool.events import JobDone
from poor_bench.pool.pool import JobResult, Pool
from poor_bench.pool.queues import Work
from poor_bench.prompts.fingerprint import hash_text
from poor_bench.tuning.prompt.cases import Attempt, CaseFailedError, TuningSubject, read_attempt
from poor_bench.tuning.searches import SearchStoppedError, SearchTools, StopReason, TuningLine

MOST_FAILED_IN_A_ROW = 3
"""Batches in a row in which a case could not be tried, before the search is given up."""

_Tried = Attempt | CaseFailedError | CostLimitError


def text_key(text: str) -> str:
    """Key of a text in the file: 12 hexadecimal digits."""
    return hash_text(text, 12)


class Attempts:
    """All attempts of one search.

    Attributes:
        failed: Key of the prompt and id of the case of what failed to run and was not tried again.
    """

    def __init__(
        self,
        subject: TuningSubject,
        tools: SearchTools,
        concurrency: int = 1,
        tell: Callable[[], None] = lambda: None,
    ) -> None:
        """Start with no attempt.

        Args:
            subject: What is tried.
            tools: Counts calls, keeps attempts, cancels.
            concurrency: Cases that are tried at once.
            tell: Called after every attempt.
        """
        self._subject = subject
        self._tools = tools
        self._concurrency = concurrency
        self._tell = tell
        self._known: dict[tuple[str, str], Attempt] = {}
        self.failed: set[tuple[str, str]] = set()
        self._n_failed_in_a_row = 0
        self._gone: CaseFailedError | None = None

    def recall(self, lines: Sequence[TuningLine]) -> None:
        """Take up the attempts that a file holds already."""
        for kind, content in lines:
            if kind == "attempt":
                self._known[content["text"], content["case_id"]] = read_attempt(content)

    def run(self, text: str, case_ids: Sequence[str]) -> list[Attempt]:
        """Run each case; known attempts are reused.

        Raises:
            CaseFailedError: If a case could not be tried; the attempts that could are kept.
            SearchStoppedError: If the search must end: an LLM that is gone, many failures.
            CallLimitError: If too few calls are left.
            CostLimitError: If too little money is left.
            RunCancelledError: If the user stopped it.
        """
        key = text_key(text)
        missing = [
            case_id for case_id in dict.fromkeys(case_ids) if (key, case_id) not in self._known
        ]
        self._tools.budget.require_calls(len(missing) * self._subject.n_calls_per_case)
        failed = self._try(text, key, missing)
        if failed is not None:
            self._give_up_if_hopeless(failed)
            raise failed
        if missing:
            self._n_failed_in_a_row = 0
        return [self._known[key, case_id] for case_id in case_ids]

    def scores(self, text: str, case_ids: Sequence[str]) -> dict[str, float]:
        """Scores of known attempts, by case."""
        key = text_key(text)
        known = ((case_id, self._known.get((key, case_id))) for case_id in case_ids)
        return {case_id: attempt.score for case_id, attempt in known if attempt is not None}

    def _try(self, text: str, key: str, case_ids: Sequence[str]) -> CaseFailedError | None:
        """Run the missing attempts until the model is gone; return the first failure."""
        control = self._tools.control
        work = Work(items=case_ids, n_items=len(case_ids), concurrency=self._concurrency)
        failures: list[CaseFailedError] = []
        refused: CostLimitError | None = None

        def do(case_id: str) -> JobResult[_Tried]:
            if self._gone is not None:
                return JobResult(self._gone)
            try:
                return JobResult(self._subject.attempt(text, case_id, control.cancelled))
            except (CaseFailedError, CostLimitError) as error:
                return JobResult(error)

        with closing(Pool(self._tools.manager, control).run([work], do)) as events:
            for event in events:
                tried = event.value if isinstance(event, JobDone) else None
                if isinstance(tried, Attempt):
                    self._keep(key, tried)
                elif isinstance(tried, CaseFailedError):
                    failures.append(tried)
                    self._note_failed(key, tried)
                elif isinstance(tried, CostLimitError):
                    refused = tried
        if refused is not None:
            raise refused
        if control.cancelled():
            raise RunCancelledError("the search was stopped")
        return failures[0] if failures else None

    def _keep(self, key: str, attempt: Attempt) -> None:
        self._tools.budget.count_calls(attempt.n_calls or self._subject.n_calls_per_case)
        self._tools.file.append("attempt", {"text": key, **asdict(attempt)})
        self._known[key, attempt.case_id] = attempt
        self.failed.discard((key, attempt.case_id))
        self._tell()

    def _note_failed(self, key: str, error: CaseFailedError) -> None:
        if error is self._gone:
            return
        self._tools.budget.count_calls(1)
        failure = error.failure
        if failure.kind.scope is not FailureScope.REQUEST:
            self._gone = error
        record = {"text": key, "case_id": error.case_id, "message": failure.message}
        self._tools.file.append("failed", record)
        self.failed.add((key, error.case_id))

    def _give_up_if_hopeless(self, error: CaseFailedError) -> None:
        self._n_failed_in_a_row += 1
        if self._gone is not None or self._n_failed_in_a_row >= MOST_FAILED_IN_A_ROW:
            raise SearchStoppedError(StopReason.LLM_FAILED, str(error)) from error
