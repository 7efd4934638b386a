"""How much of the tests each row of figures rests on, and how many have no result yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from poor_bench.models.test import Test
from poor_bench.statistics.summary import Summary
from poor_bench.statistics.trials import number_codes

if TYPE_CHECKING:
    from poor_bench.statistics.trials import TrialColumns

_Part = tuple[str | None, int | None]
"""Class and level of a row; None where it spans all."""


class TestCounts(NamedTuple):
    """Tests of each class, of each level and of both."""

    present: Counter[_Part]
    """All tests."""
    scored: Counter[_Part]
    """Tests that any model was scored on."""


def count_tests(tests: Mapping[str, Test], scored: Iterable[str]) -> TestCounts:
    """Count tests by class and level.

    Args:
        tests: All tests of the workspace, or those that a report is about, by id.
        scored: Ids of the tests that any model was scored on.
    """
    known = (tests[test_id] for test_id in scored if test_id in tests)
    return TestCounts(_count_parts(tests.values()), _count_parts(known))


def add_coverage(
    rows: Iterable[Summary], counts: TestCounts, runnable: Collection[str]
) -> list[Summary]:
    """Add to rows of any grouping how many tests there are, and how many are pending.

    Args:
        rows: Rows of results of these tests.
        counts: The tests of each class and level.
        runnable: Ids of the models that a run can ask; of others nothing is pending.

    Example:
        >>> from poor_bench.statistics.summary import Group
        >>> row = Summary(group=Group(llm_id="a"), n_tests=1, n_asked=1, n_scored=1, n_failed=0,
        ...               n_passed=1, score=None, strict_score=None, pass_rate=None)
        >>> tests = {name: Test(test_id=name, class_id="c", level=1, text=name) for name in "xyz"}
        >>> [row] = add_coverage([row], count_tests(tests, ["x", "y"]), {"a"})
        >>> row.n_all, row.n_pending
        (2, 2)
    """
    return [_add_counts(row, counts, is_runnable=row.group.llm_id in runnable) for row in rows]


def find_scored_tests(trials: TrialColumns) -> tuple[str, ...]:
    """List the ids of the tests that any model was scored on."""
    used, _ = number_codes(trials.columns["test_id"][trials.is_scored])
    return tuple(trials.values["test_id"][code] for code in used)


def _add_counts(row: Summary, counts: TestCounts, *, is_runnable: bool) -> Summary:
    part = row.group.class_id, row.group.level
    n_pending = max(0, counts.present[part] - row.n_asked) if is_runnable else None
    return replace(row, n_all=counts.scored[part], n_pending=n_pending)


def _count_parts(tests: Iterable[Test]) -> Counter[_Part]:
    return Counter(
        (class_id, level)
        for test in tests
        for class_id in (None, test.class_id)
        for level in (None, test.level)
    )
