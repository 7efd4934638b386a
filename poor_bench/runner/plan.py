"""What a run will do: which trials it asks, and what it scores again; pure."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
    works = []
    for index, llm in enumerate(states.llms):
        pending = (
            _pending(states, index, among, force=force)
            if only is None
            else _list_numbers(states, index, only)
        )
        ordered = sorted(pending, key=_order_for_cache(states))
        if ordered:
            works.append(LLMWork(llm, states.tests, states.trials, array("L", ordered)))
    is_rescored = not force and (not among or TrialState.STALE_SCORE in among)
    return Plan(works=tuple(works), states=states, rescore=is_rescored)


def _order_for_cache(states: TrialStates) -> Callable[[int], tuple[int, int]]:
    """Order by trial, then by class: servers that cache prompts find the template's start again."""
    places: dict[str, int] = {}
    by_test = [places.setdefault(test.class_id, len(places)) for test in states.tests]

    def key(number: int) -> tuple[int, int]:
        test_index, trial = divmod(number, states.trials)
        return trial, by_test[test_index]

    return key


def _pending(
    states: TrialStates, llm_index: int, among: Collection[TrialState], *, force: bool
) -> Iterator[int]:
    return (
        number
        for number, state in states.of_llm(llm_index)
        if (force or (state.must_be_asked and (not among or state in among)))
        and not states.is_in_batch(llm_index, number)
    )


def _list_numbers(
    states: TrialStates, llm_index: int, only: Collection[TrialName]
) -> Iterator[int]:
    """Yield the numbers of some trials; a response that lacks only its score is not asked again."""
    for number, state in states.of_llm(llm_index):
        is_free = state is not TrialState.STALE_SCORE and not states.is_in_batch(llm_index, number)
        if is_free and states.name(llm_index, number) in only:
            yield number
