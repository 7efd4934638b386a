"""Find what a user names on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poor_bench.cli.context import AppContext

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poor_bench.models.llm import LLM


def llm_named(app: AppContext, name: str) -> LLM:
    """Return the LLM of the workspace with an id or label, enabled or not.

    Raises:
        ConfigError: If there is none; it names the nearest.
    """
    return llm_among(app.workspace.llms, name)


def llm_among(llms: Sequence[LLM], name: str) -> LLM:
    """Return the LLM with an id or label.

    Raises:
        ConfigError: If there is none; it names the nearest.
    """
    from poor_bench.config.nearest_name import names_hint
    from poor_bench.errors import ConfigError

    chosen = [llm for llm in llms if name in {llm.id, llm.label}]
    if chosen:
        return chosen[0]
    raise ConfigError(f"there is no LLM {name!r}", hint=names_hint(name, [llm.id for llm in llms]))
