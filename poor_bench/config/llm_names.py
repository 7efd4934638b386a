"""Find the LLM that a name means: the one place for filters, files and addresses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from poor_bench.config.nearest_name import names_hint
from poor_bench.errors import ConfigError
from poor_bench.models.llm import LLM
from poor_bench.models.llm_id import resolve_llm_id


def find_llm(name: str, llms: Sequence[LLM]) -> LLM | None:
    """Find the LLM with an id, a label, or an id that an older tool wrote into results.json.

    Args:
        name: Such as `ollama:gemma3:12b` or `ollama:gemma3:12b:false`.
        llms: The LLMs of the workspace.

    Returns:
        The LLM; None where the name means none or several of them.
    """
    for llm in llms:
        if llm.id == name:
            return llm
    labelled = [llm for llm in llms if llm.label == name]
    if labelled:
        return labelled[0]
    llm_id = resolve_llm_id(name, llms)
    return next((llm for llm in llms if llm.id == llm_id), None)


def llm_named(name: str, llms: Sequence[LLM]) -> LLM:
    """Find the LLM that a name means, as `find_llm`.

    Raises:
        ConfigError: If no single LLM is meant; the hint names the nearest ids.
    """
    llm = find_llm(name, llms)
    if llm is None:
        raise unknown_llm(name, llms)
    return llm


def unknown_llm(name: str, llms: Sequence[LLM], also: Iterable[str] = ()) -> ConfigError:
    """Make the error for a name that means no LLM or several; its hint names the nearest ids.

    Args:
        name: What the user wrote.
        llms: The LLMs of the workspace.
        also: Further names that are valid where `name` was given.
    """
    names = [name for llm in llms for name in (llm.id, llm.label) if name]
    hint = names_hint(name, dict.fromkeys([*names, *also])) or "llms.json lists no LLM"
    return ConfigError(f"unknown LLM {name!r}", hint=hint)
