"""Places of tuned texts in the workspace, and how to replace them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from poor_bench.config.edit_yaml import change_agent_prompt
from poor_bench.errors import ConfigError
from poor_bench.judge.agent_registry import load_agent_registry
from poor_bench.tuning.prompt.class_prompt import ClassPart
from poor_bench.workspace_folder import WorkspaceFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One text of the workspace."""

    text: str
    """As it is."""
    write: Callable[[str], None]
    """Puts another there; raises ConfigError, and leaves the file untouched, if it cannot."""


def place_of(reference: Mapping[str, str], config: WorkspaceFolder) -> Place:
    """Find the place of a subject.

    Args:
        reference: As `Subject.reference`.
        config: The workspace.

    Raises:
        ConfigError: If it is not in the workspace any more.
    """
    if reference["kind"] == "agent":
        agent_id = reference["agent_id"]
        agent = load_agent_registry(config.data_dir).agent(agent_id)
        write = partial(change_agent_prompt, config.data_dir, agent_id)
        return Place(text=agent.system_prompt, write=write)
    class_id = reference["class_id"]
    test_class = config.workspace.test_classes.get(class_id)
    if test_class is None:
        raise ConfigError(f"the test class {class_id!r} no longer exists")
    if reference["part"] == ClassPart.SYSTEM_PROMPT:
        write = partial(config.change_system_prompt, class_id)
        return Place(text=test_class.system_prompt, write=write)
    write = partial(config.change_template, class_id)
    return Place(text=test_class.templates["default"], write=write)
