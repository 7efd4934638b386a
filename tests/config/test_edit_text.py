from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.config.edit_yaml import change_agent_prompt
from poor_bench.config.yaml_document import parse_yaml

DOCUMENTS = [
    "a: 1\nsystem_prompt: old # why\nb: 2\n",
    "a: 1\nsystem_prompt: |-\n  old\n  text\n# a comment\nb: 2\n",
    "a: 1\nsystem_prompt: >\n  old\n  text\n\nb: 2\n",
    "a: 1\nb: 2\nsystem_prompt: 'old'",
    "{a: 1, system_prompt: old, b: 2}\n",
    "a: 1\nb: 2\nsystem_prompt: |\n  old\n",
    "system_prompt: old\na: 1\nb: 2\n",
]


def changed(document: str, new: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agents" / "one.yaml"
        path.parent.mkdir()
        path.write_text(document)
        change_agent_prompt(Path(folder), "one", new)
        return path.read_text()


@pytest.mark.parametrize("document", DOCUMENTS)
@given(new=st.text(alphabet="ab #:{}\"'|->\n\t\\ä", max_size=40))
def test_the_new_text_stands_there_and_nothing_else_changed(document: str, new: str) -> None:
    written = changed(document, new)
    assert yaml.safe_load(written) == {"a": 1, "system_prompt": new, "b": 2}
    assert written.count("#") - new.count("#") == document.count("#")


@given(new=st.text(max_size=40))
def test_any_text_can_be_written(new: str) -> None:
    assert parse_yaml(changed(DOCUMENTS[0], new)).data["system_prompt"] == new


def test_lines_stay_lines() -> None:
    written = changed(
        "a: 1\nsystem_prompt: |-\n  old\n  text\n# a comment\nb: 2\n", "new\n\n  text"
    )
    assert written == "a: 1\nsystem_prompt: |-\n  new\n\n    text\n# a comment\nb: 2\n"


def test_windows_line_ends_stay() -> None:
    written = changed("a: 1  # why\r\nsystem_prompt: old\r\nb: 2\r\n", "new")
    assert yaml.safe_load(written) == {"a": 1, "system_prompt": "new", "b": 2}
