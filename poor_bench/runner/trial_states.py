"""How far each trial of some models and tests is; pure.

The state of a trial takes one byte, whatever is stored of it.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from enum import IntEnum
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.models.test import Test

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.statistics.trials import TrialColumns


class TrialState(IntEnum):
    """How far a trial is."""

    PENDING = 0
    FAILED = 1
    """It failed to run; a run tries it again."""
    STALE_REQUEST = 2
    """It was asked with another prompt or other parameters; a run asks again."""
    STALE_SCORE = 3
    """Its evaluator changed; a run scores the stored response again without asking."""
    DONE = 4

    @property
    def must_be_asked(self) -> bool:
        """True if a run asks the LLM for it."""
        return self <= TrialState.STALE_REQUEST


_STATE, _SCORED, _HAS_FAILURE, _ELSEWHERE = 0x0F, 0x10, 0x20, 0x40
"""Parts of the byte of a trial: its state, and if it has a score, a failure, another shard."""
_STATES = _ELSEWHERE | _STATE
_STATES_ALONE = bytes(value & _STATES for value in range(256))


class LLMStanding(NamedTuple):
    """How far the trials of an LLM are, each counted once.

    A trial with a stored score is done or stale, even if a newer attempt failed: the same counting
    as `poor_bench.statistics.summary.TrialCounts`.
    """

    done: int
    pending: int
    """No attempt is stored."""
    failed: int
    """Without a score; the newest attempt failed."""
    stale_request: int
    """Scored, but asked with another prompt or other parameters."""
    stale_score: int
    """Scored by another evaluator than today's."""
    newer_failed: int
    """Of the done and stale ones: a newer attempt failed."""
    in_batch: int
    """Of the pending, failed and stale ones: submitted in a batch that was not collected yet."""

    @property
    def total(self) -> int:
        """All trials of the LLM."""
        return self.done + self.pending + self.failed + self.stale_request + self.stale_score


class TrialName(NamedTuple):
    """Which trial of a workspace."""

    llm_id: str
    test_id: str
    number: int
    """Counted from 1."""


class Fingerprints(Protocol):
    """Present fingerprints of what would be asked and how it would be scored."""

    def of_request(self, llm: LLM, test: Test) -> str:
        """Fingerprint of what would be asked."""

    def digest_requests(self, llms: Sequence[LLM], test: Test) -> Sequence[bytes]:
        """The same for several LLMs, 8 bytes each."""

    def identify_requests(self) -> str:
        """Name all that requests depend on; empty where that cannot be told."""

    def of_evaluator(self, test: Test) -> str:
        """Fingerprint of how it would be scored."""

    def identify_evaluators(self) -> str:
        """Name all that these depend on; empty where that cannot be told."""


class TrialStates:
    """States of all trials of some LLMs x tests."""

    def __init__(self, llms: Sequence[LLM], tests: Sequence[Test], trials: int) -> None:
        self.llms = llms
        self.tests = tests
        self.trials = trials
        self._llm_index = {llm.id: index for index, llm in enumerate(llms)}
        self._test_index = {test.test_id: index for index, test in enumerate(tests)}
        self._states = bytearray(len(llms) * len(tests) * trials)
        self._batched: set[int] = set()
        self.n_disabled = 0
        """Tests that were matched and skipped, because they are not enabled."""
        self.n_removed = 0
        """Results of these LLMs that belong to removed tests; they count in no state."""
        self.n_further = 0
        """Results of these LLMs and tests with a higher trial number; they count in no state."""

    def limit_to(self, is_meant: Callable[[str, Test], bool]) -> None:
        """Leave out trials by their LLM id and test; call it before results are noted."""
        left_out = bytes([_ELSEWHERE]) * self.trials
        for llm_index, llm in enumerate(self.llms):
            for test_index, test in enumerate(self.tests):
                if not is_meant(llm.id, test):
                    start = self._position(llm_index, test_index, 1)
                    self._states[start : start + self.trials] = left_out

    def describe(self) -> object:
        """Name the trials, and what is noted of them; anything that JSON holds."""
        llm_ids, test_ids = [*self._llm_index], [*self._test_index]
        return [llm_ids, test_ids, self.trials, blake2b(self._states).hexdigest()]

    def dump(self) -> dict[str, Any]:
        """Write what is noted of the trials, but for batches."""
        states = base64.b64encode(zlib.compress(self._states, 1)).decode()
        return {"states": states, "n_removed": self.n_removed, "n_further": self.n_further}

    def restore(self, dumped: Mapping[str, Any]) -> None:
        """Note what `dump` wrote of the same trials."""
        self._states[:] = zlib.decompress(base64.b64decode(dumped["states"]))
        self.n_removed, self.n_further = dumped["n_removed"], dumped["n_further"]

    @property
    def n_trials(self) -> int:
        """Trials that have a state."""
        return len(self._states) - self._states.count(_ELSEWHERE)

    def note_all(
        self,
        results: Iterable[Result],
        fingerprints: Fingerprints,
        known_tests: Container[str] | None = None,
    ) -> None:
        """Take the newest score and the newest unsettled failure of every trial, in any order.

        Args:
            results: The stored results.
            fingerprints: Of today's requests and evaluators.
            known_tests: Ids of all tests of the workspace; results of others are counted in
                `n_removed`. None for no such count.
        """
        for result in results:
            slot = self._slot(result)
            if slot is None:
                self._count_other(result, known_tests)
            else:
                known = self._states[slot]
                state = max(known & _STATE, _find_state(result, self, fingerprints))
                kind = _SCORED if result.failure is None else _HAS_FAILURE
                self._states[slot] = state | known & ~_STATE | kind

    def _count_other(self, result: Result, known_tests: Container[str] | None) -> None:
        if result.llm_id in self._llm_index:
            is_removed = known_tests is not None and result.test_id not in known_tests
            self.n_removed += is_removed
            self.n_further += result.test_id in self._test_index and result.trial > self.trials

    def note_batched(self, trials: Iterable[TrialName]) -> None:
        """Take the trials that are in a batch; they are not asked meanwhile."""
        for llm_id, test_id, number in trials:
            slot = self._find_slot(llm_id, test_id, number)
            if slot is not None:
                self._batched.add(slot)

    @property
    def n_in_batch(self) -> int:
        """Trials that are in a batch."""
        return len(self._batched)

    def note_columns(
        self,
        table: TrialColumns,
        find_states: Callable[[NDArray[np.int64]], NDArray[np.uint8]],
    ) -> NDArray[np.bool_]:
        """Take the states of scored trials.

        Args:
            table: Results.
            find_states: Finds the `TrialState` of some scored entries.

        Returns:
            Marks of the entries whose trials are among these, scored or not.
        """
        import numpy as np

        llm, test = self._find_llms_and_tests(table)
        trial = table.columns["trial"]
        is_here = (llm >= 0) & (test >= 0)
        self.n_further += int((is_here & (trial > self.trials)).sum())
        is_here &= (trial >= 1) & (trial <= self.trials)
        slots = (llm * len(self.tests) + test) * self.trials + trial - 1
        states = np.frombuffer(self._states, dtype=np.uint8)  # writes into the same bytes
        is_here[is_here] = states[slots[is_here]] != _ELSEWHERE
        scored = np.flatnonzero(is_here & table.is_scored)
        known = states[slots[scored]]
        found = np.maximum(known & _STATE, find_states(scored))
        states[slots[scored]] = found | known & _HAS_FAILURE | _SCORED
        return is_here

    def _find_llms_and_tests(
        self, table: TrialColumns
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Find the index of the LLM and of the test of each entry; -1 where it is another."""
        import numpy as np

        llms, tests = (
            np.array([places.get(value, -1) for value in table.values[name]], dtype=np.int64)
            for name, places in (("llm_id", self._llm_index), ("test_id", self._test_index))
        )
        return llms[table.columns["llm_id"]], tests[table.columns["test_id"]]

    def state(self, llm_index: int, test_index: int, trial: int) -> TrialState:
        """State of one trial; `trial` counts from 1."""
        return TrialState(self._states[self._position(llm_index, test_index, trial)] & _STATE)

    def mark(
        self, llm_index: int, meant: Collection[TrialState], numbers: Iterable[int] | None
    ) -> bytearray:
        """Mark trials of an LLM with 1, by their number within that LLM.

        Args:
            llm_index: The LLM.
            meant: States of the trials; those in a batch are left out.
            numbers: Which trials; None for all.
        """
        is_meant = bytes((value & _STATES) in meant for value in range(256))
        marks = self._part(llm_index).translate(is_meant)
        start = llm_index * len(marks)
        for slot in self._batched:
            if start <= slot < start + len(marks):
                marks[slot - start] = 0
        if numbers is None:
            return marks
        chosen = bytearray(len(marks))
        for number in numbers:
            chosen[number] = marks[number]
        return chosen

    def find_numbers(self, trials: Iterable[TrialName]) -> dict[int, list[int]]:
        """Find the numbers of some trials within their LLMs, by index of the LLM."""
        size = len(self.tests) * self.trials
        found: dict[int, list[int]] = {}
        for name in trials:
            if (slot := self._find_slot(*name)) is not None:
                found.setdefault(slot // size, []).append(slot % size)
        return found

    def count(self, llm_index: int) -> dict[TrialState, int]:
        """Count the trials of an LLM in each state."""
        part = self._part(llm_index).translate(_STATES_ALONE)
        return {state: part.count(state) for state in TrialState}

    def standing(self, llm_index: int) -> LLMStanding:
        """Count how far the trials of an LLM are, each trial once."""
        part = self._part(llm_index)
        marks = (0, _SCORED, _HAS_FAILURE, _SCORED | _HAS_FAILURE)
        values = (state | mark for state in TrialState for mark in marks)
        counts = {value: part.count(value) for value in values}

        def count_scored(*states: TrialState) -> int:
            return sum(
                counts[state | _SCORED] + counts[state | _SCORED | _HAS_FAILURE] for state in states
            )

        return LLMStanding(
            done=count_scored(TrialState.DONE),
            pending=counts[0],
            failed=sum(counts[state | _HAS_FAILURE] for state in TrialState),
            stale_request=count_scored(TrialState.STALE_REQUEST),
            stale_score=count_scored(TrialState.STALE_SCORE),
            newer_failed=sum(counts[state | _SCORED | _HAS_FAILURE] for state in TrialState),
            in_batch=self._count_batched(llm_index),
        )

    def _count_batched(self, llm_index: int) -> int:
        size = len(self.tests) * self.trials
        return sum(slot // size == llm_index for slot in self._batched)

    def find_llm(self, result: Result) -> LLM:
        """Find the LLM of a result that is among the trials."""
        return self.llms[self._llm_index[result.llm_id]]

    def find_test(self, result: Result) -> Test:
        """Find the test of a result that is among the trials."""
        return self.tests[self._test_index[result.test_id]]

    def find_state(self, result: Result) -> TrialState | None:
        """State of a result's trial; None if it is not among the trials."""
        slot = self._slot(result)
        return None if slot is None else TrialState(self._states[slot] & _STATE)

    def _part(self, llm_index: int) -> bytearray:
        size = len(self.tests) * self.trials
        return self._states[llm_index * size : (llm_index + 1) * size]

    def _slot(self, result: Result) -> int | None:
        return self._find_slot(result.llm_id, result.test_id, result.trial)

    def _find_slot(self, llm_id: str, test_id: str, trial: int) -> int | None:
        llm_index = self._llm_index.get(llm_id)
        test_index = self._test_index.get(test_id)
        if llm_index is None or test_index is None or not 1 <= trial <= self.trials:
            return None
        slot = self._position(llm_index, test_index, trial)
        return None if self._states[slot] == _ELSEWHERE else slot

    def _position(self, llm_index: int, test_index: int, trial: int) -> int:
        return (llm_index * len(self.tests) + test_index) * self.trials + trial - 1


def _find_state(result: Result, states: TrialStates, fingerprints: Fingerprints) -> TrialState:
    """State that a stored result gives its trial; older files have no fingerprints."""
    llm, test = states.find_llm(result), states.find_test(result)
    asked, scored = result.request_fingerprint, result.evaluator_fingerprint
    if result.failure is None:
        return find_scored_state(asked, scored, llm, test, fingerprints)
    only_unscored = result.can_be_scored and not _is_asked_otherwise(asked, llm, test, fingerprints)
    return TrialState.STALE_SCORE if only_unscored else TrialState.FAILED


def find_scored_state(
    asked: str, scored: str, llm: LLM, test: Test, fingerprints: Fingerprints
) -> TrialState:
    """State that a stored score gives its trial: done or stale.

    Args:
        asked: Fingerprint of its request; empty in older files.
        scored: Fingerprint of its evaluator; empty in older files.
        llm: The LLM that was asked.
        test: What it was asked.
        fingerprints: Of today's requests and evaluators.
    """
    if _is_asked_otherwise(asked, llm, test, fingerprints):
        return TrialState.STALE_REQUEST
    if scored and scored != fingerprints.of_evaluator(test):
        return TrialState.STALE_SCORE
    return TrialState.DONE


def _is_asked_otherwise(asked: str, llm: LLM, test: Test, fingerprints: Fingerprints) -> bool:
    return bool(asked) and asked != fingerprints.of_request(llm, test)
