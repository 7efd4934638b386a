"""Size of the answer space of tests: how many different answers could have been given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poor_bench.models.test import Test

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]

_TRUTHS = {"true", "false"}, {"yes", "no"}


def count_declared_answers(test: Test | None) -> int | None:
    """Count the answers that a test declares itself; None where it declares none.

    Read are `labels` and `choices` of its evaluator, and keys that are one of two truth values.

    Example:
        >>> from poor_bench.models.test import EvaluatorSpec
        >>> spec = EvaluatorSpec("choice", {"choices": ["red", "green", "blue"], "expected": "A"})
        >>> count_declared_answers(Test(test_id="t", class_id="c", level=1, evaluator=spec))
        3
    """
    if test is None or test.evaluator is None:
        return None
    parameters = test.evaluator.parameters
    for name in ("labels", "choices"):
        declared: Any = parameters.get(name)
        if isinstance(declared, list | tuple) and len(declared) > 1:
            return len(declared)
    key = str(parameters.get("expected", "")).casefold()
    return 2 if any(key in truths for truths in _TRUTHS) else None


def estimate_n_answers(given: Codes, keys: Codes) -> int:
    """Estimate how many different answers the tests of one class could get.

    Args:
        given: Number of the answer of each trial, -1 for none; see `Outcomes`.
        keys: Number of the expected answer of each trial; both keys and answers count as seen.

    Returns:
        At least 2. The lower bound of Chao 1984, "Nonparametric estimation of the number of
        classes in a population", Scandinavian Journal of Statistics 11: where nearly every answer
        is seen once, the space is much larger than what was seen.
    """
    import numpy as np

    counts = np.bincount(given[given >= 0])
    once, twice = int((counts == 1).sum()), int((counts == 2).sum())
    unseen = once * (once - 1) / (2 * (twice + 1))
    seen = np.unique(np.concatenate([given, keys]))
    return max(2, int((seen >= 0).sum()) + round(unseen))
