"""Which LLM of one side is compared with which of the other."""

from __future__ import annotations

from poor_bench.comparison.side import Side
from poor_bench.models.result import Result

LLMPair = tuple[str, str]
"""Id before and id after; the same for one LLM at two times."""


def llm_pairs(before: Side, after: Side) -> list[LLMPair]:
    """Return the LLMs that both sides have, each with itself, or the only one of each side.

    Returns:
        Pairs in the order of `after`; empty where the sides have no LLM in common and one of
        them has several.
    """
    ids_before, ids_after = before.by_llm(), after.by_llm()
    if not (before.is_llm and after.is_llm):
        common = [llm_id for llm_id in ids_after if llm_id in ids_before]
        if common:
            return [(llm_id, llm_id) for llm_id in common]
    if len(ids_before) == 1 and len(ids_after) == 1:
        return [(next(iter(ids_before)), next(iter(ids_after)))]
    return []


def llms_apart(before: Side, after: Side) -> tuple[list[str], list[str]]:
    """Return the LLMs of each side that are compared with nothing."""
    pairs = llm_pairs(before, after)
    compared_before = {llm_id for llm_id, _ in pairs}
    compared_after = {llm_id for _, llm_id in pairs}
    return (
        [llm_id for llm_id in before.by_llm() if llm_id not in compared_before],
        [llm_id for llm_id in after.by_llm() if llm_id not in compared_after],
    )


def by_test(results: list[Result]) -> dict[str, list[Result]]:
    """Return the results of each test, in the order in which the tests first appear."""
    grouped: dict[str, list[Result]] = {}
    for result in results:
        grouped.setdefault(result.test_id, []).append(result)
    return grouped
