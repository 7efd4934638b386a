"""Which LLM of one side is compared with which of the other."""

from __future__ import annotations

from poor_bench.comparison.side import Side
from poor_bench.models.result import Result

LLMPair = tuple[str, str]
"""Id before and id after; the same for one LLM at two times."""


def llm_pairs(before: Side, after: Side) -> list[LLMPair]:
    """Return the LLMs that both sides have, each with itself; or two LLMs that were named.

    Returns:
        Pairs in the order of `after`. Different LLMs form a pair only where both sides were chosen
        as an LLM: an LLM that one side lacks is new or gone, not changed.
    """
    ids_before, ids_after = before.by_llm(), after.by_llm()
    if before.is_llm and after.is_llm:
        return list(zip(ids_before, ids_after, strict=False))
    return [(llm_id, llm_id) for llm_id in ids_after if llm_id in ids_before]


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
