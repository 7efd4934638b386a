"""Whether LLMs fail a test in one and the same way."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from poor_bench.models.result import Result
from poor_bench.scoring.verdict import MAX_DETAILS
from poor_bench.statistics.item import Alike
from poor_bench.statistics.model_of import model_of

_LEAST_MODELS = 3
_TRACEBACK = re.compile(r"Traceback \(most recent call last\).*", re.DOTALL)


def failing_alike(failing: Iterable[Result]) -> Alike | None:
    """Return the answer or message that most failing LLMs share.

    Independent LLMs seldom agree on one wrong answer. Where they do, the key may be wrong; where
    they share a message (such as a function that is missing under the demanded name), the prompt
    probably does not say what the evaluator wants. A message counts only where it cost the whole
    score: that several LLMs miss the same edge case is no fault of the test.

    Args:
        failing: Scored results of one test that did not pass, of any LLMs.

    Returns:
        The most common way of failing if at least 3 different models and two thirds of the LLMs
        that fail share it; else None.
    """
    llms_by_way: dict[tuple[str, bool], set[str]] = defaultdict(set)
    models_by_way: dict[tuple[str, bool], set[str]] = defaultdict(set)
    all_llms: set[str] = set()
    for result in failing:
        all_llms.add(result.llm_id)
        way = _way_of(result)
        if way[0]:
            llms_by_way[way].add(result.llm_id)
            models_by_way[way].add(model_of(result))
    if not llms_by_way:
        return None
    way, llm_ids = max(llms_by_way.items(), key=lambda item: len(item[1]))
    if len(models_by_way[way]) < _LEAST_MODELS or 3 * len(llm_ids) < 2 * len(all_llms):
        return None
    text, is_answer = way
    return Alike(
        text=text, is_answer=is_answer, llm_ids=tuple(sorted(llm_ids)), n_failing=len(all_llms)
    )


def _way_of(result: Result) -> tuple[str, bool]:
    """Return the answer, or else the message, and which of both it is; "" where neither tells."""
    if result.got:
        return " ".join(result.got.casefold().split()), True
    if result.score:
        return "", False
    return " ".join(_TRACEBACK.sub("", result.details[:MAX_DETAILS]).split()), False
