"""Tries prompts on cases: each pair once, several at a time, every attempt kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from poor_bench.models.failure import FailureScope
from poor_bench.tuning.prompt.cases import Attempt, CaseFailedError, Subject, attempt_of
from poor_bench.tuning.searches import SearchStoppedError, StopReason, TuningFile, TuningLine
from poor_bench.tuning.spending import Spending

MOST_FAILED_IN_A_ROW = 3
"""Batches in a row in which a case could not be tried, before the search is given up."""


def text_key(text: str) -> str:
    """Key of a text in the file: 12 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


class Attempts:
    """All attempts of one search."""

    def __init__(
        self,
        subject: Subject,
        file: TuningFile,
        spending: Spending,
        *,
        n_at_once: int = 1,
        cancelled: Callable[[], bool] = lambda: False,
        tell: Callable[[], None] = lambda: None,
    ) -> None:
        """Start with no attempt.

        Args:
            subject: What is tried.
            file: Where attempts are kept.
            spending: Counts the calls.
            n_at_once: How many cases are tried side by side.
            cancelled: Asked again and again; true ends an attempt.
            tell: Called after every attempt.
        """
        self._subject = subject
        self._file = file
        self._spending = spending
        self._n_at_once = n_at_once
        self._cancelled = cancelled
        self._tell = tell
        self._known: dict[tuple[str, str], Attempt] = {}
        self._n_failed_in_a_row = 0
        self._gone: CaseFailedError | None = None

    def recall(self, lines: Sequence[TuningLine]) -> None:
        """Take up the attempts that a file holds already."""
        for kind, content in lines:
            if kind == "attempt":
                self._known[content["text"], content["case_id"]] = attempt_of(content)

    def of(self, text: str, case_ids: Sequence[str]) -> list[Attempt]:
        """Run each case; known attempts are reused.

        Raises:
            CaseFailedError: If a case could not be tried; the attempts that could are kept.
            SearchStoppedError: If the search must end: limits, an LLM that is gone, many failures.
            RunCancelledError: If the user stopped it.
        """
        key = text_key(text)
        wanted = dict.fromkeys(case_ids)
        missing = [case_id for case_id in wanted if (key, case_id) not in self._known]
        self._spending.require(len(missing) * self._subject.n_calls_per_case)
        failed = self._make(text, key, missing)
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

    def _make(self, text: str, key: str, case_ids: Sequence[str]) -> CaseFailedError | None:
        """Run the missing attempts until the model fails; return the first failure."""

        def make(case_id: str) -> CaseFailedError | None:
            if self._gone is not None:
                return self._gone
            try:
                self._keep(key, self._subject.attempt(text, case_id, self._cancelled))
            except CaseFailedError as error:
                self._note_failed(key, error)
                return error
            return None

        with ThreadPoolExecutor(max_workers=self._n_at_once) as pool:
            outcomes = list(pool.map(make, case_ids))
        return next((error for error in outcomes if error is not None), None)

    def _keep(self, key: str, attempt: Attempt) -> None:
        n_calls = attempt.n_calls or self._subject.n_calls_per_case
        self._spending.note(attempt.cost_usd, n_calls)
        self._file.append("attempt", {"text": key, **attempt.as_record()})
        self._known[key, attempt.case_id] = attempt
        self._tell()

    def _note_failed(self, key: str, error: CaseFailedError) -> None:
        self._spending.note(None)
        failure = error.failure
        if failure.kind.scope is not FailureScope.REQUEST:
            self._gone = error
        self._file.append(
            "failed", {"text": key, "case_id": error.case_id, "message": failure.message}
        )

    def _give_up_if_hopeless(self, error: CaseFailedError) -> None:
        self._n_failed_in_a_row += 1
        if self._gone is not None or self._n_failed_in_a_row >= MOST_FAILED_IN_A_ROW:
            raise SearchStoppedError(StopReason.LLM_FAILED, str(error)) from error
