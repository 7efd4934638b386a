from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.cli.init import create_workspace
from poor_bench.config.load import load_workspace
from poor_bench.errors import ConfigError
from poor_bench.models.test import merge_specs
from poor_bench.workspace_folder import WorkspaceFolder


def test_a_new_workspace_loads_without_a_single_warning(tmp_path: Path) -> None:
    create_workspace(tmp_path / "deep" / "new")
    workspace = load_workspace(tmp_path / "deep" / "new")
    assert workspace.problems == ()
    assert WorkspaceFolder(tmp_path / "deep" / "new").lint() == []
    assert [llm.id for llm in workspace.enabled_llms] == ["embedded:smollm2-135m"]


def test_the_evaluators_know_the_examples(tmp_path: Path) -> None:
    create_workspace(tmp_path)
    config = WorkspaceFolder(tmp_path)
    for test in config.load_tests():
        spec = merge_specs(config.workspace.test_classes[test.class_id].evaluator, test.evaluator)
        evaluator = config.evaluators.get(spec.name)
        assert test.reference_response is not None
        assert evaluator.evaluate(test.reference_response, spec.parameters).score == 1.0
        assert evaluator.evaluate("", spec.parameters).score == 0.0


@pytest.mark.parametrize("present", ["tests.json", "evaluators/README.md"])
def test_nothing_is_overwritten(tmp_path: Path, present: str) -> None:
    path = tmp_path / present
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigError, match=present):
        create_workspace(tmp_path)
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == [path]
    assert path.read_text(encoding="utf-8") == "mine"


def test_other_files_do_not_stand_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    assert tmp_path / "tests.json" in create_workspace(tmp_path)


def test_a_file_in_the_way_leaves_nothing_half_done(tmp_path: Path) -> None:
    (tmp_path / "schemas").write_text("a file", encoding="utf-8")
    with pytest.raises(ConfigError, match="cannot be written"):
        create_workspace(tmp_path)
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == ["schemas"]
