from poor_bench.models.result import Result
from poor_bench.models.test import EvaluatorSpec, Test
from poor_bench.statistics.answer_space import count_declared_answers, estimate_n_answers
from poor_bench.statistics.outcomes import collect_outcomes


def declared(**parameters: object) -> int | None:
    spec = EvaluatorSpec("any", parameters)
    return count_declared_answers(
        Test(test_id="t", class_id="c", level=1, text="x", evaluator=spec)
    )


def test_declared_answers_are_counted() -> None:
    assert declared(labels=["A", "B", "C"]) == 3
    assert declared(choices=["red", "blue"]) == 2
    assert declared(expected=True) == declared(expected="No") == 2
    assert declared(expected="42") is None
    assert count_declared_answers(None) is None


def estimate(results: list[Result]) -> int:
    outcomes = collect_outcomes(results)
    return estimate_n_answers(outcomes.given, outcomes.keys)


def test_closed_spaces_are_counted_and_open_ones_are_larger_than_seen() -> None:
    closed = [
        Result(llm_id="a", test_id=str(n), score=1.0, got=x)
        for n in range(5)
        for x in ("Yes", "no.")
    ]
    assert estimate(closed) == 2
    numbers = [Result(llm_id="a", test_id=str(n), score=0.0, got=str(n)) for n in range(30)]
    assert estimate(numbers) > 100
    assert estimate([]) == 2
