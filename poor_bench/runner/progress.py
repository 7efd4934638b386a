"""The one place where results are stored, counted and told."""

from __future__ import annotations

import threading

from poor_bench.models.failure import WAITS_FOR_JUDGE
from poor_bench.models.result import Result
from poor_bench.ports import Listener, ResultSink
from poor_bench.results.store import EarlierScores
from poor_bench.runner.events import (
    RunEvent,
    RunFinished,
    TrialAnswered,
    TrialFinished,
    TrialRescored,
)

_Key = tuple[str, str, int]


class Progress:
    """Stores results and tells the listener; called from several threads."""

    def __init__(
        self, run_id: str, sink: ResultSink, earlier: EarlierScores, listener: Listener
    ) -> None:
        """Store nothing yet.

        Args:
            run_id: The run that the results belong to.
            sink: Takes the results.
            earlier: Keeps what new scores of old responses replace.
            listener: Hears of everything.
        """
        self.run_id = run_id
        self._sink = sink
        self._earlier = earlier
        self._listener = listener
        self._lock = threading.Lock()
        self._n_scored = 0
        self._n_failed = 0
        self._renewed: set[_Key] = set()
        self._not_renewed: set[_Key] = set()
        self._waiting: list[Result] = []
        self._stale: dict[_Key, Result] = {}
        self._aborted: Exception | None = None

    @property
    def waiting(self) -> list[Result]:
        """Results whose responses wait for a judge."""
        return [*self._waiting, *self._stale.values()]

    def wait_for_judge(self, result: Result) -> None:
        """Take a stored result whose score only a judge can bring up to date."""
        known = self._stale.get(result.key)
        if known is None or known.timestamp <= result.timestamp:
            self._stale[result.key] = result

    def store(self, result: Result) -> None:
        """Store a result that was just made, then tell of it, once it has been judged.

        Raises:
            StoreError: If it could not be stored.
        """
        stale = self._stale.get(result.key)
        if stale is not None:
            self.store_rescored(result, stale)
            return
        self._sink.append(result)
        with self._lock:
            if result.failure == WAITS_FOR_JUDGE:
                self._waiting.append(result)
                self._listener(TrialAnswered(llm_id=result.llm_id, test_id=result.test_id))
                return
            self._n_scored += result.failure is None
            self._n_failed += result.failure is not None
            self._listener(TrialFinished(result=result))

    def store_rescored(self, result: Result, old: Result) -> None:
        """Store a result with a new score for an old response, then tell of it.

        What it replaces is kept first. With a failure instead of a score, an earlier score stays.

        Raises:
            StoreError: If it could not be stored.
        """
        if result.failure is None:
            self._earlier.keep(old)
        if result.failure is None or old.failure is not None:
            self._sink.append(result)
        with self._lock:
            (self._not_renewed if result.failure else self._renewed).add(result.key)
            self._listener(TrialRescored(result=result, old_score=old.score))

    def tell(self, event: RunEvent) -> None:
        """Tell the listener, one event at a time."""
        with self._lock:
            self._listener(event)

    def abort(self, error: Exception) -> None:
        """Remember why the run cannot go on."""
        with self._lock:
            self._aborted = self._aborted or error

    def raise_if_aborted(self) -> None:
        """Raise what made the run stop.

        Raises:
            StoreError: If a result could not be stored.
            Exception: Whatever else ended a thread of the run, such as an error of the listener.
        """
        if self._aborted is not None:
            raise self._aborted

    def finished(self, n_items: int, *, cancelled: bool) -> RunFinished:
        """Return the event that ends a run of `n_items` trials."""
        not_rescored = (self._not_renewed | set(self._stale)) - self._renewed
        return RunFinished(
            run_id=self.run_id,
            n_scored=self._n_scored,
            n_failed=self._n_failed,
            n_skipped=n_items - self._n_scored - self._n_failed,
            cancelled=cancelled,
            n_rescored=len(self._renewed),
            n_not_rescored=len(not_rescored),
        )
