from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import parse

import pytest

from poor_bench.cli.main import main
from poor_bench.evaluation.stored_run import find_suite_run
from poor_bench.evaluation.suite_file import read_suite
from tests.conftest import WorkspaceFiles

ROOT = Path(__file__).parents[2]
AGENTS = "tests.evaluation.agents"


def write_suite(folder: Path, *cases: dict[str, Any], **fields: Any) -> Path:
    written = [{"directive": "go", **case} for case in cases]
    for case in written:
        case["profile"] = f"{AGENTS}:{case.pop('agent', 'echo')}"
    path = folder / "suite.yaml"
    path.write_text(json.dumps({"name": "demo", "cases": written, **fields}))
    return path


def call(folder: Path, *arguments: str) -> int:
    return main(["--data", str(folder), "suite", *arguments])


@pytest.mark.parametrize(
    ("agents", "code"),
    [
        (["echo"], 0),
        (["echo", "every_other"], 1),
        (["echo", "broken"], 3),
        (["broken", "every_other"], 1),
    ],
)
def test_run_is_a_gate(tmp_path: Path, agents: list[str], code: int) -> None:
    cases = [{"id": agent, "agent": agent} for agent in agents]
    path = write_suite(tmp_path, *cases)
    assert call(tmp_path, "run", str(path), "--trials", "2", "--parallel", "2") == code


def test_run_tells_what_failed_and_writes_what_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_suite(tmp_path, {"id": "one", "expect": {"max_actions": 0}}, {"id": "two"})
    files = {"--html": "r.html", "--junit": "r.xml", "--output": "deep/r.json"}
    options = [part for key, name in files.items() for part in (key, str(tmp_path / name))]
    assert call(tmp_path, "run", str(path), *options) == 1
    told = capsys.readouterr()
    assert "one: max_actions: 1 action, at most 0 expected" in told.out
    assert "1 of 2 cases passed (0.50" in told.out
    assert "2/2  two: passed" in told.err
    assert (tmp_path / "r.html").read_text().startswith("<!DOCTYPE html>")
    assert parse(tmp_path / "r.xml").getroot().tag == "testsuites"
    assert json.loads((tmp_path / "deep" / "r.json").read_text())["failed"] == 1


def test_run_takes_a_selection_and_prints_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_suite(
        tmp_path,
        {"id": "a1", "benchmark_tags": ["smoke"]},
        {"id": "a2", "benchmark_tags": ["slow"]},
        {"id": "b1", "benchmark_tags": ["smoke"]},
    )
    assert call(tmp_path, "run", str(path), "--tag", "smoke", "--case", "a*", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert [case["id"] for case in report["case_results"]] == ["a1"]


def test_broken_suite_ends_with_2_and_all_its_problems(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_suite(tmp_path, {"id": "one", "trails": 3}, {"id": "two", "start_url": "ftp://x"})
    assert call(tmp_path, "run", str(path)) == 2
    assert call(tmp_path, "validate", str(path)) == 2
    told = capsys.readouterr()
    assert told.err.count("did you mean `trials`?") == 1
    assert told.out.count("not an http(s) URL") == 1
    assert not (tmp_path / "suite_runs").exists()


def test_validate_looks_into_playbooks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "playbooks").mkdir()
    (tmp_path / "playbooks" / "buy.yaml").write_text("name: buy\nsteps:\n  - clik: {text: Buy}\n")
    path = write_suite(tmp_path, {"id": "one", "playbook": "buy"})
    assert call(tmp_path, "validate", str(path)) == 2
    assert "buy.yaml:3" in capsys.readouterr().out


def test_shipped_suites_are_valid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(tmp_path, "validate") == 0
    assert "0 errors, 0 warnings" in capsys.readouterr().out


def test_list_names_suites_and_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call(tmp_path, "run", str(write_suite(tmp_path, {"id": "one", "agent": "broken"})))
    capsys.readouterr()
    assert call(tmp_path, "list", "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert "example" in [suite["name"] for suite in listed["suites"]]
    (run,) = listed["runs"]
    assert (run["passed"], run["not_run"], run["suite"]) == (0, 1, "demo")
    assert call(tmp_path, "list") == 0
    assert "1 not run" in capsys.readouterr().out


def test_report_shows_a_run_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call(tmp_path, "run", str(write_suite(tmp_path, {"id": "one"})), "--json")
    first = json.loads(capsys.readouterr().out)
    for reference in ("last", first["run_id"][:10], first["folder"]):
        assert call(tmp_path, "report", reference, "--json") == 0
        assert json.loads(capsys.readouterr().out) == first
    assert call(tmp_path, "report", "nothing") == 2
    assert first["run_id"] in capsys.readouterr().err


def test_report_shows_a_written_report_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = [{"id": agent, "agent": agent} for agent in ("echo", "every_other", "broken")]
    path = write_suite(tmp_path, *cases, {"id": "more", "agent": "every_other", "trials": 2})
    first, again = (str(tmp_path / name) for name in ("first.json", "again.json"))
    assert call(tmp_path, "run", str(path), "--output", first) == 1
    told = capsys.readouterr().out
    junit, page = (str(tmp_path / name) for name in ("r.xml", "r.html"))
    files = ("--output", again, "--junit", junit, "--html", page)
    assert call(tmp_path / "elsewhere", "report", first, *files) == 0
    assert capsys.readouterr().out == told
    assert Path(again).read_bytes() == Path(first).read_bytes()
    (counts,) = (suite.attrib for suite in parse(junit).getroot())
    assert (counts["tests"], counts["failures"], counts["errors"]) == ("4", "1", "1")
    assert "unlucky" in Path(page).read_text()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nonsense", "Invalid JSON"),
        ("[]", "is not the report of a suite"),
        ('{"name": "x"}', "passed: Field"),
    ],
)
def test_report_tells_what_is_wrong_with_a_written_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, problem: str
) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    assert call(tmp_path, "report", str(path)) == 2
    assert problem in capsys.readouterr().err


def test_hostile_text_cannot_command_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = "\x1b]0;owned\x07"
    path = write_suite(
        tmp_path, {"id": "one", "directive": hostile, "expect": {"summary_contains": "nothing"}}
    )
    assert call(tmp_path, "run", str(path)) == 1
    told = capsys.readouterr()
    assert "\x1b" not in told.out + told.err


def start(folder: Path, path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "main.py", "--data", str(folder), "suite", "run", str(path)]
    return subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


@pytest.mark.slow(reason="interrupts a real run")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_run_that_is_stopped_from_outside_keeps_what_is_finished(
    tmp_path: Path, number: int, code: int
) -> None:
    path = write_suite(
        tmp_path, {"id": "quick", "agent": "endless"}, {"id": "long", "agent": "endless"}
    )
    process = start(tmp_path, path)
    assert process.stderr is not None
    assert "quick: passed" in process.stderr.readline()
    process.send_signal(number)
    process.communicate(timeout=180)
    assert process.returncode == code
    stored = find_suite_run(tmp_path, "last")
    assert not stored.is_going_on
    report = stored.report()
    assert (report.passed, report.not_run, report.cancelled) == (1, 1, True)


def test_a_result_of_playbooks_does_not_read_as_one_of_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = {"provider": "scripted", "name": "w", "parameters": {"responses": "hi"}}
    (tmp_path / "llms.json").write_text(json.dumps({"llms": [entry]}))
    path = write_suite(tmp_path, {"id": "one", "agent": "by_playbook"})
    files = ("--html", str(tmp_path / "r.html"), "--junit", str(tmp_path / "r.xml"))
    assert call(tmp_path, "run", str(path), "--llm", "scripted:w", *files) == 0
    told = capsys.readouterr()
    assert "No model was used: only playbooks acted." in told.out
    assert "Warning: scripted:w was not used" in told.err
    assert "model: none (playbooks only)" in (tmp_path / "r.html").read_text()
    assert 'name="llms" value="none (playbooks only)"' in (tmp_path / "r.xml").read_text()
    call(tmp_path, "run", str(write_suite(tmp_path, {"id": "one"})), "--llm", "scripted:w")
    told = capsys.readouterr()
    assert "Warning" not in told.err
    assert "No model" not in told.out


def test_a_price_that_is_unknown_is_not_zero(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_suite(tmp_path, {"id": "one", "agent": "spending"})
    assert call(tmp_path, "run", str(path), "--html", str(tmp_path / "r.html")) == 0
    told = capsys.readouterr().out
    assert "n/a" in told
    assert "$0.0000" not in told + (tmp_path / "r.html").read_text()


def test_profiles_are_found_in_the_folder_where_the_command_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agent_of_the_start_folder.py").write_text(
        "from tests.evaluation.agents import echo as make\n"
    )
    case = {"id": "one", "directive": "go", "profile": "agent_of_the_start_folder:make"}
    path = tmp_path / "suite.yaml"
    path.write_text(json.dumps({"name": "demo", "cases": [case]}))
    monkeypatch.setattr(sys, "path", [str(ROOT), *(each for each in sys.path if each)])
    monkeypatch.chdir(tmp_path)
    assert call(tmp_path, "validate", str(path)) == 0
    assert call(tmp_path, "run", str(path)) == 0


@pytest.mark.parametrize("command", [["suite", "validate"], ["validate"]])
def test_validate_warns_of_what_cannot_be_imported_and_names_missing_playbooks(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    folder = workspace_files.write()
    (folder / "suites").mkdir()
    (folder / "suites" / "mine.yaml").write_text(
        "name: mine\nserver: no_such_module:app\ncases:\n"
        "- {id: a, directive: go, profile: 'tests.evaluation.agents:echo'}\n"
        "- {id: b, directive: go, profile: 'tests.evaluation.agents:no_such'}\n"
        "- {id: c, directive: go, playbook: nowhere}\n"
    )
    assert main(["--data", str(folder), *command]) == 2
    told = capsys.readouterr().out
    assert "mine.yaml:2 server\n  cannot import `no_such_module`" in told
    assert "mine.yaml:5 cases[1].profile" in told
    assert "does not have a function `no_such`" in told
    assert "mine.yaml:6 cases[2].playbook" in told
    assert "cases[0]" not in told


def test_miniwob_becomes_a_valid_suite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tasks = ("--task", "click-button", "--task", "book-flight")
    assert call(tmp_path, "import", "miniwob", *tasks, "--seeds", "2") == 0
    path = tmp_path / "suites" / "miniwob.yaml"
    assert call(tmp_path, "validate", "miniwob") == 0
    assert [case.id for case in read_suite(path, tmp_path).cases] == [
        "click-button.1",
        "click-button.2",
        "book-flight.1",
        "book-flight.2",
    ]
    assert call(tmp_path, "import", "miniwob") == 2
    assert "--force" in capsys.readouterr().err
    assert call(tmp_path, "import", "miniwob", "--task", "click-buton", "--force") == 2
    assert "click-button" in capsys.readouterr().err


def test_record_needs_a_trial_that_an_agent_passed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(tmp_path, "record", "one") == 2
    call(tmp_path, "run", str(write_suite(tmp_path, {"id": "one", "agent": "broken"})))
    capsys.readouterr()
    assert call(tmp_path, "record", "one") == 2
    assert "no agent has passed the case `one` yet" in capsys.readouterr().err
    assert call(tmp_path, "record", "won") == 2
    assert "no stored run has a case `won`" in capsys.readouterr().err


def test_a_suite_that_is_not_valid_is_listed_as_such(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "mine.yaml").write_text("name: mine\ncases: [5]\n")
    assert call(tmp_path, "list") == 0
    told = capsys.readouterr().out
    assert "not valid" in next(line for line in told.splitlines() if " mine " in line)
    assert "See why: python main.py" in told
    call(tmp_path, "list", "--json")
    suites = json.loads(capsys.readouterr().out)["suites"]
    assert next(row["cases"] for row in suites if row["name"] == "mine") is None


@pytest.mark.parametrize("option", ["--trials=2", "--case=one", "--tag=smoke"])
def test_a_resumed_run_keeps_its_own_cases(
    tmp_path: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_suite(tmp_path, {"id": "one"})
    assert call(tmp_path, "run", str(path)) == 0
    assert call(tmp_path, "run", str(path), "--resume", "last", option) == 2
    name = option.partition("=")[0]
    assert f"{name} cannot be combined with --resume" in capsys.readouterr().err


def test_tokens_that_an_agent_does_not_report_are_unknown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_suite(tmp_path, {"id": "one", "agent": "echo"})
    page = tmp_path / "r.html"
    assert call(tmp_path, "run", str(path), "--html", str(page)) == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if " one " in line)
    assert row.split()[-2:] == ["n/a", "n/a"]
    assert '<td class="number">n/a</td>' in page.read_text()
