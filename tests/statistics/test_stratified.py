import numpy as np
import pytest

from poor_bench.statistics.means import estimate_stratified_mean, mean_score


def test_one_class_gives_the_plain_interval() -> None:
    scores = [1.0, 0.5, 0.0, 1.0]
    stratified, plain = estimate_stratified_mean({"maths": scores}), mean_score(scores)
    assert (stratified.value, stratified.low, stratified.high) == pytest.approx(
        (plain.value, plain.low, plain.high)
    )


def test_weights_by_size_keep_the_plain_mean_with_a_narrower_interval() -> None:
    classes = {"easy": [1.0] * 28 + [0.0] * 2, "hard": [1.0] * 2 + [0.0] * 28}
    stratified = estimate_stratified_mean(classes)
    plain = mean_score([*classes["easy"], *classes["hard"]])
    assert stratified.value == pytest.approx(plain.value)
    assert stratified.margin < 0.8 * plain.margin


def test_equal_weights_give_the_mean_of_the_classes() -> None:
    estimate = estimate_stratified_mean({"a": [1.0], "b": [0.0] * 9}, {"a": 2, "b": 2})
    assert estimate.value == 0.5


def test_interval_covers_the_truth_in_about_95_of_100_samples() -> None:
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(1000):
        estimate = estimate_stratified_mean(
            {
                "a": rng.binomial(1, 0.9, 13).tolist(),
                "b": rng.beta(2, 2, 20).tolist(),
                "c": rng.binomial(1, 0.4, 30).tolist(),
            },
            {"a": 1, "b": 1, "c": 1},
        )
        covered += estimate.low <= (0.9 + 0.5 + 0.4) / 3 <= estimate.high
    assert 0.93 <= covered / 1000 <= 0.98


def test_interval_covers_where_groups_span_classes() -> None:
    rng = np.random.default_rng(5)
    names = [str(place // 4) for place in range(40)]
    hits = np.zeros(2)
    for _ in range(400):
        ability = np.repeat(rng.beta(1.4, 0.6, 10), 4)
        scores = {name: (rng.random(40) < ability).astype(float).tolist() for name in ("de", "fr")}
        together = estimate_stratified_mean(scores, groups_by_class={"de": names, "fr": names})
        alone = estimate_stratified_mean(scores)
        hits += [estimate.low <= 0.7 <= estimate.high for estimate in (together, alone)]
    assert 0.92 <= hits[0] / 400 <= 0.99
    assert hits[1] / 400 < 0.85


@pytest.mark.parametrize(
    ("classes", "weights", "message"),
    [
        ({"a": [1.0]}, {"b": 1}, "no weight for a"),
        ({"a": [1.0]}, {"a": 0}, "not all 0"),
        ({"a": [1.0], "b": [1.0]}, {"a": 2, "b": -1}, "at least 0"),
        ({}, None, "not all 0"),
        ({"a": [1.0], "b": []}, {"a": 1, "b": 1}, "at least one score"),
    ],
)
def test_impossible_weights_are_refused(classes: dict, weights: dict | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        estimate_stratified_mean(classes, weights)
