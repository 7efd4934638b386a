"""What a run, or a shard of it, will do: which trials it asks, what it scores again; pure."""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import compress, groupby
from typing import Any, NamedTuple

from poor_bench.models.llm import LLM
from poor_bench.models.test import Test
from poor_bench.runner.trial_states import TrialName, TrialState, TrialStates


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


_FORM = re.compile(r"(\d{1,6})/(\d{1,6})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `number` of `count` parts that do not overlap.

    The part of a test and a model is a hash of their names. So it stays the same whatever other
    tests and models come or go. All trials of them are in one part: a server's prompt cache serves
    them, and a machine that is lost takes whole tests with it, not some trials of every test.
    """

    number: int
    """From 1."""
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read a shard such as `2/8`.

        Example:
            >>> Shard.parse("2/8")
            Shard(number=2, count=8)

        Raises:
            ValueError: If it is not one; the message says how it is written.
        """
        match = _FORM.fullmatch(text.strip())
        if match is None:
            raise ValueError("give I/N, such as 1/4")
        shard = cls(int(match[1]), int(match[2]))
        if shard.count < 1:
            raise ValueError("the number of shards must be at least 1, such as 1/4")
        if not 1 <= shard.number <= shard.count:
            raise ValueError(
                f"shards count from 1 to {shard.count}; add 1 where a scheduler counts from 0"
            )
        return shard

    def __str__(self) -> str:
        """Write it as `parse` reads it."""
        return f"{self.number}/{self.count}"

    def holds(self, llm_id: str, test: Test) -> bool:
        """True if the trials of a test by a model are in this part."""
        name = "\0".join((test.class_id, test.test_id, llm_id))
        digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.count == self.number - 1


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
