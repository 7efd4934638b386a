"""From a planned trial to the task that its agent is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poor_bench.errors import ConfigError
from poor_bench.evaluation.agent import AgentServices, AgentTask
from poor_bench.evaluation.models import SERVER, EvalCase
from poor_bench.evaluation.playbook_files import find_playbook
from poor_bench.models.llm import LLM


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialPlan:
    """One trial that is to be run."""

    case: EvalCase
    trial: int
    """Counted from 1."""
    llm: LLM | None


def build_task(
    plan: TrialPlan, services: AgentServices, server: str, folder: Path, suite_folder: Path
) -> AgentTask:
    """Return the task of a trial, its placeholders filled.

    Args:
        plan: The trial.
        services: Where credentials and playbooks are looked up.
        server: Address of the suite's own server; empty where it has none.
        folder: Of the trial.
        suite_folder: Where the suite file stands.

    Raises:
        ConfigError: If a credential is not set, or the playbook is not there.
    """
    case = plan.case
    missing = [name for name in case.credentials if not services.environ.get(name)]
    if missing:
        names = ", ".join(f"${name}" for name in missing)
        raise ConfigError(f"case {case.id} needs {names}, which the environment does not have")
    return AgentTask(
        case_id=case.id,
        trial=plan.trial,
        directive=case.directive.replace(SERVER, server),
        execution_mode=case.execution_mode,
        may_hand_off=case.expect.handoff != "forbid",
        start_url=case.start_url.replace(SERVER, server) if case.start_url else None,
        max_steps=case.max_steps,
        time_limit_s=case.time_limit_s,
        token_limit=case.token_limit,
        read_at_end=case.read_at_end,
        thinking=case.thinking,
        output_schema=case.output_schema,
        playbook=_playbook(case, services.data_dir, suite_folder),
        playbook_params=_params(case.playbook_params, server),
        credentials={
            name: origin.replace(SERVER, server) for name, origin in case.credentials.items()
        },
        allow_private_networks=case.allow_private_networks,
        llm=plan.llm,
        folder=folder,
    )


def _playbook(case: EvalCase, data_dir: Path, suite_folder: Path) -> Path | None:
    if case.playbook is None or case.execution_mode == "agent_only":
        return None
    path = find_playbook(case.playbook, data_dir, suite_folder)
    if path is None:
        raise ConfigError(f"case {case.id}: there is no playbook {case.playbook}")
    return path


def _params(written: Mapping[str, Any], server: str) -> dict[str, Any]:
    filled = {
        name: value.replace(SERVER, server) if isinstance(value, str) else value
        for name, value in written.items()
    }
    return {"server": server, **filled} if server else filled
