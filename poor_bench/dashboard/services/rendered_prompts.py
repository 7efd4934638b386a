"""What each LLM would be asked for a test; LLMs that are asked alike stand together."""

from __future__ import annotations

from dataclasses import dataclass

from poor_bench.config.load import Workspace
from poor_bench.models.test import Test
from poor_bench.prompts.request import build_messages


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedPrompt:
    """One wording of a test."""

    system: str
    """The system prompt; empty where there is none."""
    user: str
    llm_ids: tuple[str, ...]
    """Who is asked so."""


def rendered_prompts(workspace: Workspace, test: Test) -> list[RenderedPrompt]:
    """Return the wordings of a test, the most common first."""
    test_class = workspace.test_classes[test.class_id]
    by_wording: dict[tuple[str, str], list[str]] = {}
    for llm in workspace.llms:
        *system, user = build_messages(llm, test_class, test)
        wording = "".join(message.content for message in system), user.content
        by_wording.setdefault(wording, []).append(llm.id)
    prompts = [
        RenderedPrompt(system=system_text, user=user_text, llm_ids=tuple(llm_ids))
        for (system_text, user_text), llm_ids in by_wording.items()
    ]
    return sorted(prompts, key=lambda prompt: -len(prompt.llm_ids))
