from dataclasses import asdict
from random import Random

import numpy as np
import pytest

from poor_bench.models.result import Result
from poor_bench.statistics import votes as votes_module
from poor_bench.statistics.outcomes import NO_ANSWER, PASSED, Way, collect_outcomes, find_way
from poor_bench.statistics.votes import MISSING, collect_votes, count_first_passes, count_passes


def failing(llm_id: str = "a", **fields: object) -> Result:
    return Result(**{"llm_id": llm_id, "test_id": "t", "score": 0.0, **fields})


@pytest.mark.parametrize(
    ("fields", "way"),
    [
        ({"got": " **7** "}, Way("answer", "7")),
        ({"cause": "missing_function", "details": "names `x`"}, Way("cause", "missing_function")),
        ({"details": "function `add` is missing"}, Way("cause", "missing_function")),
        ({"details": "row 3 of `x` differs"}, Way("message", "row … of … differs")),
        ({"details": "odd\nTraceback (most recent call last):\n x"}, Way("message", "odd")),
        ({"cause": "wrong_answer", "details": "wrong"}, None),
        ({"score": 0.5, "details": "case 3 is wrong"}, None),
        ({}, None),
    ],
)
def test_way_of_failing(fields: dict[str, object], way: Way | None) -> None:
    assert find_way(failing(**fields)) == way


def test_one_vote_per_model_with_a_tie_for_passing() -> None:
    results = [
        failing(got="7"),
        failing(got="7", trial=2),
        failing(score=1.0, got="8", trial=3),
        failing("b", got="7"),
        failing("b", score=1.0, got="8", trial=2),
        failing("c"),
        failing("d", test_id="other", got="1"),
    ]
    votes = collect_votes(collect_outcomes(results))
    assert votes.models == ("a", "b", "c", "d")
    assert votes.codes.tolist() == [
        [1, PASSED, NO_ANSWER, MISSING],
        [MISSING, MISSING, MISSING, 1],
    ]
    assert votes.answers == (("7",), ("1",))


def test_votes_of_a_few_tests_at_a_time_are_those_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(3)
    says = [{"got": "7"}, {"got": "8"}, {"cause": "missing_function"}, {"details": "odd"}, {}]
    results = [
        failing(rng.choice("abcd"), test_id=rng.choice("tuvw"), trial=trial, **rng.choice(says))
        for trial in range(60)
    ]
    outcomes = collect_outcomes(results)
    monkeypatch.setattr(votes_module, "_TESTS_AT_ONCE", len(outcomes.test_ids))
    whole = asdict(collect_votes(outcomes))
    monkeypatch.setattr(votes_module, "_TESTS_AT_ONCE", 1)
    parts = asdict(collect_votes(outcomes))
    for name, value in whole.items():
        assert np.array_equal(parts[name], value) if name in _TABLES else parts[name] == value


def test_first_passes_are_those_of_the_votes() -> None:
    rng = Random(5)
    for n_models, most in ((2, 5), (30, 2), (61, 1)):
        results = [
            Result(
                llm_id=f"m{rng.randrange(n_models)}",
                test_id=f"t{rng.randrange(50)}",
                trial=trial,
                score=float(rng.random() < 0.6),
                got=f"{rng.randrange(9)}",
            )
            for trial in range(4000)
        ]
        outcomes = collect_outcomes(results)
        counted, votes = count_first_passes(outcomes), collect_votes(outcomes)
        expected = count_passes(votes.trials)
        assert counted.models == votes.models
        assert counted.most == votes.trials.shape[2] == most
        assert np.array_equal(counted.n_trials, expected[0])
        assert np.array_equal(counted.n_right, expected[1])


_TABLES = ("codes", "trials", "caused")
