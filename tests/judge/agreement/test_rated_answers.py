from __future__ import annotations

import pytest

from poor_bench.judge.rated_answers import (
    collect_judged_answers,
    collect_rated_items,
    measure_evaluators,
    write_evaluator_figures,
)
from poor_bench.labels.ratings import group_ratings
from poor_bench.models.test import Test
from tests.labels.builders import answer, rating

TESTS = {
    name: Test(test_id=name, class_id=class_id, level=1, text="?")
    for name, class_id in (("t", "maths"), ("u", "maths"), ("v", "code"))
}


def test_the_same_words_count_once_with_the_mean_of_their_scores() -> None:
    results = [answer(score=1.0), answer(score=0.0, llm_id="b"), answer("red")]
    items = collect_rated_items(results, group_ratings([rating(0.5), rating(0.7, who="Ben")]))
    [item] = items.values()
    assert (item.judge, item.length) == (5.0, 4)
    assert item.humans == pytest.approx({"Ann": 5.0, "Ben": 7.0})


def test_agreement_is_measured_per_class_and_missing_where_ratings_are_few() -> None:
    maths = [answer(f"m{n}", score=float(n % 2), test_id="t") for n in range(6)]
    code = [answer("c", score=1.0, test_id="v")]
    gone = [answer("g", score=1.0, test_id="gone")]
    labels = [rating(result.score, result) for result in (*maths[1:], *code, *gone)]
    labels.append(rating(1.0, maths[0]))
    measured = measure_evaluators([*maths, *code, *gone], group_ratings(labels), TESTS)
    assert [(each.class_id, each.n, each.n_disputed) for each in measured] == [
        ("", 7, 1),
        ("maths", 6, 1),
        ("code", 1, 0),
    ]
    share = measured[1].same_verdict
    assert share is not None
    assert (share.value, share.n) == (5 / 6, 6)
    assert share.low < 5 / 6 < share.high
    assert write_evaluator_figures(measured[2]) == {
        "Class": "code",
        "Answers rated": "1",
        "People": "1",
        "Same verdict": "n/a",
        "Weighted kappa": "n/a",
        "Evaluator minus people": "n/a",
        "Disputed": "0",
    }


def test_ratings_of_words_only_and_failures_count_nothing() -> None:
    labels = [rating(None, answer(), note="odd")]
    assert measure_evaluators([answer()], group_ratings(labels), TESTS) == []


def test_ratings_are_labels_of_the_models_that_judge_responses() -> None:
    judged = answer("a poem", score=0.4, judgement={"judge": "ollama:judge", "samples": []})
    ratings = group_ratings([rating(1.0, judged), rating(0.0)])
    found = collect_judged_answers([judged, answer()], ratings)
    assert {
        judge: [(item.judge, item.human) for item in items] for judge, items in found.items()
    } == {"ollama:judge": [(4.0, 10.0)]}
