"""The mean score over test classes, each with a weight of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from poor_bench.statistics.estimate import Estimate
from poor_bench.statistics.mean_score import mean_score


def stratified_mean(
    scores_by_class: Mapping[str, Sequence[float]], weights: Mapping[str, float] | None = None
) -> Estimate:
    """Return the weighted mean of the classes' mean scores with its 95 % interval.

    What differs between classes is no uncertainty, because the classes were chosen: the interval
    is narrower than that of the plain mean over the same tests.

    Args:
        scores_by_class: Class to its tests' scores, each 0.0 to 1.0, at least one per class.
        weights: Class to its weight, at least 0 and not all 0; by default each class weighs as
            many tests as it has. Equal weights answer "how good is it at my kinds of task".

    Returns:
        Mean and interval within 0.0 to 1.0; `n` is the number of tests.

    Raises:
        ValueError: If there is no class, a class has no weight, or a number is out of range.

    Source:
        Zou and Donner 2008, "Construction of confidence limits about effect measures", Statistics
        in Medicine 27 (limits of the parts give limits of the sum); with Wilson's limits Yan and
        Su 2010, Statistics in Biopharmaceutical Research 2.

    Example:
        >>> scores = {"maths": [1.0, 1.0], "code": [0.0]}
        >>> estimate = stratified_mean(scores, weights={"maths": 1, "code": 1})
        >>> estimate.value, estimate.n
        (0.5, 3)
    """
    if weights is None:
        weights = {name: len(scores) for name, scores in scores_by_class.items()}
    shares = _shares(weights, scores_by_class)
    parts = [(shares[name], mean_score(scores)) for name, scores in scores_by_class.items()]
    value = math.fsum(share * part.value for share, part in parts)
    below = math.sqrt(math.fsum((share * (part.value - part.low)) ** 2 for share, part in parts))
    above = math.sqrt(math.fsum((share * (part.high - part.value)) ** 2 for share, part in parts))
    return Estimate(
        value=value,
        low=max(0.0, value - below),
        high=min(1.0, value + above),
        n=sum(part.n for _, part in parts),
    )


def _shares(
    weights: Mapping[str, float], scores_by_class: Mapping[str, Sequence[float]]
) -> dict[str, float]:
    missing = sorted(scores_by_class.keys() - weights.keys())
    if missing:
        raise ValueError(f"no weight for {', '.join(missing)}")
    total = math.fsum(weights[name] for name in scores_by_class)
    if not total > 0 or any(weights[name] < 0 for name in scores_by_class):
        raise ValueError("weights must be at least 0 and not all 0")
    return {name: weights[name] / total for name in scores_by_class}
