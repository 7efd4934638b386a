"""From a planned trial to the task of its agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poor_bench.errors import ConfigError
from poor_bench.evaluation.agent import AgentServices, AgentTask
from poor_bench.evaluation.models import SERVER, EvalCase
from poor_bench.evaluation.playbook_files import find_playbook, missing_playbook_hint
from poor_bench.models.llm import LLM, Prices


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialPlan:
    """One planned trial."""

    case: EvalCase
    trial: int
    """Counted from 1."""
    llm: LLM | None

    @property
    def prices(self) -> Prices:
        """Prices of its LLM; unknown ones where it has none."""
        return self.llm.prices if self.llm else Prices()


def build_task(
    plan: TrialPlan, services: AgentServices, server: str, folder: Path, suite_folder: Path
) -> AgentTask:
    """Make the task of a trial, with its placeholders filled.

    Args:
        plan: The trial.
        services: Source of credentials and playbooks.
        server: Address of the suite's own server; empty without one.
        folder: Folder of the trial.
        suite_folder: Folder of the suite file.

    Raises:
        ConfigError: If a credential is not set, or the playbook does not exist.
    """
    case = plan.case
    credentials = case.credentials or {}
    missing = [name for name in credentials if not services.environ.get(name)]
    if missing:
        names = ", ".join(f"${name}" for name in missing)
        raise ConfigError(f"case {case.id} needs {names}: not set in the environment")
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
        credentials={name: origin.replace(SERVER, server) for name, origin in credentials.items()},
        allow_private_networks=case.allow_private_networks,
        llm=plan.llm,
        folder=folder,
    )


def _playbook(case: EvalCase, data_dir: Path, suite_folder: Path) -> Path | None:
    if case.playbook is None or case.execution_mode == "agent_only":
        return None
    path = find_playbook(case.playbook, data_dir, suite_folder)
    if path is None:
        hint = missing_playbook_hint(case.playbook, data_dir)
        raise ConfigError(f"case {case.id}: playbook `{case.playbook}` does not exist", hint=hint)
    return path


def _params(written: Mapping[str, Any], server: str) -> dict[str, Any]:
    filled = {
        name: value.replace(SERVER, server) if isinstance(value, str) else value
        for name, value in written.items()
    }
    return {"server": server, **filled} if server else filled
