"""What a run will do: which trials it asks, and what it scores again; pure."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress, groupby
from typing import Any, NamedTuple

from poor_bench.models.llm import LLM
from poor_bench.models.test import Test
from poor_bench.runner.trial_states import Shard, TrialName, TrialState, TrialStates


class WorkItem(NamedTuple):
    """One trial to be run."""

    llm: LLM
    test: Test
    trial: int


@dataclass(frozen=True, slots=True)
class LLMWork:
    """The trials that one LLM has to do, in a few bytes each."""

    llm: LLM
    tests: Sequence[Test]
    trials: int
    numbers: array[int]
    """Number of each trial within the LLM: index of the test x trials + trial - 1."""

    def __len__(self) -> int:
        return len(self.numbers)

    def items(self) -> Iterator[WorkItem]:
        """Yield the trials: all tests once, class by class, then again for the next trial."""
        for number in self.numbers:
            index, trial = divmod(number, self.trials)
            yield WorkItem(self.llm, self.tests[index], trial + 1)

    def split_by_class(self) -> dict[str, LLMWork]:
        """Split them by the class of their tests, in order of first appearance."""
        numbers: defaultdict[str, array[int]] = defaultdict(lambda: array("L"))
        classes = [test.class_id for test in self.tests for _ in range(self.trials)]
        for class_id, some in groupby(self.numbers, classes.__getitem__):
            numbers[class_id].extend(some)
        return {class_id: replace(self, numbers=found) for class_id, found in numbers.items()}

    def sample(self, size: int) -> list[WorkItem]:
        """Pick at most some of them, evenly spread."""
        return list(replace(self, numbers=self.numbers[:: -(-len(self) // size)]).items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run will do."""

    works: tuple[LLMWork, ...]
    """LLMs that have something to be asked."""
    states: TrialStates
    rescore: bool
    """True if some stored responses are to be scored again first."""
    choice: Mapping[str, Any] = field(default_factory=dict)
    """What was chosen, as the run's file keeps it; empty if it names single trials."""
    shard: Shard | None = None
    """The part of the choice that it is about; None for all of it."""

    @property
    def n_items(self) -> int:
        """Trials to be asked."""
        return sum(len(work) for work in self.works)

    def tests(self) -> Iterator[Test]:
        """Yield the tests to be asked, each once."""
        asked = {number // work.trials for work in self.works for number in work.numbers}
        return (self.states.tests[index] for index in sorted(asked))

    @property
    def n_stale_scores(self) -> int:
        """Trials to be scored again without being asked."""
        if not self.rescore:
            return 0
        return sum(
            self.states.count(index)[TrialState.STALE_SCORE]
            for index in range(len(self.states.llms))
        )

    @property
    def is_empty(self) -> bool:
        """True if nothing is pending."""
        return self.n_items == 0 and self.n_stale_scores == 0


def make_plan(
    states: TrialStates,
    *,
    force: bool = False,
    only: Collection[TrialName] | None = None,
    among: Collection[TrialState] = (),
) -> Plan:
    """Plan what brings all trials up to date.

    Args:
        states: How far each trial is.
        force: Run completed trials again.
        only: Ask these trials and no others, also where they are done; None for no such limit.
        among: States that pending trials are limited to; empty for no such limit.
    """
    meant = {*TrialState} if force or only is not None else _list_pending(among)
    if only is not None:  # a response that lacks only its score is not asked again
        meant.remove(TrialState.STALE_SCORE)
    named = None if only is None else states.find_numbers(only)
    order, works = _order_for_cache(states), []
    for index, llm in enumerate(states.llms):
        marks = states.mark(index, meant, None if named is None else named.get(index, ()))
        if n_marked := marks.count(1):
            # Models that are asked everything share the numbers: of very many, they fill memory.
            is_all = n_marked == len(order)
            numbers = (
                order if is_all else array("L", compress(order, map(marks.__getitem__, order)))
            )
            works.append(LLMWork(llm, states.tests, states.trials, numbers))
    is_rescored = not force and (not among or TrialState.STALE_SCORE in among)
    return Plan(works=tuple(works), states=states, rescore=is_rescored)


def _list_pending(among: Collection[TrialState]) -> set[TrialState]:
    return {state for state in among or TrialState if state.must_be_asked}


def _order_for_cache(states: TrialStates) -> array[int]:
    """Order numbers by trial, then by class: servers that cache prompts find its start again."""
    places: dict[str, int] = {}
    by_test = [places.setdefault(test.class_id, len(places)) for test in states.tests]
    by_class = sorted(range(len(by_test)), key=by_test.__getitem__)
    trials = states.trials
    return array("L", [test * trials + trial for trial in range(trials) for test in by_class])
