import tracemalloc
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.models.test import EvaluatorSpec, Test
from poor_bench.statistics import item_faults, items, votes
from poor_bench.statistics.items import (
    Item,
    ItemFinding,
    analyse_items,
    analyse_outcomes,
    analyse_tests,
)
from poor_bench.statistics.outcomes import NO_ANSWER, Outcomes, Way, collect_outcomes

LLMS = "abcdefgh"


def items_of(scores: Mapping[str, Sequence[float]]) -> dict[str, Item]:
    results = [
        Result(llm_id=llm_id, test_id=test_id, score=float(score), details=f"{llm_id} says so")
        for test_id, row in scores.items()
        for llm_id, score in zip(LLMS, row, strict=False)
    ]
    return {item.test_id: item for item in analyse_items(results)}


def test_flakiness_is_the_mean_flip_rate_of_llms_with_several_trials() -> None:
    trials = [("a", 1), ("a", 0), ("b", 1), ("b", 1), ("c", 0)]
    results = [
        Result(llm_id=llm, test_id="t", trial=number, score=float(score))
        for number, (llm, score) in enumerate(trials)
    ]
    [item] = analyse_items(results)
    assert (item.flip_rate, item.n_repeated, item.n_llms) == (0.5, 2, 3)
    [once] = analyse_items(results[-1:])
    assert (once.flip_rate, once.n_repeated) == (None, 0)


def test_columns_of_files_are_given_back_before_abilities_are_fitted_and_after_each_class(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[str] = []
    fit = item_faults.fit_counts

    def note_fit(*counts: Any) -> Any:
        done.append("fit")
        return fit(*counts)

    monkeypatch.setattr(item_faults, "fit_counts", note_fit)
    results = [Result(llm_id=llm, test_id=name, score=0.0) for llm in LLMS for name in "tu"]
    tests = {name: Test(test_id=name, class_id=name, level=1, text="") for name in "tu"}
    outcomes = collect_outcomes(results)
    analyse_outcomes(replace(outcomes, release=lambda: done.append("release")), tests)
    assert done[-4:] == ["release", "fit", "release", "release"]


def test_classes_are_told_apart_in_a_few_bytes_for_each_trial() -> None:
    n = 200_000
    codes, tests = np.zeros(n, dtype=np.int32), np.arange(n, dtype=np.int32) % 100
    names = tuple(f"t{number}" for number in range(100))
    outcomes = Outcomes(
        llm_ids=("a",), test_ids=names, models=("a",), ways=(), llms=codes, tests=tests,
        of_models=codes, scores=np.zeros(n), endings=codes, given=codes, keys=codes,
    )  # fmt: skip
    known = {
        name: Test(test_id=name, class_id=str(number % 10), level=1, text="")
        for number, name in enumerate(names)
    }
    tracemalloc.start()
    sizes = [len(picked.tests) for picked in item_faults._split_by_class(outcomes, known)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sizes == [n // 10] * 10
    assert peak < 11 * n, peak / n


@pytest.fixture
def votes_of_many_models() -> votes.Votes:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 6, (40, 60), dtype=np.int32)
    caused = np.where(codes == 5, np.int32(1), np.int32(0))
    return votes.Votes(
        test_ids=tuple(f"t{number}" for number in range(40)),
        models=tuple(f"m{number}" for number in range(60)),
        codes=np.where(caused, NO_ANSWER, codes),
        trials=np.where(caused, NO_ANSWER, codes)[:, :, None],
        caused=caused,
        answers=(("a", "b", "c", "d"),) * 40,
        causes=(Way("cause", "timeout"),),
    )


def test_tests_are_weighed_alike_in_blocks_and_at_once(
    votes_of_many_models: votes.Votes, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_class = votes_of_many_models, [9] * 40
    known = dict.fromkeys(votes_of_many_models.models, 0.0)
    at_once = item_faults._weigh_class(known, of_class)
    monkeypatch.setattr(votes, "_CELLS_AT_ONCE", 7 * 60)
    in_blocks = item_faults._weigh_class(known, of_class)
    assert [replace(each, p_value=0.0) for each in in_blocks.values()] == [
        replace(each, p_value=0.0) for each in at_once.values()
    ]
    p_values = [[each.p_value for each in found.values()] for found in (in_blocks, at_once)]
    assert p_values[0] == pytest.approx(p_values[1])


def test_simulated_tests_of_many_models_take_few_tables_of_all_trials(
    votes_of_many_models: votes.Votes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(votes, "_CELLS_AT_ONCE", 100 * 60)
    n_drawn = 4_000
    monkeypatch.setattr(item_faults, "_LEAST_DRAWN", n_drawn)
    known = dict.fromkeys(votes_of_many_models.models, 0.0)
    tracemalloc.start()
    item_faults._weigh_class(known, (votes_of_many_models, [9] * 40))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * 8 * n_drawn * 60, peak / (8 * n_drawn * 60)


def test_abilities_take_counts_of_trials_and_no_votes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(item_faults, "collect_votes")
    results = [Result(llm_id=llm, test_id="t", score=float(llm < "c")) for llm in LLMS]
    abilities, most = item_faults._estimate_abilities(collect_outcomes(results))
    assert abilities["a"] > abilities["h"]
    assert most == 1


def test_trials_are_freed_before_the_fit_that_does_without_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = [collect_outcomes([Result(llm_id=llm, test_id="t", score=0.0) for llm in LLMS])]
    scores, is_free = weakref.ref(held[0].scores), []

    def note_fit(_: object) -> None:
        is_free.append(scores() is None)

    monkeypatch.setattr(items, "fit_item_response", note_fit)
    analyse_tests(held.pop(), {})
    assert is_free == [True]


def test_difficulty_is_a_mean_over_llms_not_trials() -> None:
    trials = [Result(llm_id="a", test_id="t", score=0.0, trial=n) for n in range(1, 5)]
    [item] = analyse_items([*trials, Result(llm_id="b", test_id="t", score=1.0)])
    assert (item.mean_score, item.pass_rate, item.n_llms) == (0.5, 0.5, 2)


def test_nobody_and_everybody_passing_are_found() -> None:
    items = items_of({"hard": [0, 0.9, 0], "easy": [1, 1, 1], "fair": [1, 0, 0]})
    assert items["hard"].findings == (ItemFinding.NOBODY_PASSES,)
    assert items["easy"].findings == (ItemFinding.EVERYBODY_PASSES,)
    assert items["fair"].findings == ()
    assert not any(item.is_suspicious for item in items.values())


def test_two_llms_are_too_few_for_a_verdict() -> None:
    assert items_of({"t": [0, 0]})["t"].findings == ()


def test_a_test_that_good_llms_fail_favours_the_weak() -> None:
    scores = {f"t{n}-{copy}": [1] * (8 - n) + [0] * n for n in range(1, 8) for copy in range(4)}
    items = items_of({**scores, "odd": [0, 0, 0, 0, 1, 1, 1, 1]})
    assert items["odd"].findings == (ItemFinding.FAVOURS_THE_WEAK,)
    assert [item.test_id for item in items.values() if item.is_suspicious] == ["odd"]
    assert items["t4-0"].discrimination.value > 0.6


def test_discrimination_leaves_the_test_itself_out() -> None:
    scores = np.random.default_rng(1).random((6, 8))
    items = items_of({f"t{n}": row for n, row in enumerate(scores)})
    expected = np.corrcoef(scores[2], np.delete(scores, 2, axis=0).mean(axis=0))[0, 1]
    assert np.isclose(items["t2"].discrimination.value, expected)


def test_failures_are_left_out() -> None:
    gone = Failure(kind=FailureKind.TIMEOUT, message="gone")
    assert analyse_items([Result(llm_id="a", test_id="t", failure=gone)]) == []


def test_class_and_level_come_from_the_tests() -> None:
    test = Test(test_id="t", class_id="maths", level=3, text="1+1")
    results = [Result(llm_id="a", test_id=name, score=1.0) for name in ("t", "old")]
    known, unknown = analyse_items(results, {"t": test})
    assert (known.class_id, known.level) == ("maths", 3)
    assert (unknown.class_id, unknown.level) == ("", 0)


def answers(test_id: str, *given: str, key: str, **fields: object) -> list[Result]:
    """What models a, b, ... answer to a test with a key."""
    return [
        Result(
            llm_id=llm_id, test_id=test_id, score=float(got == key), got=got, expected=key, **fields
        )
        for llm_id, got in zip(LLMS, given, strict=False)
    ]


def sound_numbers() -> list[Result]:
    """Thirty sound tests whose wrong answers differ."""
    return [
        result
        for n in range(30)
        for result in answers(
            f"s{n}",
            *(str(n) if n % 8 >= place else f"{n}{place}1" for place in range(8)),
            key=str(n),
        )
    ]


def test_common_wrong_answer_is_found_where_answers_are_many() -> None:
    odd = answers("odd", *["42"] * 8, key="41")
    found = {item.test_id: item for item in analyse_items([*sound_numbers(), *odd])}
    assert [item.test_id for item in found.values() if item.is_suspicious] == ["odd"]
    assert found["odd"].alike.text == "42"
    assert found["odd"].suspicion == (
        "nobody passes; all fail alike; 8 of 8 that fail share the answer '42'"
    )


def test_one_model_asked_in_many_ways_has_one_vote() -> None:
    odd = answers("odd", *["42"] * 7, "41", key="41", model_digest="sha256:1")
    items = analyse_items([*sound_numbers(), *odd])
    assert not any(item.is_suspicious for item in items)


def test_trials_of_a_model_are_one_vote() -> None:
    once = answers("odd", *["41"] * 6, "42", "42", key="41")
    many = [replace(result, trial=n) for n in range(1, 10) for result in once]
    items = analyse_items([*sound_numbers(), *many])
    assert not any(item.is_suspicious for item in items)


def test_a_shared_wrong_answer_means_nothing_where_only_two_answers_exist() -> None:
    rng = np.random.default_rng(1)
    results = []
    for n in range(40):
        right = rng.random(8) < np.linspace(0.95, 0.55, 8)
        results += answers(f"s{n}", *("yes" if is_right else "no" for is_right in right), key="yes")
    assert sum(item.is_suspicious for item in analyse_items(results)) <= 1


def test_causes_are_shared_whatever_the_message_names() -> None:
    easy = [Result(llm_id=x, test_id=f"t{n}", score=1.0) for x in LLMS for n in range(9)]
    unfair = [
        Result(
            llm_id=x,
            test_id="unfair",
            score=0.0,
            cause="missing_function",
            details=f"missing function `add`: the code defines `sum_{x}`",
        )
        for x in LLMS[:5]
    ]
    [item] = [item for item in analyse_items([*easy, *unfair]) if item.is_suspicious]
    assert (item.test_id, item.alike.text, item.alike.is_answer) == (
        "unfair",
        "missing_function",
        False,
    )
    assert item.alike.llm_ids == ("a", "b", "c", "d", "e")


def test_a_message_that_every_failure_gets_says_nothing() -> None:
    rng = np.random.default_rng(2)
    rows = {f"t{n}": rng.random(8) < rng.random() for n in range(30)}
    results = [
        Result(llm_id=x, test_id=test_id, score=float(right), details="" if right else "wrong")
        for test_id, row in rows.items()
        for x, right in zip(LLMS, row, strict=True)
    ]
    assert not any(item.alike for item in analyse_items(results))


def test_nothing_is_said_against_a_test_by_chance() -> None:
    items = items_of({"hard": [0, 0.9, 0], "easy": [1, 1, 1]})
    assert {item.suspicion for item in items.values()} == {""}


def test_pass_mark_decides_what_passes() -> None:
    results = [Result(llm_id=x, test_id="t", score=0.8) for x in "abc"]
    [item] = analyse_items(results, pass_score=0.8)
    assert item.findings == (ItemFinding.EVERYBODY_PASSES,)


def test_a_model_that_fails_everywhere_for_a_cause_hides_no_unfair_test() -> None:
    missing = {"score": 0.0, "cause": "missing_function"}
    results = [
        Result(llm_id=x, test_id=f"t{n}", **(missing if x in blamed else {"score": 1.0}))
        for n, blamed in enumerate(["h"] * 20 + ["abh", "cdeh"])
        for x in LLMS
    ]
    suspicious = [item.test_id for item in analyse_items(results) if item.is_suspicious]
    assert suspicious == ["t20", "t21"]


def test_able_models_whose_trials_switch_between_two_answers_are_evidence() -> None:
    rng = np.random.default_rng(2)
    results = []
    for n in range(40):
        for trial in range(3):
            right = rng.random(8) < (0.5 if n == 0 else np.linspace(0.85, 0.99, 8))
            given = ("yes" if is_right else "no" for is_right in right)
            results += answers(f"t{n}", *given, key="yes", trial=trial)
    [item] = [item for item in analyse_items(results) if item.is_suspicious]
    assert (item.test_id, item.findings) == ("t0", (ItemFinding.TWO_ANSWERS,))


def test_hard_sound_tests_whose_models_repeat_their_mistakes_are_not_suspicious() -> None:
    rng = np.random.default_rng(7)
    results, tests = [], {}
    for n in range(100):
        tempting = rng.dirichlet([0.5] * 3)
        chance = 1 / (1 + np.exp(rng.normal() - np.linspace(-0.6, 0.6, 8)))
        habits = rng.choice(list("BCD"), p=tempting, size=8)
        spec = EvaluatorSpec("choice", {"labels": list("ABCD")})
        tests[f"t{n}"] = Test(test_id=f"t{n}", class_id="c", level=1, evaluator=spec)
        for trial in range(3):
            wrong = np.where(
                rng.random(8) < 0.7, habits, rng.choice(list("BCD"), p=tempting, size=8)
            )
            given = np.where(rng.random(8) < chance, "A", wrong).tolist()
            results += answers(f"t{n}", *given, key="A", trial=trial)
    assert sum(item.is_suspicious for item in analyse_items(results, tests)) <= 2
