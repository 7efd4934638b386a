import math

from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.statistics.scores import build_score_table


def test_trials_are_averaged_and_failures_leave_a_gap() -> None:
    gone = Failure(kind=FailureKind.TIMEOUT, message="gone")
    table = build_score_table(
        [
            Result(llm_id="a", test_id="t1", score=1.0, trial=1),
            Result(llm_id="a", test_id="t1", score=0.0, trial=2),
            Result(llm_id="b", test_id="t2", score=1.0),
            Result(llm_id="b", test_id="t1", failure=gone),
        ]
    )
    assert (table.llm_ids, table.test_ids) == (("a", "b"), ("t1", "t2"))
    assert table.scores[0, 0] == 0.5
    assert math.isnan(table.scores[0, 1])
    assert table.n_trials.tolist() == [[2, 0], [0, 1]]
    assert table.squares.tolist() == [[0.5, 0.0], [0.0, 0.0]]


def test_no_scores_give_an_empty_table() -> None:
    assert build_score_table([]).scores.shape == (0, 0)
