"""Change the system prompt of an agent in agents/*.yaml; every other byte is kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from poor_bench.config.agent_entries import AGENTS_FOLDER
from poor_bench.config.atomic_write import write_atomically
from poor_bench.config.document import UnreadableError, read_text
from poor_bench.config.edit_scalar import value_at, with_text
from poor_bench.config.file_lock import locked_for_writing
from poor_bench.config.yaml_document import compose
from poor_bench.errors import ConfigError

if TYPE_CHECKING:
    import yaml


def change_agent_prompt(data_dir: Path, agent_id: str, prompt: str) -> None:
    """Write another system prompt; comments and the form of the rest survive.

    Args:
        data_dir: Folder of the workspace.
        agent_id: Which agent.
        prompt: The text.

    Raises:
        ConfigError: If there is no such agent, or its file cannot be read or written; it is
            untouched then.
    """
    for path in sorted((data_dir / AGENTS_FOLDER).glob("*.yaml")):
        with locked_for_writing(path):
            text = _read(path)
            root = _composed(path, text)
            if _id_of(root, path) == agent_id:
                write_atomically(path, _with_prompt(path, text, root, prompt))
                return
    raise ConfigError(f"the agent {agent_id!r} does not exist in {data_dir / AGENTS_FOLDER}")


def _with_prompt(path: Path, text: str, root: yaml.Node | None, prompt: str) -> str:
    import yaml

    scalar = value_at(root, ("system_prompt",))
    if not isinstance(scalar, yaml.ScalarNode):
        raise ConfigError(f"{path} has a system_prompt that cannot be changed here")
    return with_text(text, scalar, prompt)


def _id_of(root: yaml.Node | None, path: Path) -> str:
    import yaml

    found = value_at(root, ("id",))
    return str(found.value) if isinstance(found, yaml.ScalarNode) else path.stem


def _read(path: Path) -> str:
    try:
        return read_text(path)
    except UnreadableError as error:
        raise ConfigError(f"{path}: {error}") from error


def _composed(path: Path, text: str) -> yaml.Node | None:
    import yaml

    try:
        return compose(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is not YAML") from error
