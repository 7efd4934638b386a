"""Compare two runs, with the judges' noise; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from poor_bench.judge.judged_run import JudgeRun, RunHeader, RunSummary, group_repeats
from poor_bench.judge.panel import noise_floor, within_noise
from poor_bench.labels.label import OVERALL


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedChange:
    """One score in two runs, each 0.0 to 10.0."""

    name: str
    """`OVERALL`, a dimension, or a case."""
    before: float
    after: float
    floor: float | None
    """Difference that the judges' own chance exceeds in 5 % of all comparisons; None where no
    judge was ever asked twice."""

    @property
    def difference(self) -> float:
        """After minus before."""
        return self.after - self.before

    @property
    def is_noise(self) -> bool:
        """True if the difference is within the judges' noise."""
        return within_noise(self.difference, self.floor)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunComparison:
    """Two runs side by side."""

    before: RunSummary
    after: RunSummary
    obstacles: tuple[str, ...]
    """Reasons against a comparison; empty if comparable."""
    scores: tuple[JudgedChange, ...]
    """The overall score, then the dimensions that both runs have."""
    cases: tuple[JudgedChange, ...]
    """Cases that both runs have."""

    def is_comparable(self, change: JudgedChange) -> bool:
        """True if both runs measured this score in the same way.

        A case is, wherever rubric and judges are the same; the scores over all cases only where
        nothing is in the way.
        """
        sides = self.before.run.header, self.after.run.header
        hashes = {header.rubric_hash for header in sides}
        judges = {frozenset(header.judges) for header in sides}
        is_alike = len(hashes) == len(judges) == 1
        return is_alike and (change in self.cases or not self.obstacles)


def compare_runs(
    before: RunSummary, after: RunSummary, history: Iterable[JudgeRun] = ()
) -> RunComparison:
    """Compare two runs.

    Args:
        before: The run that is compared with.
        after: The other run.
        history: Further runs; those of the same judges and rubric tell more of the judges' noise.
    """
    header = after.run.header
    alike = {
        run.run_id: run
        for run in (*history, before.run, after.run)
        if run.header.rubric_hash == header.rubric_hash and run.header.judges == header.judges
    }
    floors = _Floors(tuple(alike.values()), _n_judgements(before, after))
    names = [name for name in before.panel.scores if name in after.panel.scores]
    return RunComparison(
        before=before,
        after=after,
        obstacles=tuple(_obstacles(before, after)),
        scores=tuple(_overall(before, after, floors))
        + tuple(_changes(before.panel.scores, after.panel.scores, names, floors)),
        cases=tuple(_case_changes(before, after, floors)),
    )


@dataclass(frozen=True, slots=True)
class _Floors:
    runs: tuple[JudgeRun, ...]
    n_judgements: float

    def of(self, name: str) -> float | None:
        return noise_floor(group_repeats(self.runs, name), self.n_judgements)


def _n_judgements(before: RunSummary, after: RunSummary) -> float:
    """Harmonic mean of the numbers of judgements per score, at least 1."""
    counts = [max(1, len(side.run.usable_judgements)) for side in (before, after)]
    return 2 / sum(1 / count for count in counts)


def _overall(before: RunSummary, after: RunSummary, floors: _Floors) -> Iterator[JudgedChange]:
    first, second = before.panel.overall_score, after.panel.overall_score
    if first is not None and second is not None:
        yield JudgedChange(name=OVERALL, before=first, after=second, floor=floors.of(OVERALL))


def _changes(
    before: Mapping[str, float], after: Mapping[str, float], names: Iterable[str], floors: _Floors
) -> Iterator[JudgedChange]:
    for name in names:
        floor = floors.of(name)
        yield JudgedChange(name=name, before=before[name], after=after[name], floor=floor)


def _case_changes(before: RunSummary, after: RunSummary, floors: _Floors) -> Iterator[JudgedChange]:
    first, second = before.panel.case_scores, after.panel.case_scores
    floor = noise_floor(_case_repeats(floors.runs), floors.n_judgements)
    for name in first:
        if name in second:
            yield JudgedChange(name=name, before=first[name], after=second[name], floor=floor)


def _case_repeats(runs: Iterable[JudgeRun]) -> list[list[float]]:
    groups: dict[tuple[str, str, str], list[float]] = {}
    for run in runs:
        for judgement in run.usable_judgements:
            for case in judgement.scored_cases:
                key = (run.run_id, judgement.judge, case.test_name)
                groups.setdefault(key, []).append(case.score)
    return list(groups.values())


def _obstacles(before: RunSummary, after: RunSummary) -> Iterator[str]:
    first, second = before.run.header, after.run.header
    if first.rubric_hash != second.rubric_hash:
        yield f"the rubrics differ: {_rubric(first)} and {_rubric(second)}"
    if set(first.judges) != set(second.judges):
        yield f"the judges differ: {', '.join(first.judges)} and {', '.join(second.judges)}"
    cases = [{talk.case_id for talk in side.run.conversations} for side in (before, after)]
    if cases[0] != cases[1]:
        yield "the cases differ"
    for side in (before, after):
        if not side.run.is_complete:
            yield f"{side.run.run_id} is incomplete"


def _rubric(header: RunHeader) -> str:
    return f"{header.rubric_name} ({header.rubric_hash[:6]})"
