"""Who may name a file outside of the workspace: its user in his files, no form of the dashboard."""

from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.config.gate_entries import load_gates
from poor_bench.dashboard.pages.llms.entry import LLMField, form_to_changes, form_to_entry
from poor_bench.errors import ConfigError
from poor_bench.models.llm import LLM
from poor_bench.providers.catalog import ProviderServices
from poor_bench.providers.embedded import find_own_file
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles
from tests.providers.fake_clock import FakeClock

OUTSIDE = [
    "/etc/a.gguf",
    "../a.gguf",
    "models/../../a.gguf",
    "~/a.gguf",
    "C:\\a.gguf",
    "..\\a.gguf",
]


def embedded(path: str) -> LLM:
    return LLM(
        id="embedded:a", provider="embedded", name="a", parameters={"model_path": path, "top_k": 1}
    )


def test_llms_json_may_name_a_model_outside(tmp_path: Path) -> None:
    services = ProviderServices(clock=FakeClock(), workspace=tmp_path / "data", environ={})
    assert find_own_file(embedded(f"{tmp_path}/a.gguf"), services) == tmp_path / "a.gguf"


def test_gates_yaml_may_name_a_baseline_outside(workspace_files: WorkspaceFiles) -> None:
    folder = workspace_files.write()
    outside = folder.parent / "baseline.json"
    outside.write_text("{}")
    (folder / "gates.yaml").write_text(
        "version: '1.0'\ngates: [{no_regression: true, baseline: ../baseline.json}]"
    )
    [gate] = load_gates(folder / "gates.yaml", WorkspaceFolder(folder).workspace)
    assert Path(gate.baseline).resolve() == outside.resolve()


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_form_of_the_dashboard_may_not(path: str) -> None:
    with pytest.raises(ConfigError, match="model_path"):
        form_to_entry("embedded", "a", "", None, None, f"model_path={path}")
    written = f'model_path: "{path}"'.replace("\\", "\\\\")
    with pytest.raises(ConfigError, match="model_path"):
        form_to_changes(embedded("a.gguf"), {LLMField.PARAMETERS: written})


def test_a_form_keeps_what_the_file_names_and_takes_files_of_the_workspace() -> None:
    written = "model_path: /models/a.gguf\ntop_k: 2"
    changes = form_to_changes(embedded("/models/a.gguf"), {LLMField.PARAMETERS: written})
    assert changes["parameters"]["top_k"] == 2
    assert form_to_entry("embedded", "a", "", None, None, "model_path=models/a.gguf")
