"""`status` beyond counting: what it leaves out, and the example that comes with the project."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from poor_bench.cli.main import main
from poor_bench.metrics.trust import write_trust
from poor_bench.statistics.summary import GroupBy
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import services_of

RECORDED = Path(__file__).resolve().parents[2] / "examples" / "recorded"


def test_nothing_in_the_recorded_example_is_stale_or_pending(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shutil.copytree(RECORDED, tmp_path / "recorded")
    assert main(["--data", str(folder), "status", "--json"]) == 0
    states = json.loads(capsys.readouterr().out)["llms"]
    hint = "`python main.py --data examples/recorded rescore`, and commit results.json"
    assert {row["done"] for row in states} == {64}, hint
    rows = services_of(folder).results.summaries(GroupBy.LLM_CLASS_LEVEL)
    assert {write_trust(row) for row in rows} == {""}, hint


def test_results_of_further_trials_are_counted_apart(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("a", "4")
    folder = workspace_files.write()
    rows = [{"test_id": "sum_001", "score": 1.0, "trial": number} for number in (1, 2, 3)]
    document = {"version": "1.0", "results": {"scripted:a": rows}, "failures": {}}
    (folder / "results.json").write_text(json.dumps(document))
    main(["--data", str(folder), "status"])
    assert "2 results of trials above 1 not counted" in capsys.readouterr().out
    main(["--data", str(folder), "status", "--trials", "3"])
    assert "not counted" not in capsys.readouterr().out
