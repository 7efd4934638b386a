"""Find the LLMs that a name means: the one place for filters, files and addresses.

A name is an id, a label, or an id that an older tool wrote into results.json, such as
`ollama:gemma3:12b:false`. A pattern may also be a glob of ids and labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from poor_bench.config.nearest_name import list_known_names, near_names, nearest_hint
from poor_bench.errors import ConfigError
from poor_bench.models.llm import LLM, resolve_llm_id


def find_llm(name: str, llms: Sequence[LLM]) -> LLM | None:
    """Find the LLM that a name means; None where it means none, or several."""
    labelled = [llm.id for llm in llms if llm.label == name]
    llm_id = resolve_llm_id(name, llms)
    if llm_id != name and len(labelled) == 1:
        llm_id = labelled[0]
    return next((llm for llm in llms if llm.id == llm_id), None)


def llm_named(name: str, llms: Sequence[LLM]) -> LLM:
    """Find the LLM that a name means.

    Raises:
        ConfigError: If the name means no LLM, or several; the hint names the nearest ids.
    """
    llm = find_llm(name, llms)
    if llm is None:
        raise unknown_llm(name, llms)
    return llm


def unknown_llm(name: str, llms: Sequence[LLM], also: Iterable[str] = ()) -> ConfigError:
    """Make the error for a name that means no LLM, or several; its hint names the nearest ids.

    Args:
        name: What the user wrote.
        llms: The LLMs of the workspace.
        also: Further names that are valid where `name` stands.
    """
    id_of = {known: llm.id for llm in llms for known in (llm.name, llm.label, llm.id) if known}
    id_of |= {known: known for known in also}
    near = dict.fromkeys(id_of[known] for known in near_names(name, id_of))
    listed = list_known_names(set(id_of.values())) or "llms.json lists no LLM"
    return ConfigError(f"unknown model {name!r}", hint=nearest_hint(near) if near else listed)


def list_names(llms: Iterable[LLM]) -> list[str]:
    """List the ids and labels of LLMs."""
    return [name for llm in llms for name in (llm.id, llm.label) if name]


def llms_matching(pattern: str, llms: Sequence[LLM]) -> list[LLM]:
    """Find the LLMs that a pattern means."""
    matching = [llm for llm in llms if any(is_match(name, pattern) for name in list_names([llm]))]
    if matching:
        return matching
    llm = find_llm(pattern, llms)
    return [] if llm is None else [llm]


def ids_named(patterns: Iterable[str], llms: Sequence[LLM]) -> frozenset[str]:
    """Collect the ids of the LLMs that patterns name in full, not by a glob."""
    return frozenset(
        llm.id
        for pattern in patterns
        for llm in llms_matching(pattern, llms)
        if pattern in list_names([llm]) or llm == find_llm(pattern, llms)
    )


def find_stored_ids(pattern: str, llms: Sequence[LLM], stored: Iterable[str]) -> frozenset[str]:
    """Collect the ids that a pattern means, those included that only have results.

    Args:
        pattern: What the user wrote.
        llms: The LLMs of the workspace.
        stored: The ids that have results.

    Raises:
        ConfigError: If the pattern means no LLM; the hint names the nearest ids.
    """
    ids = list(stored)
    meant = {llm.id for llm in llms_matching(pattern, llms)}
    meant.update(llm_id for llm_id in ids if is_match(llm_id, pattern))
    if not meant:
        raise unknown_llm(pattern, llms, ids)
    return frozenset(meant)


def is_match(name: str, pattern: str) -> bool:
    """Return True where a pattern is a name, or a glob that fits it."""
    return name == pattern or fnmatchcase(name, pattern)
