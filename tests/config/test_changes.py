from __future__ import annotations

import json
from pathlib import Path

import pytest

from poor_bench.config.edit_entries import LLMEdit, TestEdit
from poor_bench.errors import ConfigError
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles

CLASSES = """\
version: "1.0"   # the format
test_classes:
  # sums of all kinds
  - id: sums
    description: Sums   # short ones
    work_prompt_template:
      default: |
        Solve:
        {problem}
      overrides: {"x:y": "Do {problem}"}
    evaluation_module: {name: has_expected, parameters: {}}
"""


@pytest.fixture
def config(workspace_files: WorkspaceFiles) -> WorkspaceFolder:
    workspace_files.add_tests(2)
    workspace_files.add_llm("a", ["4"], _comment="keep me")
    folder = workspace_files.write()
    (folder / "test_classes.yaml").write_text(CLASSES)
    return WorkspaceFolder(folder)


def change_test(config: WorkspaceFolder, test_id: str, changes: dict[str, object]) -> None:
    config.edit_tests(TestEdit(test_ids=frozenset([test_id]), changes=changes))


def file(config: WorkspaceFolder, name: str) -> Path:
    return config.data_dir / name


def test_a_test_is_changed_and_the_others_stay(config: WorkspaceFolder) -> None:
    before = json.loads(file(config, "tests.json").read_text())["tests"]
    change_test(config, "sum_002", {"text": "2 + 3", "level": 4, "reference_response": "5"})
    after = json.loads(file(config, "tests.json").read_text())["tests"]
    assert after[0] == before[0]
    assert after[1] == before[1] | {"text": "2 + 3", "level": 4, "reference_response": "5"}
    assert config.workspace.tests_by_id["sum_002"].text == "2 + 3"


def test_none_takes_a_key_away(config: WorkspaceFolder) -> None:
    change_test(config, "sum_001", {"reference_response": "4"})
    change_test(config, "sum_001", {"reference_response": None})
    assert config.workspace.tests_by_id["sum_001"].reference_response is None


@pytest.mark.parametrize("changes", [{"level": "hard"}, {"text": None}, {"class_id": "gone"}])
def test_what_would_not_be_valid_is_not_written(
    config: WorkspaceFolder, changes: dict[str, object]
) -> None:
    before = file(config, "tests.json").read_bytes()
    with pytest.raises(ConfigError, match=r"tests\.json"):
        change_test(config, "sum_001", changes)
    assert file(config, "tests.json").read_bytes() == before


def test_a_test_that_is_gone_cannot_be_changed(config: WorkspaceFolder) -> None:
    with pytest.raises(ConfigError, match="no longer"):
        change_test(config, "gone", {"level": 1})


def test_an_llm_is_switched_off_and_on_and_keeps_its_comment(config: WorkspaceFolder) -> None:
    before = json.loads(file(config, "llms.json").read_text())
    config.edit_llms(LLMEdit(llm_id="scripted:a", changes={"enabled": False}))
    assert config.workspace.enabled_llms == ()
    config.edit_llms(LLMEdit(llm_id="scripted:a", changes={"enabled": None}))
    assert json.loads(file(config, "llms.json").read_text()) == before
    assert before["llms"][0]["_comment"] == "keep me"


def test_an_llm_that_is_gone_cannot_be_changed(config: WorkspaceFolder) -> None:
    with pytest.raises(ConfigError, match="gone"):
        config.edit_llms(LLMEdit(llm_id="gone", changes={"enabled": False}))


@pytest.mark.parametrize(
    "template", ['Sum "up": {problem}', "ä\n  # no comment\n{problem}\n", "{problem}"]
)
def test_a_template_is_changed_and_every_other_byte_stays(
    config: WorkspaceFolder, template: str
) -> None:
    config.change_template("sums", template)
    assert config.workspace.test_classes["sums"].templates["default"] == template
    text = file(config, "test_classes.yaml").read_text()
    start, end = CLASSES.index("|\n"), CLASSES.index("      overrides")
    assert text.startswith(CLASSES[:start])
    assert text.endswith(CLASSES[end:])


def test_a_template_of_no_class_is_refused(config: WorkspaceFolder) -> None:
    with pytest.raises(ConfigError, match="gone"):
        config.change_template("gone", "{problem}")
