"""Which models the page shows, in which groups, and which ones stand together as "others"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from poor_bench.models.llm import base_model_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from poor_bench.models.llm import LLM

GROUPINGS = {
    "": "No groups",
    "provider": "By provider",
    "size": "By size",
    "base": "By base model",
}
"""Value in the address, and how it is called."""
TOPS = {"10": "Top 10", "": "Top 20", "50": "Top 50", "all": "All models"}
"""Value in the address, and how it is called."""
_TOP = 20
_SIZES = ((1.0, "under 1 B"), (4.0, "1 to 4 B"), (10.0, "4 to 10 B"), (40.0, "10 to 40 B"))
_LARGE, _UNKNOWN = "40 B and more", "size unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownModels:
    """Models that the search finds, best first.

    Attributes:
        groups: Name and models of each group, in the order of their best models; one group
            without a name where models are not grouped.
        others: Models that have no line or point of their own.
    """

    groups: tuple[tuple[str, tuple[str, ...]], ...]
    others: tuple[str, ...] = ()

    @property
    def llm_ids(self) -> list[str]:
        """All models with a line of their own."""
        return [llm_id for _, llm_ids in self.groups for llm_id in llm_ids]

    @property
    def group_of(self) -> dict[str, str]:
        """Model to the name of its group."""
        return {llm_id: name for name, llm_ids in self.groups for llm_id in llm_ids}


def find_models(llm_ids: Sequence[str], text: str, name_of: Callable[[str], str]) -> list[str]:
    """Find the models whose id or name has all words of a text."""
    words = text.casefold().split()
    return [
        llm_id
        for llm_id in llm_ids
        if all(word in f"{llm_id} {name_of(llm_id)}".casefold() for word in words)
    ]


def show_models(
    llm_ids: Sequence[str], grouping: str, top: str, llms: Mapping[str, LLM]
) -> ShownModels:
    """Group models, and set apart those behind the first ones.

    Args:
        llm_ids: Best first.
        grouping: A key of `GROUPINGS`; others mean no groups.
        top: How many models have a line of their own: a key of `TOPS`.
        llms: Those that are configured, by id.
    """
    n_shown = len(llm_ids) if top == "all" else int(top) if top in TOPS and top else _TOP
    if len(llm_ids) <= n_shown + 1:
        n_shown = len(llm_ids)  # a line for one other would save none
    groups: dict[str, list[str]] = {}
    for llm_id in llm_ids[:n_shown]:
        groups.setdefault(_group(llm_id, llms.get(llm_id), grouping), []).append(llm_id)
    return ShownModels(
        groups=tuple((name, tuple(found)) for name, found in groups.items()),
        others=tuple(llm_ids[n_shown:]),
    )


def _group(llm_id: str, llm: LLM | None, grouping: str) -> str:
    provider, _, name = llm_id.partition(":")
    if grouping == "provider":
        return llm.provider if llm else provider
    if grouping == "size":
        return _size_class(llm.size if llm else None)
    if grouping == "base":
        return base_model_name(llm.name if llm else name)
    return ""


def _size_class(size: float | None) -> str:
    if size is None:
        return _UNKNOWN
    return next((name for limit, name in _SIZES if size < limit), _LARGE)
