"""config.yaml: settings of a workspace, for its judge and its sandbox."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from poor_bench.config.document import open_document
from poor_bench.config.entry_validation import validate_entry
from poor_bench.config.file_models import FileModel, Name
from poor_bench.config.load import CONFIG_FILE, raise_errors
from poor_bench.config.yaml_document import parse_yaml


class JudgeSettings(FileModel):
    """Default judge of the workspace."""

    model: Name | None = Field(
        None, description="LLM id of llms.json, or the name of a Claude model."
    )
    temperature: Annotated[float, Field(ge=0, le=2)] | None = Field(
        None, description="Sampling temperature of the judge; 0.3 by default."
    )
    max_tokens: Annotated[int, Field(ge=1)] | None = Field(
        None, description="Token limit of a judgement; 4000 by default."
    )
    base_url: Name | None = Field(
        None, description="Base URL for the Claude model; it receives ANTHROPIC_API_KEY."
    )
    threshold: Annotated[float, Field(ge=0, le=10)] | None = Field(
        None, description="Lowest overall score for the approval of an agent; 8.0 by default."
    )


class ConfigFile(FileModel):
    """config.yaml: settings of a workspace."""

    version: str | float = Field("1.0", description="Version of the file format.")
    judge: JudgeSettings = Field(default_factory=JudgeSettings)
    sandbox: Literal["process", "limits", "isolated", "full"] | None = Field(
        None, description="Lowest sandbox level for code from models; `isolated` by default."
    )


def load_judge_settings(data_dir: Path) -> JudgeSettings:
    """Load the section `judge` of a workspace's config.yaml; see `load_settings`."""
    return load_settings(data_dir).judge


def load_settings(data_dir: Path) -> ConfigFile:
    """Load a workspace's config.yaml; all settings are at their defaults where it does not exist.

    Raises:
        ConfigError: With every problem of the file, if one of them is an error.
    """
    path = data_dir / CONFIG_FILE
    if not path.exists():
        return ConfigFile()
    document, report = open_document(path, parse_yaml)
    settings = None
    if document is not None and isinstance(document.data, dict):
        settings = validate_entry(ConfigFile, document.data, (), report)
    elif document is not None:
        report.error((), "must be a mapping with the keys `judge` and `sandbox`", code="bad-type")
    raise_errors(report.problems)
    assert settings is not None
    return settings
