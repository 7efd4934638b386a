"""Score stored responses again, without asking those who gave them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import NamedTuple

from poor_bench.llm_manager import LLMManager
from poor_bench.models.failure import Failure
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.pool.control import RunControl
from poor_bench.pool.events import JobDone
from poor_bench.pool.pool import JobResult, Pool
from poor_bench.results.earlier import EarlierScores
from poor_bench.results.store import ResultStore
from poor_bench.runner.jobs import JudgeItem, group_by_judge, score_again
from poor_bench.runner.scorer import Scorer
from poor_bench.runner.selection import Selection
from poor_bench.runs.history import RESCORE, UNDO, make_run_id
from poor_bench.runs.journal import JournalWriter

_Key = tuple[str, str, int]


class Move(NamedTuple):
    """A score that changed."""

    llm_id: str
    test_id: str
    trial: int
    old_score: float | None
    new_score: float | None


class Rescored(NamedTuple):
    """A stored result and what today's evaluator makes of it."""

    old: Result
    new: Result | None
    """None where it could not be scored."""
    failure: Failure | None = None
    """Why it could not be scored; None where it could."""

    @classmethod
    def of(cls, old: Result, scored: Result) -> Rescored:
        """Pair a stored result with what `score_again` made of it."""
        if scored.failure is not None:
            return cls(old, None, scored.failure)
        return cls(old, scored)

    @property
    def problem(self) -> str:
        """Why it could not be scored, in one sentence; empty where it could."""
        return self.failure.message if self.failure is not None else ""

    @property
    def outcome(self) -> Result:
        """The result with its new score, or with the failure."""
        return self.new or replace(self.old, score=None, failure=self.failure)

    def move(self) -> Move:
        """Compare the earlier and the new score."""
        old = self.old
        return Move(old.llm_id, old.test_id, old.trial, old.score, self.outcome.score)

    @property
    def is_changed(self) -> bool:
        """True if score or details differ, or no score existed before."""
        if self.new is None:
            return False
        before = (self.old.score, self.old.strict_score, self.old.details)
        return before != (self.new.score, self.new.strict_score, self.new.details)


@dataclass(frozen=True, slots=True, kw_only=True)
class RescorePlan:
    """Which stored responses are scored again."""

    selection: Selection
    n_items: int
    """All of them."""
    judged: tuple[JudgeItem, ...]
    """Those that LLMs judge, which may take time and cost money."""


class RescoreProblem(NamedTuple):
    """Why responses could not be scored again."""

    message: str
    n_responses: int
    llm_id: str
    """Of the first of them."""
    test_id: str


class RescoreTally:
    """Counts what became of stored responses that were scored again."""

    def __init__(self) -> None:
        self.n_scored = 0
        self.n_first = 0
        """Of the scored ones: those without an earlier score, such as responses left unjudged."""
        self.moves: list[Move] = []
        self._problems: dict[str, RescoreProblem] = {}

    @property
    def problems(self) -> list[RescoreProblem]:
        """Each reason once, the most frequent first."""
        return sorted(self._problems.values(), key=lambda problem: -problem.n_responses)

    def add(self, result: Result, old_score: float | None) -> None:
        """Take a response with its new score, or with the reason why it has none."""
        if result.failure is not None:
            message = result.failure.message
            known = self._problems.get(message)
            n_before = known.n_responses if known else 0
            first = known or RescoreProblem(message, 0, result.llm_id, result.test_id)
            self._problems[message] = first._replace(n_responses=n_before + 1)
            return
        self.n_scored += 1
        if old_score is None:
            self.n_first += 1
        elif result.score != old_score:
            move = Move(result.llm_id, result.test_id, result.trial, old_score, result.score)
            self.moves.append(move)


class RescoreRun:
    """The run that new scores of stored responses belong to; the first one makes it."""

    def __init__(self, store: ResultStore, started: str) -> None:
        """Write nothing yet.

        Args:
            store: Where the results stand.
            started: The present moment, ISO 8601.
        """
        self._store = store
        self._started = started
        self._journal: JournalWriter | None = None
        self._earlier: EarlierScores | None = None

    def store(self, rescored: Rescored) -> None:
        """Store a new score where it differs; the earlier one is kept first.

        Raises:
            StoreError: If it could not be stored; the earlier score stays.
        """
        if rescored.new is None or rescored.new == rescored.old:
            return
        if self._journal is None or self._earlier is None:
            self._journal, self._earlier = self._open()
        self._earlier.keep(rescored.old)
        self._journal.append(rescored.new)

    def close(self) -> None:
        """Bring everything to the disk and into the snapshot.

        Raises:
            StoreError: If that fails; the scores are stored all the same.
        """
        if self._journal is None or self._earlier is None:
            return
        self._earlier.close()
        self._journal.close()
        self._store.merge()

    def _open(self) -> tuple[JournalWriter, EarlierScores]:
        earlier_id, run_id = make_run_ids(self._store, self._started)
        header = {"started": self._started, "kind": RESCORE}
        earlier = EarlierScores(
            self._store.paths, earlier_id, replaced_by=run_id, started=self._started
        )
        return self._store.open_run(run_id, header), earlier


def make_run_ids(store: ResultStore, started: str, *, rescores: bool = True) -> tuple[str, str]:
    """Make an id for the earlier scores, and one for the run that replaces them.

    Args:
        store: Its newest run comes before both.
        started: The present moment, ISO 8601.
        rescores: True if the run replaces scores; else the first id is not needed, and the second
            one leaves no second free for it.
    """
    newest = store.newest_run_id()
    earlier_id = make_run_id(started, newest)
    return earlier_id, make_run_id(started, earlier_id if rescores else newest)


def find_undoable(
    rescorings: Iterable[tuple[str, Sequence[Result]]], present: Mapping[_Key, Result]
) -> list[Rescored]:
    """Find the earlier scores that the newest rescoring replaced, as `new`.

    What was undone before is skipped, and so are trials that were asked again since.

    Args:
        rescorings: `ResultSetResolver.rescorings`.
        present: The scored results by their keys; others are left as they are.

    Returns:
        Empty where nothing is left to undo.
    """
    replaced: dict[_Key, list[tuple[int, Result]]] = {}
    for number, (kind, results) in enumerate(rescorings):
        for result in results:
            stack = replaced.setdefault(result.key, [])
            if kind == UNDO:
                _take_off(stack, result)
            else:
                stack.append((number, result))
    newest = {
        key: stack[-1]
        for key, stack in replaced.items()
        if key in present and _take_off_equal(stack, present[key])
    }
    last = max((number for number, _ in newest.values()), default=-1)
    return [Rescored(present[key], old) for key, (number, old) in newest.items() if number == last]


def _take_off(stack: list[tuple[int, Result]], restored: Result) -> None:
    """Remove what was restored, and all above it."""
    while stack and stack.pop()[1] != restored:
        pass


def _take_off_equal(stack: list[tuple[int, Result]], present: Result) -> bool:
    """Remove what equals the present result; true if another score of its answer is left."""
    while stack and stack[-1][1] == present:
        stack.pop()
    return bool(stack) and _answer(stack[-1][1]) == _answer(present)


def _answer(result: Result) -> tuple[str, str, str]:
    return result.timestamp, result.run_id, result.response


def to_rescore(
    results: Iterable[Result], test_of: Callable[[Result], Test | None], scorer: Scorer
) -> Iterator[JudgeItem]:
    """Yield each result that has a response and whose test still exists, with its test.

    What an LLM has judged is judged again only where evaluator, parameters or judge have changed.
    """
    for result in results:
        test = test_of(result)
        if test is None or not result.can_be_scored:
            continue
        if not (scorer.is_judged(test) and scorer.is_up_to_date(result, test)):
            yield JudgeItem(result, test)


def rescore(items: Iterable[JudgeItem], scorer: Scorer) -> Generator[Rescored, None, None]:
    """Score stored responses again, one after the other."""
    for item in items:
        yield _score(item, scorer, lambda: False)


def score_with_evaluators(
    results: Sequence[Result], tests: Iterable[Test], scorer: Scorer
) -> tuple[Result, ...]:
    """Score stored responses with today's evaluators; nothing is stored, no request is sent.

    Results without a response, of tests that are gone or judged by an LLM, or that cannot be scored
    stay as they are.

    Args:
        results: Stored results.
        tests: The tests of the workspace.
        scorer: Scores responses.
    """
    unjudged = {test.test_id: test for test in tests if not scorer.is_judged(test)}
    items = to_rescore(results, lambda result: unjudged.get(result.test_id), scorer)
    newer = {item.old.key: item.new for item in rescore(items, scorer) if item.new is not None}
    return tuple(newer.get(result.key, result) for result in results)


def rescore_by_judges(
    waiting: Sequence[JudgeItem], scorer: Scorer, manager: LLMManager
) -> Iterator[Rescored]:
    """Have stored responses judged again; yield each as soon as it is judged.

    One judge follows the other; each is asked as much at once as its endpoint takes. Responses that
    the budget is too small for are skipped.

    Raises:
        ConfigError: If a judge cannot be used.
    """
    control = RunControl()
    pool = Pool(manager, control, gives_up=False)

    def judge(item: JudgeItem) -> JobResult[Rescored]:
        return JobResult(_score(item, scorer, control.cancelled))

    tests = {item.test.test_id: item.test for item in waiting}
    results = [item.result for item in waiting]
    for work in group_by_judge(results, lambda result: tests[result.test_id], scorer):
        with closing(pool.run([work.for_pool()], judge)) as events:
            yield from (event.value for event in events if isinstance(event, JobDone))


def _score(item: JudgeItem, scorer: Scorer, cancelled: Callable[[], bool]) -> Rescored:
    result, _ = score_again(item, scorer, cancelled)
    return Rescored.of(item.result, result)
