"""A machine without namespaces and Landlock: nothing runs there unless somebody accepts it."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from poor_bench.cli.main import main
from poor_bench.dashboard.pages.compare.callbacks import show_panel
from poor_bench.dashboard.pages.run import callbacks as run_page
from poor_bench.dashboard.result_panel.panel import build_panel
from poor_bench.dashboard.services.run_service import RunService
from poor_bench.dashboard.services.run_state import RunPhase
from poor_bench.errors import ConfigError, SandboxError
from poor_bench.plugins import find_project_evaluators, load_evaluators
from poor_bench.results.table import TrialKey
from poor_bench.runner.selection import Selection
from poor_bench.sandbox import (
    Level,
    Mechanism,
    Program,
    Sandbox,
    SandboxStatus,
    accept_level,
    note_levels,
    run_cases,
    trust_own_code,
)
from poor_bench.sandbox import sandbox as sandbox_module
from poor_bench.sandbox.launchers import ZygoteLauncher
from poor_bench.workspace_folder import WorkspaceFolder
from poor_bench.workspace_runner import WorkspaceRunner
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import scored, services_of, write_results
from tests.dashboard.seen_text import text_of

NO_FILES_CLOSED = (Mechanism.BARE_ROOT, Mechanism.FILE_RULES)
PROGRAM = Program(source="def f(x): return x + 1", function="f")
ANSWER = "```python\ndef f(x):\n    return x + 1\n```"


@pytest.fixture(scope="module")
def weak_sandbox() -> Iterator[Sandbox]:
    opened = Sandbox(partial(ZygoteLauncher, avoided=NO_FILES_CLOSED))
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def on_a_weak_machine(weak_sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_module, "_shared", [weak_sandbox])
    monkeypatch.setattr(sandbox_module, "_accepted", {})
    monkeypatch.setattr(sys, "stdin", io.StringIO())


@pytest.fixture
def bench(workspace_files: WorkspaceFiles) -> Path:
    """One LLM whose code is right, and one test that runs it."""
    cases = [{"input": 1, "expected_output": 2}]
    evaluation = {"name": "python_evaluator", "parameters": {"test_cases": cases}}
    workspace_files.add_tests(1, evaluation_module=evaluation)
    workspace_files.add_llm("coder", ANSWER)
    return workspace_files.write()


def read_results_of(bench: Path) -> list[tuple[float | None, str]]:
    return [(result.score, result.sandbox) for result in WorkspaceFolder(bench).store.results()]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_run_in_a_pipe_is_refused_before_anybody_is_asked(
    bench: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", str(bench), "run"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("Error: sandbox level limits only: code can read and change your files")
    assert "--sandbox limits" in told
    assert read_results_of(bench) == []


def test_option_accepts_a_level_and_warns_first(
    bench: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", str(bench), "run", "--sandbox", "limits", "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err.startswith("Warning: sandbox level limits only")
    assert json.loads(captured.out)["n_scored"] == 1
    assert read_results_of(bench) == [(1.0, "limits")]
    for form in ("table", "md", "html"):
        assert main(["--data", str(bench), "report", "--format", form]) == 0
        assert "1 score of code that ran at sandbox level limits only." in capsys.readouterr().out
    assert main(["--data", str(bench), "results", "sum_001"]) == 0
    assert "limits" in capsys.readouterr().out


def test_workspace_accepts_a_level_and_is_still_warned(
    bench: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (bench / "config.yaml").write_text("sandbox: limits\n")
    assert main(["--data", str(bench), "run"]) == 0
    assert capsys.readouterr().err.startswith("Warning: sandbox level limits only")


@pytest.mark.parametrize("level", ["isolated", "full"])
def test_chosen_level_that_cannot_be_had_is_refused(bench: Path, level: str) -> None:
    (bench / "config.yaml").write_text(f"sandbox: {level}\n")
    assert main(["--data", str(bench), "run"]) == 2
    (bench / "config.yaml").unlink()
    assert main(["--data", str(bench), "run", "--sandbox", level]) == 2
    assert main(["--data", str(bench), "run", "--sandbox", "nonsense"]) == 2
    assert read_results_of(bench) == []


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 2), ("\n", 2), ("", 2)])
def test_terminal_is_asked(
    bench: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: int
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert main(["--data", str(bench), "run"]) in {code, 130 if not answer else code}
    assert len(read_results_of(bench)) == (code == 0)


def test_tests_without_code_run_without_a_word(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("a", "4")
    assert main(["--data", str(workspace_files.write()), "run"]) == 0
    assert "sandbox" not in capsys.readouterr().err
    assert read_results_of(workspace_files.folder) == [(1.0, "")]


def test_rescore_and_tune_are_refused_as_well(bench: Path) -> None:
    assert main(["--data", str(bench), "run", "--sandbox", "limits"]) == 0
    accept_level(None)
    assert main(["--data", str(bench), "rescore"]) == 2
    assert main(["--data", str(bench), "rescore", "--sandbox", "limits"]) == 0
    accept_level(None)
    tune = ["tune", "params", "all", "--llm", "scripted:coder", "--param", "temperature=0,1"]
    assert main(["--data", str(bench), *tune]) == 2
    assert main(["--data", str(bench), "tune", "prompt", "sums", "--llm", "scripted:coder"]) == 2


def test_doctor_says_not_ok_and_the_way_out(
    bench: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", str(bench), "doctor", "--json"]) == 2
    found = {item["name"]: item for item in reversed(json.loads(capsys.readouterr().out))}
    assert found["sandbox"]["state"] == "problem"
    assert "container" in found["sandbox"]["message"]
    assert "--sandbox limits" in found["sandbox"]["message"]


def test_dashboard_refuses_with_the_way_out_until_the_workspace_accepts(bench: Path) -> None:
    def state() -> tuple[RunPhase, str]:
        folder = WorkspaceFolder(bench)
        service = RunService(lambda: WorkspaceRunner(folder), lambda: folder.store)
        service.start(Selection())
        service.wait(60)
        return service.state().phase, service.state().message

    phase, problem = state()
    assert phase is RunPhase.BROKEN
    assert "config.yaml" in problem
    (bench / "config.yaml").write_text("sandbox: limits\n")
    assert state()[0] is RunPhase.FINISHED


def test_library_refuses_before_anybody_is_asked(bench: Path) -> None:
    runner = WorkspaceRunner(WorkspaceFolder(bench))
    with pytest.raises(ConfigError, match="level isolated is required"):
        runner.run(runner.plan())
    assert read_results_of(bench) == []


def test_evaluators_cannot_run_programs_unless_accepted() -> None:
    with pytest.raises(SandboxError, match="not run"):
        run_cases(PROGRAM, [1])
    accept_level(Level.LIMITS)
    with note_levels() as levels:
        assert run_cases(PROGRAM, [1]).cases[0].value == 2
    assert levels == [Level.LIMITS]


def test_code_of_the_author_runs_at_any_level() -> None:
    with trust_own_code():
        assert run_cases(PROGRAM, [1]).cases[0].value == 2
    with pytest.raises(SandboxError):
        run_cases(PROGRAM, [1])


@pytest.mark.parametrize(
    ("name", "parameters", "runs_code"),
    [
        ("python_evaluator", {}, True),
        ("exact_match", {"expected": "4"}, False),
        ("all_of", {"evaluators": [{"name": "python_evaluator"}]}, True),
        ("all_of", {"evaluators": [{"name": "exact_match"}]}, False),
    ],
)
def test_evaluators_that_run_code_are_known(
    name: str, parameters: dict[str, object], runs_code: bool
) -> None:
    evaluator = load_evaluators([find_project_evaluators()]).get(name)
    assert evaluator.runs_code(parameters) is runs_code


def seen_on_run_page(bench: Path) -> str:
    return text_of(run_page.sandbox(services_of(bench)))


def test_run_page_says_that_code_is_not_run_and_the_way_out(bench: Path) -> None:
    seen = seen_on_run_page(bench)
    assert "Model code is not run" in seen
    assert "level isolated is required" in seen
    assert "container" in seen
    assert "sandbox: limits" in seen


def test_run_page_warns_as_long_as_a_weak_level_is_accepted(bench: Path) -> None:
    (bench / "config.yaml").write_text("sandbox: limits\n")
    seen = seen_on_run_page(bench)
    assert "Model code is not isolated" in seen
    assert "code can read and change your files" in seen


def test_run_page_is_silent_where_no_test_runs_code(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("a", "4")
    assert run_page.sandbox(services_of(workspace_files.write())) is None


def test_run_page_is_silent_where_code_is_isolated(
    bench: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    isolated = SandboxStatus(Level.ISOLATED, {Mechanism.BARE_ROOT: "not here"})
    monkeypatch.setattr(sandbox_module, "find_sandbox_status", lambda: isolated)
    assert run_page.sandbox(services_of(bench)) is None


@pytest.mark.parametrize(
    ("level", "is_told"), [("limits", True), ("process", True), ("isolated", False), ("", False)]
)
def test_panels_tell_the_level_of_a_result_where_it_is_weak(
    workspace_files: WorkspaceFiles, level: str, is_told: bool
) -> None:
    workspace_files.add_tests(1)
    folder = workspace_files.write()
    write_results(folder, {"a:b": [scored("sum_001", 1.0, sandbox=level)]})
    services = services_of(folder)
    compared = show_panel(services, "?test=sum_001")[0]
    panel = services.panel.read("a:b", TrialKey("sum_001", 1, is_failure=False))
    assert panel is not None
    for shown in (compared, build_panel(panel)):
        assert (f"sandbox: {level}" in text_of(shown)) is is_told
