from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.errors import ConfigError
from poor_bench.judge.response_judging import RESPONSE_RUBRIC, find_rubric
from poor_bench.scoring.judging import JudgeQuestion


def test_without_anything_a_response_is_judged_by_the_default(tmp_path: Path) -> None:
    assert find_rubric(JudgeQuestion(), tmp_path) == (RESPONSE_RUBRIC, ())
    assert sum(dimension.weight for dimension in RESPONSE_RUBRIC.dimensions) == 100


def test_markdown_comes_before_criteria(tmp_path: Path) -> None:
    question = JudgeQuestion(rubric="### 1. RHYME (100%)", criteria=("short",))
    assert find_rubric(question, tmp_path)[0].names == ("rhyme",)


def test_a_rubric_may_stand_in_a_file_of_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "poems.md").write_text("### 1. RHYME (50%)")
    rubric, (warning,) = find_rubric(JudgeQuestion(rubric="poems.md"), tmp_path)
    assert rubric.names == ("rhyme",)
    assert "poems.md" in warning


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read the rubric .*poems\.md"):
        find_rubric(JudgeQuestion(rubric="poems.md"), tmp_path)


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "poems.md").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="UTF-8"):
        find_rubric(JudgeQuestion(rubric="poems.md"), tmp_path)


def test_criteria_are_dimensions_of_one_weight(tmp_path: Path) -> None:
    criteria = ("Says hello", "says HELLO!", "...", "Is short")
    rubric, _ = find_rubric(JudgeQuestion(criteria=criteria), tmp_path)
    assert rubric.names == ("says_hello", "criterion_2", "criterion_3", "is_short")
    assert {dimension.weight for dimension in rubric.dimensions} == {25.0}
    assert tuple(dimension.description for dimension in rubric.dimensions) == criteria


@pytest.mark.parametrize("written", ["../secret.md", "/etc/secret.md", "link.md"])
def test_a_file_out_of_the_workspace_is_not_read(tmp_path: Path, written: str) -> None:
    (tmp_path / "secret.md").write_text("### 1. SECRET (100%)")
    workspace = tmp_path / "bench"
    workspace.mkdir()
    (workspace / "link.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(ConfigError, match="leads out of"):
        find_rubric(JudgeQuestion(rubric=written), workspace)
