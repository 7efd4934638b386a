"""Compare two result sets, LLM by LLM: overall, by class and by what changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import stdev

from poor_bench.comparison.compared_tests import (
    CHANGES,
    MEASURED_CHANGES,
    ComparedTest,
    Mismatch,
    ScoreChange,
    TestPairing,
    UnreadTests,
)
from poor_bench.comparison.result_set import LLMPair, ResultSet, pair_llms
from poor_bench.comparison.times import TimeVerdict, compare_times
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedGroup:
    """Tests that both sides have scored: all of an LLM, those of a class, or of one change."""

    tests: tuple[ComparedTest, ...]
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
        return Counter(test.outcome for test in self.tests)[outcome]

    def with_outcome(self, *outcomes: ScoreChange) -> list[ComparedTest]:
        """Select the tests with some changes of score, the greatest difference first."""
        chosen = [test for test in self.tests if test.outcome in outcomes]
        return sorted(chosen, key=lambda test: -abs(test.difference))

    def is_real(self, alpha: float = 0.05) -> bool:
        """True if the difference is significant, corrected for all comparisons."""
        return self.p_adjusted < alpha

    @property
    def needed(self) -> NeededEvidence:
        """Tests or trials on which a difference of this size would probably show."""
        return plan_evidence(
            [test.difference for test in self.tests],
            [test.n_trials for test in self.tests],
            [test.squares for test in self.tests],
            factor=self.factor,
        )

    @property
    def smallest_difference(self) -> float:
        """The smallest difference that this many tests probably show, at least 0.0."""
        return smallest_difference(len(self.tests), self._deviation, alpha=0.05 / self.factor)

    @property
    def _deviation(self) -> float:
        """Standard deviation of the tests' differences; of a single test the worst case."""
        differences = [test.difference for test in self.tests]
        return stdev(differences) if len(differences) > 1 else 1.0


def make_group(
    tests: Sequence[ComparedTest],
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
    groups = [test.group for test in tests]
    difference = estimate_paired_difference([test.difference for test in tests], groups)
    return ComparedGroup(
        tests=tuple(tests),
        class_id=class_id,
        changes=changes,
        mean_before=sum(test.before or 0.0 for test in tests) / len(tests),
        mean_after=sum(test.after or 0.0 for test in tests) / len(tests),
        difference=difference,
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
        units = number_groups(len(group.tests), [test.group for test in group.tests])
        np.add.at(differences[:, column], units, [test.difference for test in group.tests])
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
    tests: tuple[ComparedTest, ...]
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
        grouped: dict[tuple[Mismatch, ...], list[str]] = {}
        for test in self.tests:
            if class_id in {None, test.class_id} and not test.is_comparable(self.allowed):
                grouped.setdefault(test.mismatches, []).append(test.test_id)
        for unread in self.unread:
            if names := unread.of_class(class_id):
                grouped.setdefault((unread.reason,), []).extend(names)
        return dict(sorted(grouped.items(), key=lambda item: -len(item[1])))

    def with_outcome(self, *outcomes: ScoreChange) -> list[ComparedTest]:
        """Select the comparable tests with some changes of score, the greatest difference first."""
        return self.overall.with_outcome(*outcomes) if self.overall else []

    def despite_changes(self) -> dict[Mismatch, int]:
        """Count the tests of `overall` that were compared despite each allowed change."""
        tests = self.overall.tests if self.overall else ()
        counts = {change: sum(change in test.mismatches for test in tests) for change in Mismatch}
        return {change: count for change, count in counts.items() if count}

    @property
    def n_unverified(self) -> int:
        """Tests in `overall` whose results do not tell whether prompt or evaluator changed."""
        return sum(not test.is_verified for test in self.overall.tests) if self.overall else 0


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
    allowed = frozenset(allowed)
    pairs = pair_llms(before, after)
    pairing = TestPairing(before, after, tests or {}, pass_score)
    compared = {pair: pairing.compare(pair) for pair in pairs}
    comparable = {
        pair: [test for test in compared[pair] if test.is_comparable(allowed)] for pair in pairs
    }
    overall = _adjust({pair: _group_whole(comparable[pair]) for pair in pairs})
    by_class = _adjust({pair: _group_by_class(comparable[pair]) for pair in pairs})
    by_change = _adjust({pair: _group_by_change(compared[pair], allowed) for pair in pairs})
    return [
        LLMComparison(
            llm_before=pair[0],
            llm_after=pair[1],
            tests=tuple(compared[pair]),
            unread=pairing.list_unread(pair),
            allowed=allowed,
            overall=overall[pair][0] if overall[pair] else None,
            by_class=tuple(by_class[pair]),
            by_change=tuple(by_change[pair]),
            times=_compare_times(before, after, pair, comparable[pair]),
        )
        for pair in pairs
    ]


def _group_whole(tests: Sequence[ComparedTest]) -> list[ComparedGroup]:
    return [make_group(tests)] if tests else []


def _group_by_class(tests: Sequence[ComparedTest]) -> list[ComparedGroup]:
    grouped: dict[str, list[ComparedTest]] = {}
    for test in tests:
        grouped.setdefault(test.class_id, []).append(test)
    return [make_group(members, class_id=class_id) for class_id, members in grouped.items()]


def _group_by_change(
    tests: Sequence[ComparedTest], allowed: frozenset[Mismatch]
) -> list[ComparedGroup]:
    grouped: dict[tuple[Mismatch, ...], list[ComparedTest]] = {}
    for test in tests:
        measured = frozenset(CHANGES) if test.same_answers else MEASURED_CHANGES
        if not test.is_comparable(allowed) and test.is_comparable(measured | allowed):
            grouped.setdefault(test.mismatches, []).append(test)
    return [make_group(members, changes=changes) for changes, members in grouped.items()]


def _adjust(groups: _Groups) -> _Groups:
    """Add p-values that hold for all groups together."""
    flat = iter(add_p_values([group for members in groups.values() for group in members]))
    return {pair: [next(flat) for _ in members] for pair, members in groups.items()}


def _compare_times(
    before: ResultSet, after: ResultSet, pair: LLMPair, comparable: Sequence[ComparedTest]
) -> TimeVerdict:
    test_ids = {test.test_id for test in comparable}
    if not test_ids:
        return TimeVerdict(problem="no test is comparable")
    results_before, results_after = (
        [
            result
            for result in side.results
            if result.llm_id == llm_id and result.test_id in test_ids and result.score is not None
        ]
        for side, llm_id in zip((before, after), pair, strict=True)
    )
    return compare_times(results_before, results_after, {**before.runs, **after.runs})
