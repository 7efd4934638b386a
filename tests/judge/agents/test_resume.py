from __future__ import annotations

import json
from pathlib import Path

import pytest

from poor_bench.cli.main import main
from poor_bench.errors import ConfigError
from poor_bench.judge.agent_run import JudgeRunner
from poor_bench.judge.judged_run import AgentEvent, ConversationHeld, JudgementMade, JudgeRun
from poor_bench.judge.run_plan import JudgeRequest
from poor_bench.judge.storage import JudgementStore
from tests.judge.agent_workspace import VERDICT, write_workspace

REQUEST = JudgeRequest(agent_id="bikes", judges=("scripted:judge",), repeat=2)


def judge_once(folder: Path, request: JudgeRequest = REQUEST) -> JudgeRun:
    runner = JudgeRunner(folder)
    return runner.run(runner.plan(request))


def resume(folder: Path) -> tuple[JudgeRun, list[AgentEvent]]:
    heard: list[AgentEvent] = []
    runner = JudgeRunner(folder)
    return runner.run(runner.plan_resume("last"), heard.append), heard


def cut_to(folder: Path, n_lines: int) -> None:
    """Leave what a process that is killed after so many lines leaves."""
    [path] = (folder / "judgements").glob("*.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:n_lines]) + lines[n_lines][:20])


@pytest.mark.parametrize(("n_lines", "n_held", "n_judged"), [(1, 2, 2), (2, 1, 2), (4, 0, 1)])
def test_a_killed_run_goes_on_with_what_is_missing(
    tmp_path: Path, n_lines: int, n_held: int, n_judged: int
) -> None:
    folder = write_workspace(tmp_path)
    whole = judge_once(folder)
    cut_to(folder, n_lines)
    run, heard = resume(folder)
    assert sum(isinstance(event, ConversationHeld) for event in heard) == n_held
    assert sum(isinstance(event, JudgementMade) for event in heard) == n_judged
    assert run.is_complete
    assert run.header == whole.header
    assert JudgementStore(folder).runs() == [run]


def test_what_failed_is_tried_again_and_its_cost_counts(tmp_path: Path) -> None:
    folder = write_workspace(tmp_path, judge=[{"failure": "auth", "times": 9}])
    assert judge_once(folder).usable_judgements == ()
    (folder / "llms.json").write_text(
        (folder / "llms.json")
        .read_text()
        .replace(json.dumps([{"failure": "auth", "times": 9}]), json.dumps(json.dumps(VERDICT)))
    )
    run, heard = resume(folder)
    assert not any(isinstance(event, ConversationHeld) for event in heard)
    assert [item.is_fallback for item in run.judgements] == [False, False]
    assert len(run.replaced_costs) == 2


def test_judgements_of_a_part_are_made_again_for_the_whole(tmp_path: Path) -> None:
    folder = write_workspace(tmp_path)
    run = judge_once(folder)
    [path] = (folder / "judgements").glob("*.jsonl")
    header, first, _, *rest = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(header + first + b"".join(rest))
    again, heard = resume(folder)
    assert sum(isinstance(event, JudgementMade) for event in heard) == 2
    assert len(again.judgements) == len(run.judgements) == 2


def test_a_run_of_other_instructions_is_not_mixed_with_new_ones(tmp_path: Path) -> None:
    folder = write_workspace(tmp_path)
    judge_once(folder)
    agent = folder / "agents" / "bikes.yaml"
    agent.write_text(agent.read_text().replace("You sell bicycles.", "You sell boats."))
    with pytest.raises(ConfigError, match="instructions of bikes changed"):
        JudgeRunner(folder).plan_resume("last")


def test_an_agent_that_is_being_judged_is_not_judged_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path)
    runner = JudgeRunner(folder)
    plan = runner.plan(REQUEST)
    with runner.store.writing(plan.header("20261122T010000-aa", "")):
        command = ["--data", str(folder), "judge", "run", "bikes", "--judge", "scripted:judge"]
        assert main([*command]) == 2
        assert "20261122T010000-aa is already running" in capsys.readouterr().err
        assert main([*command, "--beside"]) == 0
    assert main([*command]) == 0


def test_console_resumes_and_plans_what_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path)
    judge_once(folder)
    cut_to(folder, 2)
    command = ["--data", str(folder), "judge", "run", "bikes", "--resume", "last"]
    assert main([*command, "--dry-run", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["conversations"], plan["judgements"]) == (1, 2)
    assert main(command) == 0
    assert len(JudgementStore(folder).runs()) == 1
