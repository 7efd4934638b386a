"""Ranks as ranges, and tie groups of LLMs that do not differ significantly."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

_LETTERS = 26


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRange:
    """The ranks that an LLM may truly have, 1 being the best."""

    llm_id: str
    best: int
    worst: int


def rank_ranges(llm_ids: Sequence[str], better: Collection[tuple[str, str]]) -> list[RankRange]:
    """Return the ranks that the established differences leave open.

    Args:
        llm_ids: The LLMs, in the order in which the ranges are wanted.
        better: Pairs (winner, loser) whose difference is established for all pairs together.

    Returns:
        One range per LLM. All of them hold together with the confidence of the pairs.

    Source:
        Mogstad, Romano, Shaikh and Wilhelm 2024, "Inference for Ranks with Applications to
        Mobility across Neighbourhoods and Academic Achievement across Countries", Review of
        Economic Studies 91.

    Example:
        >>> rank_ranges(["a", "b", "c"], [("a", "c")])[1]
        RankRange(llm_id='b', best=1, worst=3)
    """
    return [
        RankRange(
            llm_id=llm_id,
            best=1 + sum(loser == llm_id for _, loser in better),
            worst=len(llm_ids) - sum(winner == llm_id for winner, _ in better),
        )
        for llm_id in llm_ids
    ]


def tie_groups(
    llm_ids: Sequence[str], better: Collection[tuple[str, str]]
) -> list[tuple[str, ...]]:
    """Return the largest groups of LLMs of which no two can be told apart.

    An LLM may stand in several groups: `a` and `b` may be tied, `b` and `c` too, and `a` and `c`
    not. LLMs without a common group differ.

    Args:
        llm_ids: The LLMs, best first.
        better: Pairs (winner, loser) whose difference is established.

    Returns:
        Groups in the order of their best members, members in the order of `llm_ids`.

    Source:
        Piepho 2004, "An algorithm for a letter-based representation of all-pairwise comparisons",
        Journal of Computational and Graphical Statistics 13 (insert and absorb).

    Example:
        >>> tie_groups(["a", "b", "c"], [("a", "c")])
        [('a', 'b'), ('b', 'c')]
    """
    groups = [frozenset(llm_ids)] if llm_ids else []
    for pair in better:
        groups = _without_contained(
            [part for group in groups for part in _split(group, frozenset(pair))]
        )
    ordered = [tuple(llm_id for llm_id in llm_ids if llm_id in group) for group in groups]
    place = {llm_id: index for index, llm_id in enumerate(llm_ids)}
    return sorted(ordered, key=lambda group: [place[llm_id] for llm_id in group])


def _split(group: frozenset[str], pair: frozenset[str]) -> list[frozenset[str]]:
    if not pair <= group:
        return [group]
    return [group - {llm_id} for llm_id in pair]


def _without_contained(groups: list[frozenset[str]]) -> list[frozenset[str]]:
    kept: list[frozenset[str]] = []
    for group in sorted(groups, key=len, reverse=True):
        if not any(group <= other for other in kept):
            kept.append(group)
    return kept


def tie_letters(groups: Sequence[Sequence[str]]) -> dict[str, str]:
    """Return the names of the tie groups that each LLM stands in: a, ..., z, aa, ab, ...

    Names are put together without a comma as long as each has one letter.

    Args:
        groups: LLM ids of each group, the best group first.

    Source:
        Piepho 2004, "An algorithm for a letter-based representation of all-pairwise comparisons",
        Journal of Computational and Graphical Statistics 13.

    Example:
        >>> tie_letters([("x", "y"), ("y",)])
        {'x': 'a', 'y': 'ab'}
    """
    names: dict[str, list[str]] = {}
    for number, group in enumerate(groups):
        for llm_id in group:
            names.setdefault(llm_id, []).append(_group_name(number))
    between = "," if len(groups) > _LETTERS else ""
    return {llm_id: between.join(of_llm) for llm_id, of_llm in names.items()}


def _group_name(number: int) -> str:
    """Return the name of a group, as a spreadsheet names its columns."""
    earlier, place = divmod(number, _LETTERS)
    return (_group_name(earlier - 1) if earlier else "") + chr(ord("a") + place)
