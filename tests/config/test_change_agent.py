from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.config.edit_yaml import change_agent_prompt
from poor_bench.errors import ConfigError

AGENT = """\
# sells bicycles
id: bikes
llm: scripted:seller   # the small one
system_prompt: |
  You sell bicycles.
  Be kind.
cases: []
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "other.yaml").write_text("system_prompt: Other\n")
    (tmp_path / "agents" / "shop.yaml").write_text(AGENT)
    return tmp_path


def test_the_prompt_is_changed_and_every_other_byte_stays(folder: Path) -> None:
    change_agent_prompt(folder, "bikes", "Sell.\nBe brief.\n")
    changed = AGENT.replace("You sell bicycles.\n  Be kind.", "Sell.\n  Be brief.")
    assert (folder / "agents" / "shop.yaml").read_text() == changed
    assert (folder / "agents" / "other.yaml").read_text() == "system_prompt: Other\n"


def test_an_agent_without_id_is_named_by_its_file(folder: Path) -> None:
    change_agent_prompt(folder, "other", "New")
    assert (folder / "agents" / "other.yaml").read_text() == "system_prompt: New\n"


def test_an_unknown_agent_is_refused(folder: Path) -> None:
    with pytest.raises(ConfigError, match="the agent 'cars' does not exist"):
        change_agent_prompt(folder, "cars", "New")


def test_a_file_without_prompt_is_left_alone(folder: Path) -> None:
    (folder / "agents" / "empty.yaml").write_text("id: empty\n")
    with pytest.raises(ConfigError, match="has a system_prompt that cannot be changed"):
        change_agent_prompt(folder, "empty", "New")
