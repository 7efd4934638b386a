"""Turn a successful trial of an agent into a playbook, which needs no model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poor_bench.command_line import next_command
from poor_bench.config.names import name_hint
from poor_bench.errors import ConfigError
from poor_bench.evaluation.agent import Step
from poor_bench.evaluation.browser.playbook_file import SERVER, SUFFIX
from poor_bench.evaluation.models import EvalCase, EvalSuite, EvalTrialResult
from poor_bench.evaluation.reports import write_file
from poor_bench.evaluation.stored_run import SuiteRun, find_suite_run, list_suite_runs

_LEFT_AS_IT_IS = frozenset({"open", "press", "scroll", "back"})
_SHORTEST_VALUE = 2
_NAMES = frozenset({"role", "css", "frame", "key", "credential"})
"""Fields without text of the page, which therefore contain no parameter."""


def record_playbook(
    steps: Sequence[Step], *, name: str, description: str, params: Mapping[str, Any]
) -> str:
    """Write a playbook file, as YAML.

    Steps that failed are left out. Values of parameters become placeholders wherever they stand,
    so that the playbook also works with others. Data that the agent returned are extracted from
    where they stood on the last page; those that stood nowhere are not in the playbook.

    Args:
        steps: Of one successful trial, in their order.
        name: Of the playbook.
        description: What it is for, such as the directive of the case.
        params: The `playbook_params` of the trial, with `server` where it had one.

    Raises:
        ConfigError: If a step cannot be repeated without an LLM, such as one in a frame of a frame.
    """
    import yaml

    recorded = [entry for step in steps if not step.error for entry in _record_step(step)]
    if not recorded:
        raise ConfigError(
            "nothing to record: the agent reported no action that succeeded",
            hint='Steps need an `action` such as {"action": "click", ...}; see docs/suites.md',
        )
    defaults = {key: str(value) for key, value in params.items() if key != SERVER}
    playbook = {
        "version": "1.0",
        "name": name,
        "description": description,
        **({"params": defaults} if defaults else {}),
        "steps": _put_placeholders(recorded, {key: str(value) for key, value in params.items()}),
    }
    return yaml.safe_dump(playbook, sort_keys=False, allow_unicode=True, width=100)


def _record_step(step: Step) -> Iterator[dict[str, Any]]:
    action = {key: value for key, value in step.action.items() if key != "action"}
    kind = str(step.action.get("action", ""))
    if step.part == "playbook":
        yield from _list_playbook_steps(kind, action)
    elif kind == "done":
        yield from _list_done_steps(action)
    elif kind in _LEFT_AS_IT_IS:
        yield {kind: next(iter(action.values()), True)}
    elif kind == "wait":
        yield {"wait": _wait(action)}
    elif kind:
        yield {kind: _add_target(step, kind, action)}


def _list_playbook_steps(kind: str, action: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a step as it was done, with its placeholders filled."""
    if kind not in {"when", "for_each", "capture", "done"}:
        yield {kind: action["value"] if kind in _LEFT_AS_IT_IS else action}


def _list_done_steps(action: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for key, target in action.get("found", {}).items():
        yield {"extract": {"key": key, **target}}
    yield {"done": {"summary": str(action.get("summary", ""))}}


def _wait(action: dict[str, Any]) -> dict[str, Any]:
    text = action.get("text")
    if text:
        return {"text": text, "exact": False, "nth": 1}
    return {"seconds": action.get("seconds", 1.0)}


def _add_target(step: Step, kind: str, action: dict[str, Any]) -> dict[str, Any]:
    target = action.get("target")
    if target is None and "ref" in action:
        raise ConfigError(
            f"step {step.number} cannot be recorded: {step.text}",
            hint="its element cannot be found again: it was gone, or is in a frame inside a frame",
        )
    kept = {key: action[key] for key in ("key", "option", "credential") if action.get(key)}
    if kind == "type" and "credential" not in kept:
        kept["value"] = action.get("text", "")
    if action.get("submit"):
        kept["submit"] = True
    return {**(target or {}), **kept}


def _put_placeholders(value: Any, params: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for name, text in sorted(params.items(), key=lambda item: -len(item[1])):
            if len(text) >= _SHORTEST_VALUE:
                value = value.replace(text, f"{{{name}}}")
        return value
    if isinstance(value, Mapping):
        return {
            key: item if key in _NAMES else _put_placeholders(item, params)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_put_placeholders(item, params) for item in value]
    return value


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
        ConfigError: If none exists.
    """
    runs = (
        [find_suite_run(data_dir, run_reference)]
        if run_reference
        else list_suite_runs(data_dir)[::-1]
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


def name_playbook_file(data_dir: Path, name: str) -> Path:
    """Name the file of a playbook in a workspace."""
    return data_dir / "playbooks" / f"{name}{SUFFIX}"


def make_replay_suite(found: Recordable, playbook: Path) -> EvalSuite:
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
