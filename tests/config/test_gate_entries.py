from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.config.gate_entries import load_gates
from poor_bench.errors import ConfigError
from poor_bench.gates.gate import Gate
from tests.config.workspace_files import load


def gates_of(folder: Path, text: str) -> tuple[Gate, ...]:
    workspace = load(folder)
    path = folder / "gates.yaml"
    path.write_text(text)
    return load_gates(path, workspace)


def test_each_limit_becomes_a_gate(tmp_path: Path) -> None:
    text = """\
version: "1.0"
gates:
  - {class_id: su*, llm_id: "scripted:*", min_score: 0.8, max_p95_ms: 2000}
  - {no_regression: true, baseline: last}
  - {max_cost_usd: 0, up_to_date: true}
"""
    found = [
        (gate.kind.value, gate.limit, gate.llm_pattern, gate.class_pattern, gate.baseline)
        for gate in gates_of(tmp_path, text)
    ]
    assert found == [
        ("min_score", 0.8, "scripted:*", "su*", ""),
        ("max_p95_ms", 2000.0, "scripted:*", "su*", ""),
        ("no_regression", 0.05, "*", None, "last"),
        ("max_cost_usd", 0.0, "*", None, ""),
        ("up_to_date", 1.0, "*", None, ""),
    ]


def test_baseline_beside_the_file_is_found(tmp_path: Path) -> None:
    (tmp_path / "base.json").write_text("{}")
    [gate] = gates_of(tmp_path, "gates: [{no_regression: true, baseline: base.json}]")
    assert gate.baseline == str(tmp_path / "base.json")


def test_all_problems_are_told_at_once_with_the_nearest_names(tmp_path: Path) -> None:
    text = """\
gates:
  - {class_id: sum, min_score: 1.5}
  - {llm_id: "scripted:demmo", min_scor: 0.5}
  - {class_id: sums}
  - {llm_id: "scripted:demmo", max_p95_ms: 100}
"""
    with pytest.raises(ConfigError) as caught:
        gates_of(tmp_path, text)
    told = [str(problem) for problem in caught.value.problems]
    assert len(told) == 5
    assert "gates[0].min_score: must be at most 1" in told[0]
    assert "did you mean `min_score`" in told[1]
    assert "nearest: `scripted:demo`" in told[2]
    assert "gates[2]: this gate has no limit" in told[3]
    assert "gates[3].llm_id" in told[4]
    assert all(f"{tmp_path}/gates.yaml:" in line for line in told)


def test_missing_file_is_named(tmp_path: Path) -> None:
    workspace = load(tmp_path)
    with pytest.raises(ConfigError, match=r"gates\.yaml"):
        load_gates(tmp_path / "gates.yaml", workspace)
