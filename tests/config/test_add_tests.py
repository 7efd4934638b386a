from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from poor_bench.config.edit_entries import add_tests
from poor_bench.config.load import load_workspace
from poor_bench.errors import ConfigError
from tests.config.workspace_files import SUM, TEST_CLASSES, write_workspace

CLASS: dict[str, Any] = {
    "id": "words",
    "work_prompt_template": {"default": "Say {text}"},
    "evaluation_module": {"name": "exact_match"},
}


def word(test_id: str, **more: Any) -> dict[str, Any]:
    return {"test_id": test_id, "class_id": "words", "level": 1, "text": "hello", **more}


def test_tests_and_their_new_class_are_added(tmp_path: Path) -> None:
    write_workspace(tmp_path, test_classes=f"{TEST_CLASSES}# mine\n")
    outcome = add_tests(tmp_path, CLASS, [word("w1"), word("w2")])
    assert (outcome.added, outcome.known, outcome.class_is_new) == (("w1", "w2"), (), True)
    workspace = load_workspace(tmp_path)
    assert list(workspace.tests_by_id) == ["sum_1", "w1", "w2"]
    assert list(workspace.test_classes) == ["sums", "words"]
    assert "# mine" in (tmp_path / "test_classes.yaml").read_text(encoding="utf-8")


def test_what_is_there_already_stays_as_it_is(tmp_path: Path) -> None:
    write_workspace(tmp_path)
    add_tests(tmp_path, CLASS, [word("w1")])
    changed = {**CLASS, "description": "another"}
    outcome = add_tests(tmp_path, changed, [word("w1", text="changed"), word("w2")])
    assert (outcome.added, outcome.known, outcome.class_is_new) == (("w2",), ("w1",), False)
    workspace = load_workspace(tmp_path)
    assert workspace.tests_by_id["w1"].text == "hello"
    assert workspace.test_classes["words"].description == ""


@pytest.mark.parametrize(
    ("class_entry", "test"),
    [
        (CLASS, word("w1", level=0)),
        ({**CLASS, "work_prompt_template": {}}, word("w1")),
    ],
)
def test_what_does_not_fit_leaves_the_workspace_untouched(
    tmp_path: Path, class_entry: dict[str, Any], test: dict[str, Any]
) -> None:
    write_workspace(tmp_path)
    names = ("tests.json", "test_classes.yaml")
    before = [(tmp_path / name).read_bytes() for name in names]
    with pytest.raises(ConfigError):
        add_tests(tmp_path, class_entry, [test])
    assert [(tmp_path / name).read_bytes() for name in names] == before


def test_a_broken_workspace_is_not_added_to(tmp_path: Path) -> None:
    write_workspace(tmp_path, tests=[{**SUM, "level": 0}])
    with pytest.raises(ConfigError):
        add_tests(tmp_path, CLASS, [word("w1")])
    assert len(json.loads((tmp_path / "tests.json").read_text("utf-8"))["tests"]) == 1
    assert "words" not in (tmp_path / "test_classes.yaml").read_text(encoding="utf-8")
