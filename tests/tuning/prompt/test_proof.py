from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.tuning.prompt.report import LEAST_TO_PROVE, prove

PERCENT = st.integers(0, 100)
SCORES = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=40)


def proof_of(pairs: list[tuple[float, float]]) -> object:
    base = {str(number): old for number, (old, _) in enumerate(pairs)}
    return prove(base, {str(number): new for number, (_, new) in enumerate(pairs)})


@given(SCORES)
def test_swapping_the_prompts_swaps_the_gain(pairs: list[tuple[float, float]]) -> None:
    there = proof_of(pairs)
    back = proof_of([(new, old) for old, new in pairs])
    assert there.gain.value == pytest.approx(-back.gain.value)
    assert there.gain.low == pytest.approx(-back.gain.high)
    assert (there.n_better, there.n_worse) == (back.n_worse, back.n_better)


def test_a_gain_on_few_tests_is_not_proven() -> None:
    proof = proof_of([(0.0, 1.0), (0.0, 1.0), (1.0, 1.0)])
    assert not proof.is_proven
    assert proof.sentence.startswith("No significant difference: +0.667")


def test_the_largest_gain_is_proven_from_the_least_number_of_tests_on() -> None:
    largest = (0.0, 1.0)
    assert proof_of([largest] * LEAST_TO_PROVE).is_proven
    too_few = proof_of([largest] * (LEAST_TO_PROVE - 1))
    assert not too_few.is_proven
    assert too_few.sentence.endswith("The held-out tests are too few.")


@given(st.lists(st.tuples(PERCENT, PERCENT), min_size=1, max_size=4))
def test_no_gain_is_proven_on_fewer_tests(pairs: list[tuple[int, int]]) -> None:
    assert not proof_of([(old / 100, new / 100) for old, new in pairs]).is_proven


def test_cases_of_one_group_prove_as_much_as_their_group() -> None:
    pairs = [(0.0, 1.0)] * 6 + [(0.5, 0.5)] * 6
    base = {str(number): old for number, (old, _) in enumerate(pairs)}
    new = {str(number): score for number, (_, score) in enumerate(pairs)}
    assert prove(base, new).is_proven
    grouped = prove(base, new, {case_id: str(int(case_id) // 3) for case_id in base})
    assert not grouped.is_proven
    assert grouped.sentence.endswith(
        "on 12 held-out tests in 4 groups. The held-out tests are too few."
    )


def test_a_loss_is_called_a_loss() -> None:
    sentence = proof_of([(1.0, 0.0)] * 12).sentence
    assert sentence.startswith("The new prompt is significantly worse: -1.000")


def test_only_cases_that_both_were_tried_on_count() -> None:
    proof = prove({"a": 0.0, "b": 1.0}, {"b": 1.0, "c": 0.0})
    assert proof.gain.n == 1
    assert proof.mean_base == 1.0
