"""LLMs as options of a select box."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from poor_bench.dashboard.components.choice import options_of


def llm_options(
    llm_ids: Iterable[str], chosen: Iterable[str], name_of: Callable[[str], str]
) -> list[dict[str, str]]:
    """Return LLMs that can be chosen.

    Args:
        llm_ids: Those that have results.
        chosen: Those that are chosen now; a box forgets what it cannot offer, such as an LLM whose
            results are gone for a moment.
        name_of: Returns what screens call an LLM.
    """
    names = dict.fromkeys((*llm_ids, *chosen))
    return options_of((llm_id, name_of(llm_id)) for llm_id in names)
