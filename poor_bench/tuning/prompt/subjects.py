"""Resolve names to subjects of tuning."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from poor_bench.config.judge_settings import load_judge_settings
from poor_bench.config.nearest_name import name_hint
from poor_bench.errors import ConfigError
from poor_bench.judge.agent_registry import load_agent_registry
from poor_bench.judge.judgement import APPROVAL_THRESHOLD
from poor_bench.judge.run_plan import judges_of
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM
from poor_bench.tuning.prompt.agent_prompt import AgentPrompt
from poor_bench.tuning.prompt.cases import Subject
from poor_bench.tuning.prompt.class_prompt import ClassPart, ClassPrompt
from poor_bench.workspace_folder import WorkspaceFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A subject, whom its text is for, and when it is good enough."""

    subject: Subject
    llm: LLM
    threshold: float
    """Mean score, 0.0 to 1.0."""
    llms: Sequence[LLM]
    """All LLMs of the workspace, any of which can write prompts."""


def class_named(
    config: WorkspaceFolder, manager: LLMManager, llm: LLM, class_id: str, part: str
) -> Named:
    """Build the subject for a text of a test class.

    Args:
        config: The workspace.
        manager: Asks the LLM.
        llm: Whom the text is for.
        class_id: Which class.
        part: A value of `ClassPart`.

    Raises:
        ConfigError: If there is no such class or text.
    """
    classes = config.workspace.test_classes
    if class_id not in classes:
        raise ConfigError(
            f"the test class {class_id!r} does not exist", hint=name_hint(class_id, list(classes))
        )
    subject = ClassPrompt(config, manager, llm, class_id, ClassPart(part))
    return Named(subject=subject, llm=llm, threshold=1.0, llms=config.workspace.llms)


def agent_named(
    config: WorkspaceFolder, manager: LLMManager, agent_id: str, judge: str | None
) -> Named:
    """Build the subject for the system prompt of an agent.

    Args:
        config: The workspace.
        manager: Asks the LLMs.
        agent_id: Which agent.
        judge: Who judges, see `poor_bench.judge.judge_llm`; by default that of the settings.

    Raises:
        ConfigError: If there is no such agent or judge, or the judge's key is missing.
    """
    shelf = load_agent_registry(config.data_dir)
    settings = load_judge_settings(config.data_dir)
    [judge_llm] = judges_of((judge,) if judge else (), shelf, settings, os.environ)
    subject = AgentPrompt(shelf, agent_id, judge_llm, manager)
    own, general = shelf.agent(agent_id).threshold, settings.threshold
    threshold = next(value for value in (own, general, APPROVAL_THRESHOLD) if value is not None)
    llms = tuple(shelf.llms.values())
    return Named(subject=subject, llm=subject.llm, threshold=threshold / 10, llms=llms)
