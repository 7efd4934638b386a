"""Size of the answer space of tests: how many different answers could have been given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from poor_bench.extraction.normalise import fold_answer
from poor_bench.models.result import Result
from poor_bench.models.test import Test

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


def estimate_n_answers(results: Iterable[Result]) -> int:
    """Estimate how many different answers the tests of one class could get.

    Args:
        results: Scored trials of tests of one class; both keys and answers count as seen.

    Returns:
        At least 2. The lower bound of Chao 1984, "Nonparametric estimation of the number of
        classes in a population", Scandinavian Journal of Statistics 11: where nearly every answer
        is seen once, the space is much larger than what was seen.
    """
    seen: Counter[str] = Counter()
    keys = set()
    for result in results:
        if result.got:
            seen[fold_answer(result.got)] += 1
        if result.expected:
            keys.add(fold_answer(result.expected))
    once = sum(count == 1 for count in seen.values())
    twice = sum(count == 2 for count in seen.values())
    unseen = once * (once - 1) / (2 * (twice + 1))
    return max(2, len(seen.keys() | keys) + round(unseen))
