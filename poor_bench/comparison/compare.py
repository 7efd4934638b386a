"""Compare two sets of results, LLM by LLM."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from poor_bench.comparison.compare_tests import TestPairing
from poor_bench.comparison.compared_group import ComparedGroup, group_of, with_p_values
from poor_bench.comparison.compared_test import ComparedTest
from poor_bench.comparison.llm_comparison import LLMComparison
from poor_bench.comparison.llm_pairs import LLMPair, llm_pairs
from poor_bench.comparison.obstacle import CHANGES, MEASURED_CHANGES, Obstacle
from poor_bench.comparison.side import Side
from poor_bench.comparison.times import TimeVerdict, compare_times
from poor_bench.models.test import Test

_Groups = dict[LLMPair, list[ComparedGroup]]


def compare_sides(
    before: Side,
    after: Side,
    *,
    tests: Mapping[str, Test] | None = None,
    pass_score: float = 1.0,
    allowed: Collection[Obstacle] = (),
) -> list[LLMComparison]:
    """Compare two sets of results, each LLM with itself, or one LLM with another.

    Args:
        before: What is compared with.
        after: What is compared.
        tests: Tests of the workspace by id, for classes and for tests that are gone.
        pass_score: From which mean score on a test passes, above 0 to 1.
        allowed: Changes despite which tests are to be compared.

    Returns:
        One comparison per pair of `llm_pairs`; p-values of all of them are adjusted together.

    Raises:
        ValueError: If `pass_score` is out of range.

    Example:
        >>> from poor_bench.models.result import Result
        >>> old = Side(name="old", results=(Result(llm_id="a", test_id="t", score=1.0),))
        >>> new = Side(name="new", results=(Result(llm_id="a", test_id="t", score=0.0),))
        >>> [comparison] = compare_sides(old, new)
        >>> [(test.test_id, test.outcome.value) for test in comparison.tests]
        [('t', 'broken')]
    """
    if not 0 < pass_score <= 1:
        raise ValueError(f"pass_score must be above 0 and at most 1, not {pass_score}")
    allowed = frozenset(allowed)
    pairs = llm_pairs(before, after)
    pairing = TestPairing(before, after, tests or {}, pass_score)
    compared = {pair: pairing.compared(pair) for pair in pairs}
    comparable = {
        pair: [test for test in compared[pair] if test.is_comparable(allowed)] for pair in pairs
    }
    overall = _adjusted({pair: _whole(comparable[pair]) for pair in pairs})
    by_class = _adjusted({pair: _by_class(comparable[pair]) for pair in pairs})
    by_change = _adjusted({pair: _by_change(compared[pair], allowed) for pair in pairs})
    return [
        LLMComparison(
            llm_before=pair[0],
            llm_after=pair[1],
            tests=tuple(compared[pair]),
            allowed=allowed,
            overall=overall[pair][0] if overall[pair] else None,
            by_class=tuple(by_class[pair]),
            by_change=tuple(by_change[pair]),
            times=_times(before, after, pair, comparable[pair]),
        )
        for pair in pairs
    ]


def _whole(tests: Sequence[ComparedTest]) -> list[ComparedGroup]:
    return [group_of(tests)] if tests else []


def _by_class(tests: Sequence[ComparedTest]) -> list[ComparedGroup]:
    grouped: dict[str, list[ComparedTest]] = {}
    for test in tests:
        grouped.setdefault(test.class_id, []).append(test)
    return [group_of(members, class_id=class_id) for class_id, members in grouped.items()]


def _by_change(tests: Sequence[ComparedTest], allowed: frozenset[Obstacle]) -> list[ComparedGroup]:
    grouped: dict[tuple[Obstacle, ...], list[ComparedTest]] = {}
    for test in tests:
        measured = frozenset(CHANGES) if test.same_answers else MEASURED_CHANGES
        if not test.is_comparable(allowed) and test.is_comparable(measured | allowed):
            grouped.setdefault(test.obstacles, []).append(test)
    return [group_of(members, changes=changes) for changes, members in grouped.items()]


def _adjusted(groups: _Groups) -> _Groups:
    """Return the groups with p-values that hold for all of them together."""
    flat = iter(with_p_values([group for members in groups.values() for group in members]))
    return {pair: [next(flat) for _ in members] for pair, members in groups.items()}


def _times(
    before: Side, after: Side, pair: LLMPair, comparable: Sequence[ComparedTest]
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
