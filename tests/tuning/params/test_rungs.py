from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from poor_bench.models.test import Test
from poor_bench.tuning.sweep import FIRST_RUNG, split_into_rungs

TESTS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 3)), min_size=1, max_size=120).map(
    lambda rows: [
        Test(test_id=f"t{number}", class_id=class_id, level=level, text="?")
        for number, (class_id, level) in enumerate(rows)
    ]
)


@given(TESTS, st.integers())
def test_every_test_is_run_once(tests: list[Test], seed: int) -> None:
    ordered = [test.test_id for rung in split_into_rungs(tests, seed) for test in rung]
    assert sorted(ordered) == sorted(test.test_id for test in tests)


@given(TESTS, st.integers())
def test_each_step_but_the_last_doubles_what_was_run(tests: list[Test], seed: int) -> None:
    sizes = [len(rung) for rung in split_into_rungs(tests, seed)]
    for position, size in enumerate(sizes[:-1]):
        assert size == (sum(sizes[:position]) or FIRST_RUNG)


def test_the_first_step_mixes_classes() -> None:
    tests = [
        Test(test_id=f"{class_id}{number}", class_id=class_id, level=1, text="?")
        for class_id in "abc"
        for number in range(20)
    ]
    first = split_into_rungs(tests, seed=3)[0]
    assert Counter(test.class_id for test in first) == {"a": 2, "b": 2, "c": 2}


def test_the_order_of_the_file_does_not_matter() -> None:
    tests = [Test(test_id=str(n), class_id="c", level=1, text="?") for n in range(30)]
    assert split_into_rungs(tests, 1) == split_into_rungs(tests[::-1], 1)
