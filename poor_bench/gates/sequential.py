"""Sequential checks: which questions are open, and whether more trials can answer them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from poor_bench.gates.check import Evidence
from poor_bench.gates.gate import Gate, GateKind, GateOutcome
from poor_bench.gates.regression import MeasuredDrop, measure_drop, select_groups
from poor_bench.statistics.non_inferiority import GateVerdict


class SequentialStop(StrEnum):
    """Why a sequential check asked for no more trials."""

    DECIDED = "decided"
    TRIALS = "max_trials"
    CALLS = "max_calls"
    COST = "max_cost"
    REPEATS = "answers_repeat"
    FAILED = "trials_failed"
    CANCELLED = "cancelled"
    NOT_COMPARABLE = "not_comparable"

    @property
    def text(self) -> str:
        """Text for screens."""
        return _TEXTS[self]


_TEXTS = {
    SequentialStop.DECIDED: "every question is decided",
    SequentialStop.TRIALS: "--max-trials is reached",
    SequentialStop.CALLS: "the next round would exceed --max-calls",
    SequentialStop.COST: "the next request would exceed --max-cost",
    SequentialStop.REPEATS: "every answer repeats, so more trials show nothing new",
    SequentialStop.FAILED: "no trial of the last round could be scored",
    SequentialStop.NOT_COMPARABLE: "some models have nothing to compare with the baseline",
    SequentialStop.CANCELLED: "interrupted; completed trials are stored",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    """A gate for one LLM that the trials so far do not decide."""

    llm_id: str
    drop: MeasuredDrop

    @property
    def test_ids(self) -> list[str]:
        """Tests that the answer rests on."""
        return [test.test_id for test in self.drop.group.tests]

    @property
    def n_trials(self) -> int:
        """Trials of the most tried test that the baseline does not have."""
        return max(len(test.scores_after) for test in self.drop.group.tests)

    def may_go_on(self, number: int, most: int) -> bool:
        """True if a next trial may follow trial `number`, of `most` that the baseline lacks."""
        n_before = max(len(test.scores_before) for test in self.drop.group.tests)
        return self.can_be_decided and self.n_trials < most and number < most + n_before

    @property
    def can_be_decided(self) -> bool:
        """False if the answers repeat so surely that more of them change nothing."""
        margin = (self.drop.high - self.drop.low) / 2
        return not (self.drop.is_repeatable and margin <= self.drop.tolerance / 2)


Decided = dict[tuple[Gate, str, str | None], GateOutcome]
"""Outcomes of the questions that are decided, by gate, LLM and class."""


def keep_decided(outcomes: Sequence[GateOutcome], decided: Decided) -> list[GateOutcome]:
    """Replace outcomes by those of the first look that decided them, and remember new ones."""
    kept = []
    for outcome in outcomes:
        key = outcome.gate, outcome.llm_id, outcome.class_id
        if outcome.verdict in {GateVerdict.PASSED, GateVerdict.FAILED}:
            decided.setdefault(key, outcome)
        kept.append(decided.get(key, outcome))
    return kept


def are_all_decided(outcomes: Sequence[GateOutcome]) -> bool:
    """True if every question about regressions has a pass or a fail."""
    verdicts = [o.verdict for o in outcomes if o.gate.kind is GateKind.NO_REGRESSION]
    return not {None, GateVerdict.UNDECIDED} & set(verdicts)


def find_open_questions(outcomes: Sequence[GateOutcome], evidence: Evidence) -> list[OpenQuestion]:
    """Find the questions about regressions that are not decided.

    Args:
        outcomes: Of `evidence`.
        evidence: What is known.
    """
    found = []
    for outcome in outcomes:
        if outcome.gate.kind is GateKind.NO_REGRESSION and outcome.verdict is GateVerdict.UNDECIDED:
            comparison = evidence.comparisons[outcome.gate.baseline][outcome.llm_id]
            group = select_groups(comparison, outcome.class_id)[0]
            drop = measure_drop(group, outcome.gate.limit, is_sequential=True)
            found.append(OpenQuestion(llm_id=outcome.llm_id, drop=drop))
    return found
