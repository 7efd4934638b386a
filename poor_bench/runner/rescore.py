"""Score stored responses again, without asking those who gave them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from typing import NamedTuple

from poor_bench.errors import CostLimitError, RecordedError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.runner.judging import JudgeItem, JudgeWork, judge_works
from poor_bench.runner.scorer import Scorer
from poor_bench.runner.selection import Selection


class Rescored(NamedTuple):
    """A stored result and what today's evaluator makes of it."""

    old: Result
    new: Result | None
    """None where it could not be scored."""
    problem: str
    """Why it could not be scored; empty where it could."""

    @property
    def is_changed(self) -> bool:
        """Whether score or details differ, or there was no score before."""
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


def rescore(items: Iterable[JudgeItem], scorer: Scorer) -> Iterator[Rescored]:
    """Yield what becomes of each result, one after the other."""
    for item in items:
        yield _rescored(item, scorer, lambda: False)


def rescore_by_judges(
    waiting: Sequence[JudgeItem], scorer: Scorer, manager: LLMManager
) -> Iterator[Rescored]:
    """Yield what becomes of results that LLMs judge, as soon as each is judged.

    One judge follows the other; each is asked as much at once as its endpoint takes. What the
    budget does not do for is left out.

    Raises:
        ConfigError: If a judge cannot be used.
    """
    works = judge_works([item.result for item in waiting], _test_in(waiting), scorer)
    for number, work in enumerate(works):
        if number:
            manager.unload(works[number - 1].llm)
        yield from _judged(work, scorer, manager.concurrency(work.llm))


def _judged(work: JudgeWork, scorer: Scorer, n_at_once: int) -> Iterator[Rescored]:
    stopped = threading.Event()

    def judge(item: JudgeItem) -> Rescored | None:
        try:
            return _rescored(item, scorer, stopped.is_set)
        except CostLimitError:
            return None

    pool = ThreadPoolExecutor(max_workers=n_at_once)
    try:
        for future in as_completed([pool.submit(judge, item) for item in work.items()]):
            rescored = future.result()
            if rescored is not None:
                yield rescored
    finally:
        stopped.set()
        pool.shutdown(cancel_futures=True)


def _rescored(item: JudgeItem, scorer: Scorer, cancelled: Callable[[], bool]) -> Rescored:
    answered = replace(item.result, failure=None)
    try:
        return Rescored(item.result, scorer.scored(answered, item.test, cancelled), "")
    except RecordedError as error:
        return Rescored(item.result, None, str(error))


def _test_in(items: Iterable[JudgeItem]) -> Callable[[Result], Test]:
    tests = {item.test.test_id: item.test for item in items}
    return lambda result: tests[result.test_id]
