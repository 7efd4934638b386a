"""Compare two result sets, LLM by LLM: overall, by class and by what changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import stdev
from typing import TYPE_CHECKING

from poor_bench.comparison.compared_tests import (
    CHANGES,
    MEASURED_CHANGES,
    ComparedTest,
    ComparedTests,
    Mismatch,
    PairedTests,
    ScoreChange,
    TestPairing,
    UnreadTests,
    read_bits,
)
from poor_bench.comparison.result_set import LLMPair, ResultSet, RunFacts, pair_llms
from poor_bench.comparison.side_rows import TimeVerdict, compare_times
from poor_bench.models.test import Test
from poor_bench.statistics.differences import estimate_paired_difference
from poor_bench.statistics.groups import number_groups
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.significance import (
    NeededEvidence,
    holm,
    holm_factors,
    plan_evidence,
    smallest_difference,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedGroup:
    """Tests that both sides have scored: all of an LLM, those of a class, or of one change."""

    tests: ComparedTests
    class_id: str | None = None
    """None where it spans all classes."""
    changes: tuple[Mismatch, ...] = ()
    """Changes on all of these tests; empty if nothing changed."""
    mean_before: float
    mean_after: float
    difference: Estimate
    """Mean of the tests' differences, after minus before, with its own 95 % interval."""
    p_value: float = 1.0
    """Of this group alone (sign-flip permutation test)."""
    p_adjusted: float = 1.0
    """Valid for all groups of its kind together (Holm)."""
    factor: int = 1
    """What that correction multiplies the p-value by, see `holm_factors`."""

    def count(self, outcome: ScoreChange) -> int:
        """Count the tests with a change of score."""
        return int(self.tests.have_outcome(outcome).sum())

    def with_outcome(self, *outcomes: ScoreChange) -> ComparedTests:
        """Select the tests with some changes of score, the greatest difference first."""
        import numpy as np

        chosen = self.tests.have_outcome(*outcomes).nonzero()[0]
        sizes = np.abs(self.tests.differences[chosen])
        return self.tests.pick(chosen[np.argsort(-sizes, kind="stable")])

    def is_real(self, alpha: float = 0.05) -> bool:
        """True if the difference is significant, corrected for all comparisons."""
        return self.p_adjusted < alpha

    @property
    def needed(self) -> NeededEvidence:
        """Tests or trials on which a difference of this size would probably show."""
        import numpy as np

        n_trials, squares = (
            np.stack([self.tests.columns[f"{name}_{side}"] for side in ("before", "after")], axis=1)
            for name in ("n", "squares")
        )
        return plan_evidence(self.tests.differences, n_trials, squares, factor=self.factor)

    @property
    def smallest_difference(self) -> float:
        """The smallest difference that this many tests probably show, at least 0.0."""
        return smallest_difference(len(self.tests), self._deviation, alpha=0.05 / self.factor)

    @property
    def _deviation(self) -> float:
        """Standard deviation of the tests' differences; of a single test the worst case."""
        differences: list[float] = self.tests.differences.tolist()
        return stdev(differences) if len(differences) > 1 else 1.0


def make_group(
    tests: ComparedTests,
    *,
    class_id: str | None = None,
    changes: tuple[Mismatch, ...] = (),
) -> ComparedGroup:
    """Compute the figures of some tests, without p-values.

    Args:
        tests: At least one; all scored on both sides.
        class_id: The class that all of them are of, if they are chosen by class.
        changes: What changed on all of them, if they are chosen by that.

    Raises:
        ValueError: If no test is given.
    """
    differences, groups = tests.differences.tolist(), tests.columns["group"].tolist()
    return ComparedGroup(
        tests=tests,
        class_id=class_id,
        changes=changes,
        mean_before=sum(tests.columns["before"].tolist()) / len(tests),
        mean_after=sum(tests.columns["after"].tolist()) / len(tests),
        difference=estimate_paired_difference(differences, groups),
    )


def add_p_values(groups: Sequence[ComparedGroup]) -> list[ComparedGroup]:
    """Add p-values to groups, corrected for all of them together.

    Args:
        groups: Groups of one kind, of any LLMs.
    """
    import numpy as np

    from poor_bench.statistics.significance import compute_sign_flip_p_values

    if not groups:
        return []
    rows = max(len(group.tests) for group in groups)
    differences = np.zeros((rows, len(groups)))
    for column, group in enumerate(groups):
        names = group.tests.columns["group"].tolist()
        units = number_groups(len(names), None if names.count(None) == len(names) else names)
        differences[: len(names), column] = np.bincount(units, group.tests.differences, len(names))
    p_values = compute_sign_flip_p_values(differences).tolist()
    chances = zip(p_values, holm(p_values), holm_factors(p_values), strict=True)
    return [
        replace(group, p_value=p_value, p_adjusted=p_adjusted, factor=factor)
        for group, (p_value, p_adjusted, factor) in zip(groups, chances, strict=True)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class LLMComparison:
    """One LLM at two times, or two LLMs."""

    llm_before: str
    llm_after: str
    tests: ComparedTests
    """Every test with a result on either side, but for those in `unread`."""
    unread: tuple[UnreadTests, ...]
    """Further tests, with a result on one side only."""
    allowed: frozenset[Mismatch]
    """Changes despite which tests count as comparable."""
    overall: ComparedGroup | None
    """The comparable tests; None where there are none."""
    by_class: tuple[ComparedGroup, ...]
    """The same tests, by class."""
    by_change: tuple[ComparedGroup, ...]
    """Tests that are not in `overall`, by what changed: prompt, parameters, model. They show what
    the change did. Tests whose evaluator changed are in none, unless both sides hold the same
    answers: only then the difference is what the evaluator did."""
    times: TimeVerdict
    """Of the comparable tests."""

    def not_comparable(self, class_id: str | None = None) -> dict[tuple[Mismatch, ...], list[str]]:
        """Group the ids of the tests that are not in `overall` by reason, most first.

        Args:
            class_id: Leaves out the tests of other classes.
        """
        is_left = ~self.tests.are_comparable(self.allowed)
        if class_id is not None:
            is_left &= self.tests.columns["class_id"] == class_id
        grouped = {
            read_bits(bits): tests.test_ids
            for bits, tests in self.tests.pick(is_left).split("bits").items()
        }
        for unread in self.unread:
            if names := unread.of_class(class_id):
                grouped.setdefault((unread.reason,), []).extend(names)
        return dict(sorted(grouped.items(), key=lambda item: -len(item[1])))

    def with_outcome(self, *outcomes: ScoreChange) -> Sequence[ComparedTest]:
        """Select the comparable tests with some changes of score, the greatest difference first."""
        return self.overall.with_outcome(*outcomes) if self.overall else ()

    def despite_changes(self) -> dict[Mismatch, int]:
        """Count the tests of `overall` that were compared despite each allowed change."""
        if self.overall is None:
            return {}
        counts = {change: self.overall.tests.count_with(change) for change in Mismatch}
        return {change: count for change, count in counts.items() if count}

    @property
    def n_unverified(self) -> int:
        """Tests in `overall` whose results do not tell whether prompt or evaluator changed."""
        return int((~self.overall.tests.columns["is_verified"]).sum()) if self.overall else 0


_Groups = dict[LLMPair, list[ComparedGroup]]


def compare_result_sets(
    before: ResultSet,
    after: ResultSet,
    *,
    tests: Mapping[str, Test] | None = None,
    pass_score: float = 1.0,
    allowed: Collection[Mismatch] = (),
) -> list[LLMComparison]:
    """Compare two sets of results, each LLM with itself, or one LLM with another.

    Args:
        before: What is compared with.
        after: What is compared.
        tests: Tests of the workspace by id, for classes and for tests that are gone.
        pass_score: From which mean score on a test passes, above 0 to 1.
        allowed: Changes despite which tests are to be compared.

    Returns:
        One comparison per pair of `pair_llms`; p-values of all of them are adjusted together.

    Raises:
        StoreError: If stored results cannot be read.
        ValueError: If `pass_score` is out of range.

    Example:
        >>> from poor_bench.models.result import Result
        >>> old = ResultSet(name="old", results=(Result(llm_id="a", test_id="t", score=1.0),))
        >>> new = ResultSet(name="new", results=(Result(llm_id="a", test_id="t", score=0.0),))
        >>> [comparison] = compare_result_sets(old, new)
        >>> [(test.test_id, test.outcome.value) for test in comparison.tests]
        [('t', 'broken')]
    """
    if not 0 < pass_score <= 1:
        raise ValueError(f"pass_score must be above 0 and at most 1, not {pass_score}")
    allowed, runs = frozenset(allowed), {**before.runs, **after.runs}
    pairs = pair_llms(before, after)
    pairing = TestPairing(before, after, tests or {}, pass_score)
    compared = {pair: pairing.compare(pair) for pair in pairs}
    are_comparable = {pair: compared[pair].tests.are_comparable(allowed) for pair in pairs}
    comparable = {pair: compared[pair].tests.pick(are_comparable[pair]) for pair in pairs}
    overall = _adjust({pair: _group_whole(comparable[pair]) for pair in pairs})
    by_class = _adjust({pair: _group_by_class(comparable[pair]) for pair in pairs})
    by_change = _adjust({pair: _group_by_change(compared[pair].tests, allowed) for pair in pairs})
    return [
        LLMComparison(
            llm_before=pair[0],
            llm_after=pair[1],
            tests=compared[pair].tests,
            unread=pairing.list_unread(pair),
            allowed=allowed,
            overall=overall[pair][0] if overall[pair] else None,
            by_class=tuple(by_class[pair]),
            by_change=tuple(by_change[pair]),
            times=_compare_times(compared[pair], are_comparable[pair], runs),
        )
        for pair in pairs
    ]


def _group_whole(tests: ComparedTests) -> list[ComparedGroup]:
    return [make_group(tests)] if tests else []


def _group_by_class(tests: ComparedTests) -> list[ComparedGroup]:
    found = tests.split("class_id").items()
    return [make_group(members, class_id=class_id) for class_id, members in found]


def _group_by_change(tests: ComparedTests, allowed: frozenset[Mismatch]) -> list[ComparedGroup]:
    is_meant = tests.are_comparable(MEASURED_CHANGES | allowed)
    is_meant |= tests.columns["same_answers"] & tests.are_comparable({*CHANGES, *allowed})
    found = tests.pick(is_meant & ~tests.are_comparable(allowed)).split("bits").items()
    return [make_group(members, changes=read_bits(bits)) for bits, members in found]


def _adjust(groups: _Groups) -> _Groups:
    """Add p-values that hold for all groups together."""
    flat = iter(add_p_values([group for members in groups.values() for group in members]))
    return {pair: [next(flat) for _ in members] for pair, members in groups.items()}


def _compare_times(
    pair: PairedTests, is_comparable: NDArray[np.bool_], runs: Mapping[str, RunFacts]
) -> TimeVerdict:
    before, after = (side.pick(is_comparable[side.tests]) for side in (pair.before, pair.after))
    return compare_times(before, after, runs)
