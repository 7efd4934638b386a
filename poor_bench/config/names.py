"""Find what a user meant to write: the nearest of valid names, and the LLMs that a name means.

A name of an LLM is an id, a label, or an id that an older tool wrote into results.json, such as
`ollama:gemma3:12b:false`. A pattern may also be a glob of ids and labels.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence
from fnmatch import fnmatchcase

from poor_bench.errors import ConfigError
from poor_bench.models.llm import LLM, resolve_llm_id

_ALIKE_RATIO = 0.75
_NEAR_RATIO = 0.6
_TYPO_LENGTH_DIFFERENCE = 2


def find_nearest_name(written: str, valid: Collection[str]) -> str | None:
    """Find the valid name that is most like `written`, or None where none is.

    Example:
        >>> find_nearest_name("evaluaton_module", ["evaluation_module", "text"])
        'evaluation_module'
    """
    folded = {name.lower(): name for name in valid}
    near = difflib.get_close_matches(written.lower(), folded, n=1, cutoff=_ALIKE_RATIO)
    return folded[near[0]] if near else None


def find_misspelt_name(written: str, valid: Collection[str]) -> str | None:
    """Find the valid name that `written` surely is a misspelling of, or None.

    Example:
        >>> find_misspelt_name("overides", ["default", "overrides"])
        'overrides'
        >>> find_misspelt_name("bad_default", ["default", "overrides"]) is None
        True
    """
    near = find_nearest_name(written, valid)
    if near is None or abs(len(near) - len(written)) > _TYPO_LENGTH_DIFFERENCE:
        return None
    return near


def write_names_hint(written: str, valid: Collection[str], limit: int = 12) -> str:
    """Build a hint that names up to three names like `written`, else valid ones.

    Example:
        >>> write_names_hint("math_01", ["math_001", "code_001"])
        'nearest: `math_001`'
        >>> write_names_hint("nope", ["math_001", "code_001"])
        'known: `code_001`, `math_001`'
    """
    near = list_near_names(written, valid)
    return write_nearest_hint(near) if near else list_known_names(valid, limit)


def list_near_names(written: str, valid: Collection[str]) -> list[str]:
    """List up to three valid names like `written`, the most alike first."""
    return difflib.get_close_matches(written, valid, n=3, cutoff=_NEAR_RATIO)


def write_nearest_hint(names: Iterable[str]) -> str:
    """Make the hint that names the nearest names."""
    return "nearest: " + ", ".join(f"`{name}`" for name in names)


def name_hint(written: str, valid: Collection[str]) -> str:
    """Build a hint that names the nearest valid name, else the valid names, else nothing."""
    near = find_nearest_name(written, valid)
    if near is not None:
        return f"did you mean `{near}`?"
    return list_known_names(valid)


def list_known_names(valid: Collection[str], limit: int = 12) -> str:
    """Build a hint that lists valid names in order, at most `limit` of them."""
    if not valid:
        return ""
    names = sorted(valid)
    listed = ", ".join(f"`{name}`" for name in names[:limit])
    return f"known: {listed}" + (", ..." if len(names) > limit else "")


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
        raise make_unknown_llm_error(name, llms)
    return llm


def make_unknown_llm_error(name: str, llms: Sequence[LLM], also: Iterable[str] = ()) -> ConfigError:
    """Make the error for a name that means no LLM, or several; its hint names the nearest ids.

    Args:
        name: What the user wrote.
        llms: The LLMs of the workspace.
        also: Further names that are valid where `name` stands.
    """
    id_of = {known: llm.id for llm in llms for known in (llm.name, llm.label, llm.id) if known}
    id_of |= {known: known for known in also}
    near = dict.fromkeys(id_of[known] for known in list_near_names(name, id_of))
    listed = list_known_names(set(id_of.values())) or "llms.json lists no LLM"
    return ConfigError(f"unknown model {name!r}", hint=write_nearest_hint(near) if near else listed)


def list_names(llms: Iterable[LLM]) -> list[str]:
    """List the ids and labels of LLMs."""
    return [name for llm in llms for name in (llm.id, llm.label) if name]


def find_llms(pattern: str, llms: Sequence[LLM]) -> list[LLM]:
    """Find the LLMs that a pattern means."""
    matching = [llm for llm in llms if any(is_match(name, pattern) for name in list_names([llm]))]
    if matching:
        return matching
    llm = find_llm(pattern, llms)
    return [] if llm is None else [llm]


def find_ids(patterns: Iterable[str], llms: Sequence[LLM]) -> frozenset[str]:
    """Collect the ids of the LLMs that patterns name in full, not by a glob."""
    return frozenset(
        llm.id
        for pattern in patterns
        for llm in find_llms(pattern, llms)
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
    meant = {llm.id for llm in find_llms(pattern, llms)}
    meant.update(llm_id for llm_id in ids if is_match(llm_id, pattern))
    if not meant:
        raise make_unknown_llm_error(pattern, llms, ids)
    return frozenset(meant)


def is_match(name: str, pattern: str) -> bool:
    """True if a pattern is a name, or a glob that fits it."""
    return name == pattern or fnmatchcase(name, pattern)
