import numpy as np
import pytest

from poor_bench.models.result import Result
from poor_bench.statistics.ranking import rank_llms
from poor_bench.statistics.summarise import summarise


def read_results_of(
    scores: dict[str, np.ndarray], start: dict[str, int] | None = None
) -> list[Result]:
    return [
        Result(llm_id=llm_id, test_id=f"t{number}", score=float(score))
        for llm_id, own in scores.items()
        for number, score in enumerate(own, (start or {}).get(llm_id, 0))
        if not np.isnan(score)
    ]


def draw(easy_only: str) -> list[Result]:
    """Scores of three models on an easy and a hard half, one of them on the easy half alone."""
    difficulty = np.repeat([0.05, 0.55], 32)
    ability = {"best": 0.05, "middle": 0.0, "weak": -0.05}
    noise = np.random.default_rng(1).normal(0, 0.02, (3, 64))
    scores = {
        llm_id: 0.9 - difficulty + gain + noise[place]
        for place, (llm_id, gain) in enumerate(ability.items())
    }
    scores[easy_only][32:] = np.nan
    return read_results_of({llm_id: np.clip(own, 0, 1) for llm_id, own in scores.items()})


@pytest.mark.parametrize("easy_only", ["best", "middle", "weak"])
def test_an_llm_gains_nothing_by_easy_tests(easy_only: str) -> None:
    ranking = rank_llms(draw(easy_only))
    assert ranking.llm_ids == ("best", "middle", "weak")
    assert ranking.coverage[easy_only].text == "32 of 64 tests; no rank"
    assert not ranking.is_comparable(easy_only)
    assert ranking.adjusted[easy_only] < 0.7


def test_complete_scores_are_not_adjusted() -> None:
    ranking = rank_llms(read_results_of({"a": np.array([0.0, 1.0]), "b": np.array([1.0, 1.0])}))
    assert (ranking.llm_ids, ranking.adjusted) == (("b", "a"), {})
    assert {each.text for each in ranking.coverage.values()} == {""}


def test_complete_llms_keep_their_mean_beside_incomplete_ones() -> None:
    rng = np.random.default_rng(3)
    scores = {name: rng.random(40) for name in "abc"}
    means = {name: own.mean() for name, own in scores.items()}
    scores["c"][:10] = np.nan
    ranking = rank_llms(read_results_of(scores))
    assert [ranking.adjusted[name] for name in "ab"] == pytest.approx([means["a"], means["b"]])


def test_llms_without_common_tests_are_not_comparable() -> None:
    scores = {"a": np.full(20, 0.5), "b": np.full(20, 0.6), "apart": np.ones(21)}
    ranking = rank_llms(read_results_of(scores, {"apart": 20}))
    assert ranking.llm_ids == ("b", "a", "apart")
    assert ranking.coverage["apart"].text == "21 of 41 tests; not comparable"
    assert "apart" not in ranking.adjusted


def test_too_few_tests_give_no_place() -> None:
    few = np.where(np.arange(20) < 9, 1.0, np.nan)
    ranking = rank_llms(read_results_of({"few": few, "all": np.full(20, 0.1)}))
    assert ranking.llm_ids == ("all", "few")


def test_llms_without_a_score_and_dropped_ones_come_last() -> None:
    results = read_results_of({"fast": np.ones(4), "b": np.zeros(4)})
    failed = Result(llm_id="failed", test_id="t0", score=None)
    assert rank_llms([failed, *results]).llm_ids == ("fast", "b", "failed")
    assert rank_llms(results, dropped=["fast"]).llm_ids == ("b", "fast")
    assert rank_llms([]).llm_ids == ()


def test_rows_stand_in_order_with_their_adjusted_scores() -> None:
    results = draw("weak")
    ranking = rank_llms(results)
    rows = ranking.sort(ranking.adjust(summarise(results)))
    assert [row.group.llm_id for row in rows] == ["best", "middle", "weak"]
    assert rows[2].score.value > rows[0].score.value > rows[2].adjusted_score
