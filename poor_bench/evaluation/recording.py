"""Turn a successful trial of an agent into a playbook, which needs no model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from poor_bench.command_line import next_command
from poor_bench.config.nearest_name import name_hint
from poor_bench.errors import ConfigError
from poor_bench.evaluation.browser.recording.record import record_playbook
from poor_bench.evaluation.models import EvalCase, EvalSuite, EvalTrialResult
from poor_bench.evaluation.playbook_files import SUFFIX
from poor_bench.evaluation.report import write_file
from poor_bench.evaluation.stored_run import SuiteRun, find_suite_run, stored_suite_runs

_BY_AGENT = frozenset({"agent", "handoff"})


@dataclass(frozen=True, slots=True)
class Recordable:
    """A trial that an agent passed, with its case."""

    run: SuiteRun
    case: EvalCase
    trial: EvalTrialResult


def find_recordable(data_dir: Path, case_id: str, run_reference: str | None) -> Recordable:
    """Find the newest trial of a case that an LLM agent passed.

    Args:
        data_dir: Folder of the workspace.
        case_id: The case.
        run_reference: The run to look in; None looks in all, the newest first.

    Raises:
        ConfigError: If there is none.
    """
    runs = (
        [find_suite_run(data_dir, run_reference)]
        if run_reference
        else stored_suite_runs(data_dir)[::-1]
    )
    known: set[str] = set()
    for run in runs:
        for case in run.report().case_results:
            known.add(case.id)
            passed = [trial for trial in case.trial_results if trial.passed]
            by_agent = [trial for trial in passed if trial.mode in _BY_AGENT]
            if case.id == case_id and by_agent:
                definition = next(each for each in run.cases if each.id == case_id)
                return Recordable(run, definition, by_agent[-1])
    if case_id not in known:
        raise ConfigError(f"no stored run has a case `{case_id}`", hint=name_hint(case_id, known))
    hint = next_command("suite run FILE --case ID --llm ID")
    raise ConfigError(f"no agent has passed the case `{case_id}` yet", hint=hint)


def write_playbook(found: Recordable, path: Path, *, overwrite: bool) -> None:
    """Write the playbook of a trial.

    Raises:
        ConfigError: If a step cannot be recorded, or the file is there already or not writable.
    """
    if path.exists() and not overwrite:
        raise ConfigError(f"{path} already exists", hint="use --force to replace it")
    params = dict(found.case.playbook_params)
    if found.trial.server:
        params["server"] = found.trial.server
    text = record_playbook(
        found.run.steps(found.trial),
        name=path.stem,
        description=found.case.directive,
        params=params,
    )
    write_file(path, text)


def playbook_path(data_dir: Path, name: str) -> Path:
    """Path of a playbook in a workspace."""
    return data_dir / "playbooks" / f"{name}{SUFFIX}"


def replay_suite(found: Recordable, playbook: Path) -> EvalSuite:
    """Make a suite that tries the case once, by the playbook alone."""
    expect = found.case.expect.model_copy(update={"handoff": "allow"})
    changes = {
        "playbook": str(playbook.resolve()),
        "execution_mode": "playbook_only",
        "trials": 1,
        "expect": expect,
    }
    return EvalSuite(
        name=f"{found.run.suite}: replay",
        server=found.run.header.get("server"),
        cases=(found.case.model_copy(update=changes),),
    )
