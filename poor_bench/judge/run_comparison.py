"""Two judged runs side by side: what changed, what is within the judges' noise; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from poor_bench.judge.judged_run import JudgeRun, RunHeader, RunSummary, group_repeats, group_scores
from poor_bench.judge.judgement import Judgement
from poor_bench.judge.panel import estimate_noise_floor, is_within_noise
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
        return is_within_noise(self.difference, self.floor)


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
    runs, n = tuple(alike.values()), _count_judgements(before, after)
    case_floor = estimate_noise_floor(group_scores(runs, _list_case_scores), n)

    def find_floor(name: str) -> float | None:
        return estimate_noise_floor(group_repeats(runs, name), n)

    return RunComparison(
        before=before,
        after=after,
        obstacles=tuple(_list_obstacles(before, after)),
        scores=_list_changes(_compute_overall(before), _compute_overall(after), find_floor)
        + _list_changes(before.panel.scores, after.panel.scores, find_floor),
        cases=_list_changes(
            before.panel.case_scores, after.panel.case_scores, lambda _case: case_floor
        ),
    )


def _list_case_scores(judgement: Judgement) -> list[tuple[str, float]]:
    return [(case.test_name, case.score) for case in judgement.scored_cases]


def _count_judgements(before: RunSummary, after: RunSummary) -> float:
    """Harmonic mean of the numbers of judgements per score, at least 1."""
    counts = [max(1, len(side.run.usable_judgements)) for side in (before, after)]
    return 2 / sum(1 / count for count in counts)


def _compute_overall(summary: RunSummary) -> dict[str, float]:
    score = summary.panel.overall_score
    return {} if score is None else {OVERALL: score}


def _list_changes(
    before: Mapping[str, float],
    after: Mapping[str, float],
    find_floor: Callable[[str], float | None],
) -> tuple[JudgedChange, ...]:
    return tuple(
        JudgedChange(name=name, before=score, after=after[name], floor=find_floor(name))
        for name, score in before.items()
        if name in after
    )


def _list_obstacles(before: RunSummary, after: RunSummary) -> Iterator[str]:
    first, second = before.run.header, after.run.header
    if first.run_id == second.run_id:
        yield "both are the same run"
    if first.rubric_hash != second.rubric_hash:
        yield f"the rubrics differ: {_name_rubric(first)} and {_name_rubric(second)}"
    if set(first.judges) != set(second.judges):
        yield f"the judges differ: {', '.join(first.judges)} and {', '.join(second.judges)}"
    cases = [{talk.case_id for talk in side.run.conversations} for side in (before, after)]
    if cases[0] != cases[1]:
        yield "the cases differ"
    for side in (before, after):
        if not side.run.is_complete:
            yield f"{side.run.run_id} is incomplete"


def _name_rubric(header: RunHeader) -> str:
    return f"{header.rubric_name} ({header.rubric_hash[:6]})"
