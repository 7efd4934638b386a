"""Runs the cases of one program, in as many children as it takes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from poor_bench.sandbox.candidate_session import CandidateSession, candidate_session
from poor_bench.sandbox.host.child_process import Launcher
from poor_bench.sandbox.outcomes import CaseEnd, CaseOutcome, LoadEnd, LoadOutcome, ProgramOutcome
from poor_bench.sandbox.program import Program

_ENDS_OF_A_CHILD = frozenset({CaseEnd.TIMED_OUT, CaseEnd.DIED, CaseEnd.GARBLED})


class CaseRun:
    """One program and its cases.

    Cases run one after the other in one child for as long as it lasts; after a case that ended
    it, the next one runs in a new child. A child that was killed gets a second chance, once: it
    may have been none of its doing.
    """

    def __init__(self, launcher: Launcher, program: Program, inputs: Sequence[Any]) -> None:
        self._launcher = launcher
        self._program = program
        self._inputs = list(inputs)
        self._deadline = time.monotonic() + program.limits.total_s
        self._outcomes: list[CaseOutcome] = []
        self._has_second_chance = True

    def run(self) -> ProgramOutcome:
        """Run all cases that the time in all suffices for.

        Raises:
            SandboxError: If children cannot be started or locked in.
        """
        load, output = LoadOutcome(end=LoadEnd.TOO_LARGE), ""
        if not self._program.is_too_large:
            load, output = self._run_in_new_child()
        is_loaded = load.end is LoadEnd.LOADED
        while is_loaded and self._is_unfinished():
            again, _ = self._run_in_new_child()
            is_loaded = again.end is LoadEnd.LOADED
        n_not_run = len(self._inputs) - len(self._outcomes)
        not_run = [CaseOutcome(end=CaseEnd.NOT_RUN)] * n_not_run
        return ProgramOutcome(load=load, cases=(*self._outcomes, *not_run), output=output)

    def _is_unfinished(self) -> bool:
        return len(self._outcomes) < len(self._inputs) and time.monotonic() < self._deadline

    def _run_in_new_child(self) -> tuple[LoadOutcome, str]:
        """Run cases until the child ends; return how loading ended, and its output."""
        with candidate_session(
            self._launcher, self._program, self._inputs, self._deadline
        ) as session:
            load = session.load()
            output = session.child.take_output()
            if load.end is LoadEnd.LOADED:
                self._run_cases(session)
            is_over = not (session.was_killed and load.end is LoadEnd.DIED and self._take_chance())
        return (load, output) if is_over else self._run_in_new_child()

    def _run_cases(self, session: CandidateSession) -> None:
        n_before = len(self._outcomes)
        while self._is_unfinished():
            outcome = session.run_case(len(self._outcomes))
            if session.is_out_of_cpu and len(self._outcomes) > n_before:
                return  # earlier cases used part of the time: this one gets a child of its own
            if session.was_killed and self._take_chance():
                return
            self._outcomes.append(outcome)
            if outcome.end in _ENDS_OF_A_CHILD:
                return

    def _take_chance(self) -> bool:
        """Return whether there was a second chance; there is none from now on."""
        had_chance, self._has_second_chance = self._has_second_chance, False
        return had_chance
