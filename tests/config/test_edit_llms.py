from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.config.edit_entries import LLMAction, LLMEdit
from poor_bench.config.edit_json import write_entries
from poor_bench.errors import ConfigError
from poor_bench.workspace_folder import WorkspaceFolder

WRITTEN = """{
  "_comment": "ours",
  "llms": [
    {"provider": "scripted", "name": "a",   "_why": "odd spacing stays"},
    {
      "provider": "scripted",
      "name": "b", "label": "Bee"
    },
    {"provider": "scripted", "name": "c"}
  ]
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "llms.json").write_text(WRITTEN)
    (tmp_path / "tests.json").write_text('{"version": "1.0", "tests": []}')
    (tmp_path / "test_classes.yaml").write_text("version: '1.0'\ntest_classes: []\n")
    return tmp_path


def arranged(folder: Path, action: LLMAction, llm_id: str) -> list[str]:
    workspace = WorkspaceFolder(folder)
    workspace.edit_llms(LLMEdit(llm_id=llm_id, action=action))
    return [llm.id for llm in workspace.workspace.llms]


def test_models_move_and_every_entry_stays_as_it_is_written(folder: Path) -> None:
    assert arranged(folder, LLMAction.MOVE_UP, "scripted:b") == [
        "scripted:b", "scripted:a", "scripted:c",
    ]  # fmt: skip
    assert arranged(folder, LLMAction.MOVE_DOWN, "scripted:b")[1] == "scripted:b"
    assert (folder / "llms.json").read_text() == WRITTEN


def test_the_first_and_the_last_model_stay_where_they_are(folder: Path) -> None:
    ids = ["scripted:a", "scripted:b", "scripted:c"]
    assert arranged(folder, LLMAction.MOVE_UP, "scripted:a") == ids
    assert arranged(folder, LLMAction.MOVE_DOWN, "scripted:c") == ids


def test_a_copy_is_disabled_and_has_an_id_of_its_own(folder: Path) -> None:
    for copies in (["scripted:b:copy1"], ["scripted:b:copy2", "scripted:b:copy1"]):
        ids = arranged(folder, LLMAction.DUPLICATE, "scripted:b")
        assert ids == ["scripted:a", "scripted:b", *copies, "scripted:c"]
    copy = WorkspaceFolder(folder).workspace.llms[2]
    assert (copy.label, copy.enabled) == ("Bee (copy)", False)
    assert WRITTEN.splitlines()[4] in (folder / "llms.json").read_text()


def test_a_deleted_model_takes_no_comment_of_others_with_it(folder: Path) -> None:
    assert arranged(folder, LLMAction.DELETE, "scripted:b") == ["scripted:a", "scripted:c"]
    assert "odd spacing stays" in (folder / "llms.json").read_text()
    assert json.loads((folder / "llms.json").read_text())["_comment"] == "ours"
    with pytest.raises(ConfigError, match="no longer has"):
        arranged(folder, LLMAction.DELETE, "scripted:b")


def test_the_twin_of_a_deleted_model_keeps_its_id_and_with_it_its_results(folder: Path) -> None:
    twins = [
        {"provider": "scripted", "name": "x", "parameters": {"think": think}}
        for think in (True, False)
    ]
    (folder / "llms.json").write_text(json.dumps({"llms": twins}))
    first, second = (llm.id for llm in WorkspaceFolder(folder).workspace.llms)
    assert first != second
    assert arranged(folder, LLMAction.DELETE, first) == [second]


@given(st.permutations(range(3)))
def test_any_order_reads_as_it_was_given_and_keeps_each_text(order: list[int]) -> None:
    entries = json.loads(WRITTEN)["llms"]
    wanted = [entries[number] for number in order]
    text = write_entries(WRITTEN, "llms", wanted)
    assert text is not None
    assert json.loads(text)["llms"] == wanted
    assert "odd spacing stays" in text
    assert '"name": "a",   "_why"' in text
