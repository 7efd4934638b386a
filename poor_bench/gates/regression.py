"""Whether an LLM became worse than in the baseline, beyond chance."""

from __future__ import annotations

from collections.abc import Sequence

from poor_bench.comparison.compared_group import ComparedGroup
from poor_bench.comparison.compared_test import Outcome
from poor_bench.comparison.llm_comparison import LLMComparison
from poor_bench.comparison.wording import (
    difference_text,
    names_text,
    obstacles_text,
    p_text,
)
from poor_bench.gates.outcome import GateStatus
from poor_bench.gates.thresholds import NOTHING, Finding
from poor_bench.messages import counted


def check_regression(comparison: LLMComparison | None, class_id: str | None) -> Finding:
    """Check that no score fell beyond chance.

    A difference that is established (after correction for all that was compared), overall or in a
    class, fails. A lower score that may be chance, single broken tests, and tests that are not
    comparable warn.

    Args:
        comparison: The LLM with its baseline; None where the baseline does not have it.
        class_id: The class that is looked at; None looks at all, and at every class.
    """
    if comparison is None:
        return Finding(GateStatus.WARNING, None, "new: the baseline has no results of it")
    groups = _groups_of(comparison, class_id)
    if not groups:
        reasons = ", ".join(_not_comparable(comparison, class_id)) or "no test of both"
        return Finding(GateStatus.FAILED, None, f"{NOTHING}{reasons}")
    fallen = [group for group in groups if group.is_real() and group.difference.value < 0]
    observed = groups[0].difference.value
    if fallen:
        reason = "; ".join(_fallen_text(group) for group in fallen)
        return Finding(GateStatus.FAILED, observed, f"{reason}{_broken_text(groups[0])}")
    doubts = _doubts(comparison, groups[0], class_id)
    if doubts:
        return Finding(GateStatus.WARNING, observed, "; ".join(doubts))
    n_tests = len(groups[0].tests)
    return Finding(
        GateStatus.PASSED, observed, f"{difference_text(groups[0])} on {counted(n_tests, 'test')}"
    )


def _groups_of(comparison: LLMComparison, class_id: str | None) -> list[ComparedGroup]:
    if class_id is not None:
        return [group for group in comparison.by_class if group.class_id == class_id]
    if comparison.overall is None:
        return []
    return [comparison.overall, *(comparison.by_class if len(comparison.by_class) > 1 else ())]


def _doubts(comparison: LLMComparison, group: ComparedGroup, class_id: str | None) -> list[str]:
    doubts = []
    broken = _broken_text(group)
    if group.difference.value < 0 or broken:
        doubts.append(f"{difference_text(group)}, which is not significant{broken}")
    doubts += _not_comparable(comparison, class_id)
    n_unverified = sum(not test.is_verified for test in group.tests)
    if n_unverified:
        doubts.append(f"{counted(n_unverified, 'test')} with older results, which tell too little")
    return doubts


def _not_comparable(comparison: LLMComparison, class_id: str | None) -> list[str]:
    return [
        f"{obstacles_text(reasons)}: {counted(len(test_ids), 'test')} not compared"
        for reasons, test_ids in comparison.not_comparable(class_id).items()
    ]


def _fallen_text(group: ComparedGroup) -> str:
    scope = "" if group.class_id is None else f" in {group.class_id}"
    return f"score fell{scope} by {difference_text(group)}, p {p_text(group.p_adjusted)}"


def _broken_text(group: ComparedGroup) -> str:
    broken: Sequence[str] = [test.test_id for test in group.tests if test.outcome is Outcome.BROKEN]
    return f"; broken: {names_text(broken, limit=5)}" if broken else ""
