"""Find what a user names on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poor_bench.cli.context import AppContext

if TYPE_CHECKING:
    from poor_bench.models.llm import LLM


def llm_named(app: AppContext, name: str) -> LLM:
    """Find the LLM of the workspace that a name means, enabled or not.

    Raises:
        ConfigError: If the name means no LLM, or several; the hint names the nearest.
    """
    from poor_bench.config import llm_names

    return llm_names.llm_named(name, app.workspace.llms)
