"""Load the agents of a workspace and check their rubrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from poor_bench.config.agent_entries import AGENTS_FOLDER, load_agents
from poor_bench.config.load import load_llms, raise_errors, require_workspace_folder
from poor_bench.config.nearest_name import name_hint
from poor_bench.errors import ConfigError
from poor_bench.judge.rubric import DEFAULT_RUBRIC, Rubric, parse_rubric
from poor_bench.models.agent import Agent
from poor_bench.models.llm import LLM
from poor_bench.models.problem import Problem, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRegistry:
    """The agents of a workspace and their models."""

    agents: Mapping[str, Agent]
    llms: Mapping[str, LLM]
    problems: tuple[Problem, ...]
    """Of the agents' files; errors only of those that are left out."""
    broken: Mapping[str, tuple[Problem, ...]] = field(default_factory=dict)
    """Problems of the files that are left out, by the names of the files without `.yaml`."""

    def agent(self, agent_id: str) -> Agent:
        """Look up an agent by id.

        Raises:
            ConfigError: If its file has an error, or there is none; the nearest one is named.
        """
        if agent_id not in self.agents and agent_id in self.broken:
            raise_errors(self.broken[agent_id])
        if agent_id not in self.agents:
            hint = name_hint(agent_id, list(self.agents))
            hint = hint or f"create {AGENTS_FOLDER}/{agent_id}.yaml in the workspace"
            raise ConfigError(f"the agent {agent_id!r} does not exist", hint=hint)
        return self.agents[agent_id]


def load_agent_registry(data_dir: Path) -> AgentRegistry:
    """Read the agents and the LLMs of a workspace.

    Raises:
        ConfigError: With every problem of llms.json.
    """
    require_workspace_folder(data_dir)
    llms = load_llms(data_dir)
    raise_errors(llms.report.problems)
    loaded = load_agents(data_dir, llms.items, rubric_problems)
    return AgentRegistry(
        agents=loaded.by_id, llms=llms.by_id, problems=loaded.problems, broken=loaded.broken
    )


def read_rubric(agent: Agent) -> tuple[Rubric, tuple[str, ...]]:
    """Read the rubric of an agent, with its corrections.

    Raises:
        ConfigError: If its rubric cannot be used.
    """
    if agent.skill is None or agent.skill.rubric is None:
        return DEFAULT_RUBRIC, ()
    return parse_rubric(agent.skill.rubric, name=agent.skill.name)


def rubric_problems(markdown: str) -> list[Problem]:
    """List the problems of a rubric; corrections are warnings."""
    try:
        _, corrections = parse_rubric(markdown, name="the rubric")
    except ConfigError as error:
        return list(error.problems)
    return [
        Problem(file="", place="", message=text, severity=Severity.WARNING) for text in corrections
    ]
