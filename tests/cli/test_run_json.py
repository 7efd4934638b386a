"""JSON output says the same of a run, and of a plan, whatever its kind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from poor_bench.cli.main import main
from tests.cli.test_suite import write_suite
from tests.conftest import WorkspaceFiles
from tests.judge.agent_workspace import AGENT, VERDICT

RUN_KEYS = ["run_id", "kind", "what", "started", "is_running", "n_done", "n_planned"]
PLAN_KEYS = ["kind", "what", "n_planned", "estimated_cost_usd"]
PRICED = {"prices": {"input": 1.0, "output": 1.0}}
REPLY = {"prompt_tokens": 500_000, "completion_tokens": 500_000}
JUDGED = ("judge", "run", "bikes", "--judge", "scripted:judge")


@pytest.fixture
def folder(workspace_files: WorkspaceFiles) -> Path:
    """A workspace for all kinds of runs, where every reply costs a dollar."""
    workspace_files.add_tests(6)
    answers: dict[str, Any] = {
        "small": "4",
        "flaky": [{"failure": "bad_request"}, {"text": "4", **REPLY}],
        "seller": {"text": "Hello! 10 euros.", **REPLY},
        "judge": {"text": json.dumps(VERDICT), **REPLY},
        "umpire": [{"text": '{"winner": 1, "reason": "warm"}', **REPLY}],
    }
    for name, responses in answers.items():
        replies = responses if isinstance(responses, str | list) else [responses]
        workspace_files.add_llm(name, replies, **PRICED)
    folder = workspace_files.write()
    (folder / "agents").mkdir()
    (folder / "agents" / "bikes.yaml").write_text(AGENT)
    return folder


def told(folder: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    main(["--data", str(folder), *arguments, "--json"])
    return json.loads(capsys.readouterr().out)


def test_every_kind_of_run_has_the_same_facts_in_json(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = write_suite(folder, {"id": "one"}, {"id": "two", "agent": "broken"})
    judged = told(folder, capsys, *JUDGED)
    told(folder, capsys, *JUDGED)
    pairwise = told(
        folder, capsys, "judge", "pairwise", "previous", "last", "--judge", "scripted:umpire"
    )
    tests = told(folder, capsys, "run", "--llm", "scripted:flaky")
    suites = told(folder, capsys, "suite", "run", str(suite))
    search = ("tune", "params", "all", "--llm", "scripted:small", "--param", "responses=5")
    runs = [run["run"] for run in (tests, judged, pairwise, suites, told(folder, capsys, *search))]
    assert [list(run) for run in runs] == [[*RUN_KEYS, "n_failed", "cost_usd"]] * len(runs)
    counts = [(run["n_done"], run["n_planned"], run["n_failed"]) for run in runs]
    assert counts[:4] == [(6, 6, 1), (3, 3, 0), (2, 2, 0), (2, 2, 1)]
    assert [run["cost_usd"] for run in runs[:3]] == [5.0, 4.0, 4.0]
    listed = {run["run_id"]: run for run in told(folder, capsys, "runs")["runs"]}
    for run in runs:
        assert listed[run["run_id"]] == {key: run[key] for key in RUN_KEYS[:5]}


def test_every_kind_of_plan_has_the_same_facts_in_json(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = write_suite(folder, {"id": "one", "trials": 2})
    told(folder, capsys, *JUDGED)
    pair = ("judge", "pairwise", "last", "last", "--judge", "scripted:umpire")
    sweep = ("tune", "params", "all", "--llm", "scripted:small", "--param", "responses=5")
    orders = (("run", "--llm", "scripted:small"), JUDGED, pair, ("suite", "run", str(suite)), sweep)
    plans = [told(folder, capsys, *order, "--dry-run")["plan"] for order in orders]
    assert [list(plan) for plan in plans] == [PLAN_KEYS] * len(plans)
    assert [plan["n_planned"] for plan in plans] == [6, 3, 2, 2, None]
    assert [plan["what"] for plan in plans[1:]][0::2] == ["bikes", "demo"]


@pytest.mark.slow(reason="starts Python")
@pytest.mark.parametrize("option", [(), ("--json",)])
def test_a_model_is_run_without_numpy(
    workspace_files: WorkspaceFiles, option: tuple[str, ...]
) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("a", ["4"])
    words = ["--data", str(workspace_files.write()), "run", *option]
    code = (
        "import sys; from poor_bench.cli.main import main;"
        f"code = main({words!r}); sys.exit(code or 'numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
