"""Trials of checks for regressions: how many are planned, and whether more of them can decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from poor_bench.gates.check import Evidence, list_classes
from poor_bench.gates.gate import DEFAULT_TOLERANCE, Gate, GateKind, GateOutcome
from poor_bench.gates.regression import (
    MeasuredDrop,
    measure_drop,
    plan_against_baseline,
    plan_without_baseline,
    select_groups,
)
from poor_bench.statistics.non_inferiority import GateVerdict, TrialPlan, VarianceSource
from poor_bench.statistics.trials import collect_columns

_SHOWN_TRIALS = (1, 2, 3, 5, 10, 20, 50)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chances:
    """Chances of a check with some trials per test."""

    n_trials: int
    passes_unchanged: float
    """Chance that an unchanged model passes, 0.0 to 1.0."""
    fails_on_drop: float
    """Chance that the drop in question fails, 0.0 to 1.0."""
    smallest_drop: float | None
    """Drop that fails with the wanted chance; None where none does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DropPlan:
    """Planned check of one LLM for a drop of its score."""

    llm_id: str
    class_id: str | None
    trials: TrialPlan
    source: VarianceSource
    """What the variance between trials rests on."""
    drop: float
    """Drop in question, above 0.0."""
    power: float
    """Wanted chance of a verdict, between 0 and 1."""

    @property
    def trials_to_pass(self) -> int | None:
        """Fewest trials per test with which an unchanged model passes; None if there are none."""
        return self.trials.find_trials_to_pass(self.power)

    @property
    def trials_to_fail(self) -> int | None:
        """Fewest trials per test with which the drop fails; None if there are none."""
        return self.trials.find_trials_to_fail(self.drop, self.power)

    def with_equal_trials(self) -> DropPlan:
        """Plan a new baseline, with as many trials as are compared with it."""
        return replace(self, trials=replace(self.trials, n_before=None))

    def rows(self) -> Iterator[Chances]:
        """Yield the chances for usual numbers of trials, and for those that are enough."""
        needed = {self.trials_to_pass, self.trials_to_fail} - {None}
        for n_trials in sorted({*_SHOWN_TRIALS, *(number for number in needed if number)}):
            yield Chances(
                n_trials=n_trials,
                passes_unchanged=self.trials.chance_of_pass(n_trials),
                fails_on_drop=self.trials.chance_of_fail(n_trials, self.drop),
                smallest_drop=self.trials.find_drop(n_trials, self.power),
            )


def plan_gates(
    gates: Sequence[Gate],
    evidence: Evidence,
    drop: float,
    power: float,
    tolerance: float = DEFAULT_TOLERANCE,
) -> list[DropPlan]:
    """Plan the checks for regressions of every LLM.

    Args:
        gates: Only those of `NO_REGRESSION` count. Without any, each LLM is planned on all tests.
        evidence: What is known; LLMs without comparable results plan a new baseline.
        drop: Drop of the mean score that is to fail, above 0.0.
        power: Wanted chance of a verdict, between 0 and 1.
        tolerance: Accepted drop where no gate states one.
    """
    asked = [gate for gate in gates if gate.kind is GateKind.NO_REGRESSION]
    plans = []
    for gate in asked or [Gate(kind=GateKind.NO_REGRESSION, limit=tolerance)]:
        for llm in evidence.llms:
            if gate.is_about(llm.id, llm.label):
                plans += [
                    _plan(gate, llm.id, class_id, evidence, drop, power)
                    for class_id in list_classes(gate, evidence)
                ]
    return plans


def _plan(
    gate: Gate, llm_id: str, class_id: str | None, evidence: Evidence, drop: float, power: float
) -> DropPlan:
    comparison = evidence.comparisons.get(gate.baseline, {}).get(llm_id)
    groups = select_groups(comparison, class_id) if comparison else []
    if groups:
        trials, source = plan_against_baseline(groups[0].tests, gate.limit)
    else:
        tests = [
            test.test_id for test in evidence.tests.values() if class_id in {None, test.class_id}
        ]
        known = collect_columns(evidence.results.get(llm_id, ()))
        trials, source = plan_without_baseline(tests, known, gate.limit)
    return DropPlan(
        llm_id=llm_id, class_id=class_id, trials=trials, source=source, drop=drop, power=power
    )


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
