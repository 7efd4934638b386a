"""Examples of many issues: the costliest, of different models first, found some at a time."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.issues import found_issues
from poor_bench.issues.detect import detect_issues, group_issues
from poor_bench.issues.found_issues import Charges
from poor_bench.models.result import Result


def charge(llms: list[int], lost: list[float]) -> Charges:
    return Charges("any", range(100, 100 + len(lost)), np.array(llms, np.int32), np.array(lost))


@pytest.fixture(autouse=True, scope="module")
def few_at_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(found_issues, "_ENTRIES_AT_ONCE", 4)
        yield


@given(
    issues=st.lists(
        st.tuples(st.integers(0, 5), st.sampled_from([0.0, 0.25, 0.5, 1.0])),
        min_size=1,
        max_size=20,
    ),
    n_examples=st.integers(0, 8),
)
def test_examples_are_the_costliest_of_different_models_first(
    issues: list[tuple[int, float]], n_examples: int
) -> None:
    costly = sorted(range(len(issues)), key=lambda place: -issues[place][1])
    models = [issues[place][0] for place in costly]
    firsts = [place for at, place in enumerate(costly) if models[at] not in models[:at]]
    others = [place for place in costly if place not in firsts]
    llms, lost = (list(column) for column in zip(*issues, strict=True))
    found = charge(llms, lost).choose_examples(n_examples)
    assert found == [100 + place for place in (firsts + others)[:n_examples]]


def test_all_issues_are_not_copied() -> None:
    issues = detect_issues([Result(llm_id="a", test_id="t", score=0.0)])
    assert issues.where() is issues
    assert len(group_issues(issues.where())) == 1


def test_choosing_examples_takes_no_memory_for_each_issue() -> None:
    few, many = (charge([0, 1, 2] * n, [1.0, 0.0, 0.5] * n) for n in (100, 10_000))
    few.choose_examples(3)
    assert measure_peak(many) - measure_peak(few) < 10_000


def measure_peak(charges: Charges) -> int:
    tracemalloc.start()
    try:
        charges.choose_examples(3)
        _, peak = tracemalloc.get_traced_memory()
        return peak
    finally:
        tracemalloc.stop()
