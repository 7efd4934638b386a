"""Score stored responses again, without asking anybody."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from poor_bench.errors import RecordedError
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.runner.scorer import Scorer


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


def rescore(
    results: Iterable[Result],
    test_of: Callable[[Result], Test | None],
    scorer: Scorer,
) -> Iterator[Rescored]:
    """Yield what becomes of each result that has a response and whose test still exists.

    What an LLM has judged is judged again only where evaluator, parameters or judge have changed.
    """
    for result in results:
        test = test_of(result)
        if test is None or not result.can_be_scored:
            continue
        if scorer.is_judged(test) and scorer.is_up_to_date(result, test):
            continue
        try:
            yield Rescored(result, scorer.scored(replace(result, failure=None), test), "")
        except RecordedError as error:
            yield Rescored(result, None, str(error))
