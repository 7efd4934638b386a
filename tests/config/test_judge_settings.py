from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.config.judge_settings import JudgeSettings, load_judge_settings
from poor_bench.errors import ConfigError


def load(folder: Path, text: str) -> JudgeSettings:
    (folder / "config.yaml").write_text(text)
    return load_judge_settings(folder)


def test_without_a_file_nothing_is_set(tmp_path: Path) -> None:
    assert load_judge_settings(tmp_path) == JudgeSettings()


def test_the_section_is_read(tmp_path: Path) -> None:
    settings = load(
        tmp_path, "version: '1.0'\njudge:\n  model: ollama:qwen3:8b\n  temperature: 0\n"
    )
    assert (settings.model, settings.temperature, settings.max_tokens) == (
        "ollama:qwen3:8b",
        0,
        None,
    )


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("judge:\n  model: a\n  temperature: hot\n", 3, "must be a number"),
        ("judge:\n  max_tokens: 0\n", 2, "at least 1"),
        ("judge:\n  threshold: 11\n", 2, "at most 10"),
        ("- judge\n", None, "must be a mapping"),
        ("judge: [\n", None, "not YAML"),
    ],
)
def test_mistakes_are_told_with_their_place(
    tmp_path: Path, text: str, line: int | None, message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    (problem,) = caught.value.problems
    assert message in problem.message
    assert line is None or problem.line == line


def test_a_misspelt_key_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, "judge:\n  modell: a\n")
    assert "model" in caught.value.problems[0].hint
